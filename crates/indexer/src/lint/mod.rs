//! Checks for curators: front matter, headings, links, ids, coverage of causes, judgments
//! without target, circular glossary terms. Each finding has a file and line.
//!
//! The caller knows which causes exist.

mod collections;
mod coverage;
mod fences;
mod fix;
mod front;
mod questions;
mod structure;

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

pub use coverage::{CoverageRow, coverage};
pub use fix::fix;
pub(crate) use questions::{JudgedRuns, MOST_GENERATED};

use crate::build::sources;
use crate::chunk;
use crate::document::{Document, Source, line_at};
use crate::error::BuildError;
use crate::model::{Engine, Kind};
use crate::store::files;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is not indexed as intended.
    Error,
    /// Something would improve retrieval or maintenance.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// File, relative to the knowledge folder.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    pub severity: Severity,
    /// Name of the check (`missing-section`).
    pub code: &'static str,
    pub message: String,
    /// Whether [`fix()`] can fix it.
    pub fixable: bool,
}

/// Why a script can't be parsed: line from 1 and message.
pub type ScriptError = (usize, String);

/// Parses a piece of a script.
pub type ParseScript = fn(&str) -> Result<(), ScriptError>;

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Problem types that documents may name; empty to skip the check.
    pub problem_types: Vec<String>,
    /// Parses a piece of a script (SCOPE or U-SQL) from a code fence.
    pub parse: Option<ParseScript>,
    /// Causes that playbooks may name, with the engines that can have them; empty to skip these checks.
    pub causes: Vec<(String, Vec<Engine>)>,
}

/// Checks the folder `knowledge`; findings are sorted by file and line.
///
/// # Errors
/// When the folder cannot be read or holds no document.
pub fn lint(knowledge: &Path, options: &Options) -> Result<Vec<Finding>, BuildError> {
    let sources = sources(knowledge)?;
    let mut out = Findings::default();
    let is_toml = |source: &&Source| source.path.ends_with(".toml");
    let (tables, markdown): (Vec<&Source>, Vec<&Source>) = sources.iter().partition(is_toml);
    let documents: Vec<Document<'_>> = markdown.iter().map(|s| Document::parse(s)).collect();
    let known = Known::new(&sources, &documents);
    for (source, document) in markdown.iter().zip(&documents) {
        check_encoding(knowledge, source, &mut out);
        front::check(document, options, &mut out);
        structure::check(document, &known, &mut out);
        fences::check(document, options, &mut out);
    }
    front::check_ids(&documents, &mut out);
    coverage::check(&sources, options, &mut out);
    for source in tables {
        collections::check_catalogue(source, &mut out);
    }
    questions::check(knowledge, &documents, &known, &mut out);
    collections::check_judgements(knowledge, &known, &mut out);
    out.0.sort();
    out.0.dedup();
    Ok(out.0)
}

/// Targets of links and judgments.
pub(crate) struct Known {
    pub(crate) paths: HashSet<String>,
    pub(crate) ids: HashSet<String>,
    /// Paths and ids of chunks.
    pub(crate) targets: HashSet<String>,
    /// Path and anchor of each heading.
    pub(crate) headings: HashSet<String>,
}

impl Known {
    fn new(sources: &[Source], documents: &[Document<'_>]) -> Known {
        let chunks = sources.iter().flat_map(chunk::chunks);
        let paths: HashSet<String> = sources.iter().map(|s| s.path.clone()).collect();
        Known {
            targets: chunks
                .map(|chunk| chunk.id)
                .chain(paths.iter().cloned())
                .collect(),
            paths,
            ids: documents
                .iter()
                .filter_map(|d| d.front.id.clone())
                .collect(),
            headings: documents.iter().flat_map(structure::heading_ids).collect(),
        }
    }
}

/// Encoding and line ends, which the reader tolerates.
fn check_encoding(knowledge: &Path, source: &Source, out: &mut Findings) {
    let Ok(bytes) = files::read(&knowledge.join(&source.path)) else {
        return;
    };
    if let Err(error) = std::str::from_utf8(&bytes) {
        let line = line_at(&bytes, error.valid_up_to());
        let message = "not UTF-8; save the file as UTF-8";
        return out.error(&source.path, line, "encoding", message);
    }
    if let Some(at) = bytes.windows(2).position(|pair| pair == b"\r\n") {
        let line = line_at(&bytes, at);
        out.fixable(&source.path, line, "line-ends", "CR LF line ends; use LF");
    }
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        let line = line_at(&bytes, bytes.len());
        let message = "no newline at the end of the file";
        out.fixable(&source.path, line, "final-newline", message);
    }
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(
        &mut self,
        file: &str,
        line: usize,
        severity: Severity,
        code: &'static str,
        message: impl Into<String>,
    ) {
        self.0.push(Finding {
            file: file.to_owned(),
            line,
            severity,
            code,
            message: message.into(),
            fixable: false,
        });
    }

    fn error(&mut self, file: &str, line: usize, code: &'static str, message: impl Into<String>) {
        self.add(file, line, Severity::Error, code, message);
    }

    fn warn(&mut self, file: &str, line: usize, code: &'static str, message: impl Into<String>) {
        self.add(file, line, Severity::Warning, code, message);
    }

    fn fixable(&mut self, file: &str, line: usize, code: &'static str, message: impl Into<String>) {
        self.warn(file, line, code, message);
        if let Some(added) = self.0.last_mut() {
            added.fixable = true;
        }
    }
}

/// Curated documents have to meet more rules.
fn is_curated(document: &Document<'_>) -> bool {
    matches!(document.kind, Kind::Experience | Kind::Case)
}

#[cfg(test)]
mod tests;
