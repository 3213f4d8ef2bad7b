//! What can go wrong, per operation, with file, place and remedy.

use std::path::PathBuf;

use thiserror::Error;

use crate::embed::EmbedError;

/// Why an index could not be built or updated. The last good generation is still in place.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The knowledge folder cannot be listed or a document cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file of the index cannot be written (disk full, no permission).
    #[error("cannot write {path}: {source}; the previous index is still in place")]
    Write {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Another process is building.
    #[error("the index {path} is being written by {owner}; wait for it to end")]
    Locked {
        /// The index folder.
        path: PathBuf,
        /// Process and start time, as the other writer noted it.
        owner: String,
    },
    /// The folder holds no document at all; an index is not emptied by a mistyped path.
    #[error("{path} holds no document (*.md, files.toml, glossary.toml); check the path")]
    NoDocuments {
        /// The knowledge folder.
        path: PathBuf,
    },
    /// What was built does not hold together; it was thrown away.
    #[error("the new generation failed its check: {reason}; the previous index is still in place")]
    Verify {
        /// The first thing that did not hold.
        reason: String,
    },
    /// The lexical store failed.
    #[error("the BM25 store in {path} failed: {reason}; the previous index is still in place")]
    Lexical {
        /// Folder of the generation.
        path: PathBuf,
        /// The store's reason.
        reason: String,
    },
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The existing index was made otherwise.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The existing index cannot be continued.
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

/// The index was made by another version or another model: results would be mixed in silence.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("the index has {what} `{found}`, this program uses `{expected}`; run `index {remedy}`")]
pub struct Mismatch {
    /// `format`, `chunker`, `analyser` or `embedder`.
    pub what: &'static str,
    /// What the index was made with.
    pub found: String,
    /// What is configured now.
    pub expected: String,
    /// Flag of the index command that repairs it: `--full`, `--rechunk`, `--reembed`.
    pub remedy: &'static str,
}

/// Why an index could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// There is none.
    #[error("there is no index in {path}; run `index` to build it")]
    Missing {
        /// The index folder.
        path: PathBuf,
    },
    /// A file of it is missing or damaged.
    #[error("the index file {path} is unusable: {reason}; run `index --full` to build it again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Made by another version or model.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The embedder cannot be used.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// Why a query could not be answered.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The lexical store failed.
    #[error("the BM25 store failed: {reason}; run `index verify`")]
    Lexical {
        /// The store's reason.
        reason: String,
    },
    /// A chunk that should be there could not be read.
    #[error("chunk {ordinal} of the index cannot be read: {reason}; run `index verify`")]
    Chunk {
        /// Position in the generation.
        ordinal: u64,
        /// What is wrong.
        reason: String,
    },
}
