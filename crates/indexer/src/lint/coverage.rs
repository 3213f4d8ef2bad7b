//! Playbooks and their sections per cause, engine and language.

use std::collections::BTreeSet;
use std::path::Path;

use report::Language;
use serde::Serialize;

use super::{Findings, Options, sources};
use crate::chunk;
use crate::document::Source;
use crate::error::BuildError;
use crate::model::{Chunk, Engine, Kind, Section};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoverageRow {
    pub cause: String,
    pub engine: Engine,
    pub language: Language,
    pub playbooks: usize,
    /// Number of these playbooks with each section.
    pub sections: Vec<(Section, usize)>,
}

/// One row per cause, engine and language, in the order of the options.
///
/// # Errors
/// When the folder cannot be read or holds no document.
pub fn coverage(knowledge: &Path, options: &Options) -> Result<Vec<CoverageRow>, BuildError> {
    Ok(rows(&sources(knowledge)?, options))
}

pub(super) fn rows(sources: &[Source], options: &Options) -> Vec<CoverageRow> {
    let chunks = sources.iter().flat_map(chunk::chunks);
    let chunks = chunks.filter(|chunk| chunk.kind == Kind::Experience);
    let chunks: Vec<Chunk> = chunks.collect();
    // Only engines that the playbooks are about need them.
    let engines: BTreeSet<Engine> = chunks.iter().map(|chunk| chunk.engine).collect();
    let mut rows = Vec::new();
    for (cause, in_jobs_of) in &options.causes {
        for engine in engines.iter().filter(|engine| in_jobs_of.contains(engine)) {
            let languages = [Language::Zh, Language::En].into_iter();
            rows.extend(languages.map(|language| row(&chunks, cause, *engine, language)));
        }
    }
    rows
}

/// Every cause has a playbook in both languages for each engine that can have it.
pub(super) fn check(sources: &[Source], options: &Options, out: &mut Findings) {
    for languages in rows(sources, options).chunks(2) {
        let missing = languages.iter().filter(|row| row.playbooks == 0);
        let missing: Vec<&CoverageRow> = missing.collect();
        let Some(CoverageRow {
            cause,
            engine,
            language,
            ..
        }) = missing.first()
        else {
            continue;
        };
        let (engine, language) = (engine.as_str(), language.code());
        if missing.len() == languages.len() {
            let message = format!("no playbook about {engine} covers `{cause}`");
            out.error("experience", 1, "uncovered-cause", message);
        } else {
            let message = format!("no playbook about {engine} in `{language}` covers `{cause}`");
            out.warn("experience", 1, "uncovered-language", message);
        }
    }
}

fn row(chunks: &[Chunk], cause: &str, engine: Engine, language: Language) -> CoverageRow {
    let own = chunks
        .iter()
        .filter(|c| c.language == language && c.engine.serves(engine));
    let about = own.filter(|c| c.causes.iter().any(|named| named == cause));
    let documents = |section: Option<Section>| {
        let having = about
            .clone()
            .filter(|c| section.is_none() || c.section == section);
        let documents: BTreeSet<&str> = having.map(|c| c.document.as_str()).collect();
        documents.len()
    };
    CoverageRow {
        cause: cause.to_owned(),
        engine,
        language,
        playbooks: documents(None),
        sections: Section::ALL.map(|s| (s, documents(Some(s)))).to_vec(),
    }
}
