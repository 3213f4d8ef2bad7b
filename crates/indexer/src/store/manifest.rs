//! Content and builder of an index, in the payload of tantivy's commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tantivy::DocAddress;

use super::FORMAT;
use super::stamp::State;
use crate::error::Mismatch;
use crate::{analyze, chunk};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) chunker: String,
    pub(crate) analyser: String,
    pub(crate) embedder: String,
    pub(crate) dimension: usize,
    /// Number of the commit and a mark that no other commit has.
    pub(crate) generation: String,
    pub(crate) documents: usize,
    pub(crate) chunks: usize,
    /// File of the vectors, and the number of rows in use.
    pub(crate) vectors: String,
    pub(crate) rows: usize,
    /// Nanoseconds from 1970 to when the documents were listed.
    pub(crate) listed: u64,
    /// Hash of the caller's name for the documents; empty without one.
    pub(crate) mark: String,
}

/// The state that an update compares with.
pub(crate) type Documents = BTreeMap<String, DocumentEntry>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentEntry {
    /// Of the whole text, with front matter.
    pub(crate) hash: Hash,
    pub(crate) chunks: usize,
    /// File state with this hash.
    pub(crate) state: Option<State>,
}

/// BLAKE3 of a document and its generated questions.
pub(crate) type Hash = [u8; 32];

/// Address of a chunk in an open index.
pub(crate) type Ordinal = DocAddress;

impl Manifest {
    /// The payload of a commit: format, checksum of the rest, and the rest as JSON.
    pub(crate) fn to_payload(&self) -> serde_json::Result<String> {
        let json = serde_json::to_string(self)?;
        let sum = blake3::hash(json.as_bytes()).to_hex();
        Ok(format!("{FORMAT} {sum} {json}"))
    }

    /// # Errors
    /// A mismatch of the format, or else the reason why the payload is damaged.
    pub(crate) fn parse(payload: &str) -> Result<Manifest, Result<Mismatch, String>> {
        let (format, rest) = payload.split_once(' ').unwrap_or_default();
        if format.parse::<u32>().is_err() {
            return Err(Err("it has no format".to_owned()));
        }
        check_format(format).map_err(Ok)?;
        let (sum, json) = rest.split_once(' ').unwrap_or_default();
        if *sum != *blake3::hash(json.as_bytes()).to_hex() {
            return Err(Err("its checksum is wrong".to_owned()));
        }
        serde_json::from_str(json).map_err(|error| Err(error.to_string()))
    }

    /// Rejects an index that this program would not have built with any embedder.
    pub(crate) fn check_code(&self) -> Result<(), Mismatch> {
        differs("analyser", &self.analyser, analyze::VERSION, "--rechunk")?;
        differs("chunker", &self.chunker, chunk::VERSION, "--rechunk")
    }

    pub(crate) fn check_embedder(&self, embedder: &str) -> Result<(), Mismatch> {
        differs("embedder", &self.embedder, embedder, "--reembed")
    }
}

pub(crate) fn check_format(found: &str) -> Result<(), Mismatch> {
    differs("format", found, &FORMAT.to_string(), "--full")
}

fn differs(
    what: &'static str,
    found: &str,
    expected: &str,
    remedy: &'static str,
) -> Result<(), Mismatch> {
    match found == expected {
        true => Ok(()),
        false => Err(Mismatch {
            what,
            found: found.to_owned(),
            expected: expected.to_owned(),
            remedy,
        }),
    }
}
