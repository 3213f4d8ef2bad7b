//! Playbooks and their sections per cause and language.

use std::collections::BTreeSet;
use std::path::Path;

use report::Language;
use serde::Serialize;

use super::{Options, sources};
use crate::chunk;
use crate::document::Source;
use crate::error::BuildError;
use crate::model::{Chunk, Kind, Section};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoverageRow {
    pub cause: String,
    /// Of the playbooks.
    pub language: Language,
    /// Number of playbooks.
    pub playbooks: usize,
    /// Number of these playbooks with each section.
    pub sections: Vec<(Section, usize)>,
}

/// One row per cause and language, in the order of the options.
///
/// # Errors
/// When the folder cannot be read or holds no document.
pub fn coverage(knowledge: &Path, options: &Options) -> Result<Vec<CoverageRow>, BuildError> {
    let sources: Vec<Source> = sources(knowledge)?;
    let chunks: Vec<Chunk> = sources
        .iter()
        .flat_map(chunk::chunks)
        .filter(|chunk| chunk.kind == Kind::Experience)
        .collect();
    let rows = options.causes.iter().flat_map(|cause| {
        [Language::Zh, Language::En].map(|language| row(&chunks, cause, language))
    });
    Ok(rows.collect())
}

fn row(chunks: &[Chunk], cause: &str, language: Language) -> CoverageRow {
    let about: Vec<&Chunk> = chunks
        .iter()
        .filter(|c| c.language == language && c.causes.iter().any(|named| named == cause))
        .collect();
    let documents = |section: Option<Section>| {
        let having = about
            .iter()
            .filter(|c| section.is_none() || c.section == section);
        having
            .map(|c| c.document.as_str())
            .collect::<BTreeSet<_>>()
            .len()
    };
    CoverageRow {
        cause: cause.to_owned(),
        language,
        playbooks: documents(None),
        sections: Section::ALL.map(|s| (s, documents(Some(s)))).to_vec(),
    }
}
