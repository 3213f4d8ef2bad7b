//! What can go wrong, per operation, with file, place and remedy.

use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::embed::EmbedError;

/// Why an index could not be built or updated. The last good generation stays in place.
#[derive(Debug, Error)]
pub enum BuildError {
    #[error("cannot read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot write {path}: {source}; the previous index is still in place")]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the index {path} is being written by {owner}; wait for it to end")]
    Locked { path: PathBuf, owner: String },
    /// A mistyped path must not empty an index.
    #[error("{path} holds no document (*.md, files.toml, glossary.toml); check the path")]
    NoDocuments { path: PathBuf },
    #[error("no document can be indexed; {}:{}: {}", .0.document, .0.line, .0.reason)]
    Broken(Skipped),
    /// The new generation was inconsistent and has been discarded.
    #[error("the new generation failed its check: {reason}; the previous index is still in place")]
    Verify { reason: String },
    #[error("the BM25 store in {path} failed: {reason}; the previous index is still in place")]
    Lexical { path: PathBuf, reason: String },
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error(transparent)]
    Open(OpenError),
}

impl From<OpenError> for BuildError {
    fn from(error: OpenError) -> BuildError {
        match error {
            OpenError::Mismatch(mismatch) => BuildError::Mismatch(mismatch),
            OpenError::Embed(error) => BuildError::Embed(error),
            other => BuildError::Open(other),
        }
    }
}

/// A document that cannot be indexed as its author meant it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    pub document: String,
    /// From 1.
    pub line: usize,
    pub reason: String,
}

/// Another version or model made the index; using it would silently mix results.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("the index has {what} `{found}`, this program uses `{expected}`; run `index {remedy}`")]
pub struct Mismatch {
    /// `format`, `chunker`, `analyser` or `embedder`.
    pub what: &'static str,
    pub found: String,
    pub expected: String,
    /// Flag of `index` that fixes it: `--full`, `--rechunk`, `--reembed`.
    pub remedy: &'static str,
}

/// Why an index could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("there is no index in {path}; run `index` to build it")]
    Missing { path: PathBuf },
    #[error("the index file {path} is unusable: {reason}; run `index --full` to build it again")]
    Damaged { path: PathBuf, reason: String },
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// Why a query could not be answered.
#[derive(Debug, Error)]
pub enum SearchError {
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error("the BM25 store failed: {reason}; run `index verify`")]
    Lexical { reason: String },
    #[error("chunk {ordinal} of the index cannot be read: {reason}; run `index verify`")]
    Chunk { ordinal: u64, reason: String },
}

pub(crate) fn damaged(path: &Path, reason: impl ToString) -> OpenError {
    OpenError::Damaged {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
