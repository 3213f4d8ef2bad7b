//! What a curator should know before an index is built: front matter, headings, links, ids, coverage of causes, judgements
//! that point nowhere, glossary terms that lead in circles. Each finding has its file and line.
//!
//! Which causes exist is the caller's knowledge, not ours.

mod collections;
mod coverage;
mod fix;
mod front;
mod structure;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use serde::Serialize;

pub use coverage::{CoverageRow, coverage};
pub use fix::fix;

use crate::build::sources;
use crate::chunk;
use crate::document::{Document, Source};
use crate::error::BuildError;
use crate::model::Kind;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is not indexed as it was meant.
    Error,
    /// Retrieval or upkeep would be better.
    Warning,
}

/// Something that a curator should look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// File, relative to the knowledge folder.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// How bad it is.
    pub severity: Severity,
    /// Short name of the check (`missing-section`).
    pub code: &'static str,
    /// What is wrong and what would be right.
    pub message: String,
    /// Whether [`fix()`] can repair it without changing what is said.
    pub fixable: bool,
}

/// What is known outside the knowledge folder.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Every cause that a playbook may name; empty to skip these checks.
    pub causes: Vec<String>,
}

/// Checks the folder `knowledge`; findings are sorted by file and line.
///
/// # Errors
/// When the folder cannot be read or holds no document.
pub fn lint(knowledge: &Path, options: &Options) -> Result<Vec<Finding>, BuildError> {
    let sources = sources(knowledge)?;
    let mut out = Vec::new();
    let markdown: Vec<&Source> = sources
        .iter()
        .filter(|s| !s.path.ends_with(".toml"))
        .collect();
    let documents: Vec<Document<'_>> = markdown.iter().map(|s| Document::parse(s)).collect();
    let known = Known::new(&sources, &documents);
    for (source, document) in markdown.iter().zip(&documents) {
        check_encoding(knowledge, source, &mut out);
        front::check(document, options, &mut out);
        structure::check(document, &known, &mut out);
    }
    front::check_ids(&documents, &mut out);
    collections::check_coverage(&documents, options, &mut out);
    for source in sources.iter().filter(|s| s.path.ends_with(".toml")) {
        collections::check_catalogue(source, &mut out);
    }
    collections::check_judgements(knowledge, &known, &mut out);
    out.sort();
    out.dedup();
    Ok(out)
}

/// What can be pointed at.
pub(crate) struct Known {
    /// Ids of chunks.
    pub(crate) chunks: HashSet<String>,
    /// Paths of documents.
    pub(crate) paths: HashSet<String>,
    /// Ids that documents give themselves.
    pub(crate) ids: HashSet<String>,
    /// Anchors by path: those of chunks and of every heading.
    pub(crate) anchors: BTreeMap<String, BTreeSet<String>>,
}

impl Known {
    fn new(sources: &[Source], documents: &[Document<'_>]) -> Known {
        let chunks: HashSet<String> = sources
            .iter()
            .flat_map(chunk::chunks)
            .map(|chunk| chunk.id)
            .collect();
        let mut anchors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, anchor) in chunks.iter().filter_map(|id| id.split_once('#')) {
            let of = anchors.entry(path.to_owned()).or_default();
            of.insert(anchor.to_owned());
        }
        for document in documents {
            let of = anchors.entry(document.path.to_owned()).or_default();
            of.extend(structure::heading_anchors(document));
        }
        Known {
            chunks,
            paths: sources.iter().map(|s| s.path.clone()).collect(),
            ids: documents
                .iter()
                .filter_map(|d| d.front.id.clone())
                .collect(),
            anchors,
        }
    }
}

/// Encoding and line ends, which the reader papers over.
fn check_encoding(knowledge: &Path, source: &Source, out: &mut Vec<Finding>) {
    let Ok(bytes) = fs::read(knowledge.join(&source.path)) else {
        return;
    };
    if let Err(error) = std::str::from_utf8(&bytes) {
        let line = 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        let message = "not UTF-8; save the file as UTF-8".to_owned();
        out.push(finding(
            &source.path,
            line,
            Severity::Error,
            "encoding",
            message,
        ));
        return;
    }
    if let Some(at) = bytes.windows(2).position(|pair| pair == b"\r\n") {
        let line = 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count();
        let message = "ends in CR LF; LF alone is used here".to_owned();
        out.push(fixable(&source.path, line, "line-ends", message));
    }
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        let line = 1 + bytes.iter().filter(|&&b| b == b'\n').count();
        let message = "the last line has no end".to_owned();
        out.push(fixable(&source.path, line, "final-newline", message));
    }
}

fn finding(
    file: &str,
    line: usize,
    severity: Severity,
    code: &'static str,
    message: String,
) -> Finding {
    Finding {
        file: file.to_owned(),
        line,
        severity,
        code,
        message,
        fixable: false,
    }
}

fn fixable(file: &str, line: usize, code: &'static str, message: String) -> Finding {
    Finding {
        fixable: true,
        ..finding(file, line, Severity::Warning, code, message)
    }
}

/// Whether a document is curated knowledge, of which more is asked.
fn is_curated(document: &Document<'_>) -> bool {
    matches!(document.kind, Kind::Experience | Kind::Case)
}

/// The line of the byte offset `at`, from 1.
fn line_at(text: &str, at: usize) -> usize {
    1 + text[..at].bytes().filter(|&b| b == b'\n').count()
}

#[cfg(test)]
mod tests;
