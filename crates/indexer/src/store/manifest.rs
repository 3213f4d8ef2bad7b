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
    /// File of [`Documents`].
    pub(crate) documents_file: String,
    /// File of the glossary.
    pub(crate) glossary_file: String,
}

/// What an update compares with.
pub(crate) type Documents = BTreeMap<String, DocumentEntry>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentEntry {
    /// Of the whole text, with front matter.
    pub(crate) hash: String,
    pub(crate) chunks: usize,
    /// File state with this hash.
    pub(crate) state: Option<State>,
}

/// Address of a chunk in an open index: number of tantivy's segment in the upper half, document in the lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ordinal(pub(crate) u64);

impl Ordinal {
    pub(crate) fn new(segment: u32, doc: u32) -> Ordinal {
        Ordinal(u64::from(segment) << 32 | u64::from(doc))
    }

    pub(crate) fn segment(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(crate) fn doc(self) -> u32 {
        (self.0 & u64::from(u32::MAX)) as u32
    }
}

impl From<DocAddress> for Ordinal {
    fn from(address: DocAddress) -> Ordinal {
        Ordinal::new(address.segment_ord, address.doc_id)
    }
}

impl From<Ordinal> for DocAddress {
    fn from(ordinal: Ordinal) -> DocAddress {
        DocAddress::new(ordinal.segment(), ordinal.doc())
    }
}

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
        let mut parts = payload.splitn(3, ' ');
        let (format, sum, json) = (parts.next(), parts.next(), parts.next());
        let format = format.filter(|format| format.parse::<u32>().is_ok());
        let format = format.ok_or_else(|| Err("it has no format".to_owned()))?;
        check_format(format).map_err(Ok)?;
        let json = json.unwrap_or_default();
        if sum != Some(blake3::hash(json.as_bytes()).to_hex().as_str()) {
            return Err(Err("its checksum is wrong".to_owned()));
        }
        serde_json::from_str(json).map_err(|error| Err(error.to_string()))
    }

    /// Rejects an index that this program would not have built with this embedder.
    pub(crate) fn check(&self, embedder: &str) -> Result<(), Mismatch> {
        self.check_code()?;
        self.check_embedder(embedder)
    }

    /// As [`Manifest::check`], but for any embedder.
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
    let mismatch = || Mismatch {
        what,
        found: found.to_owned(),
        expected: expected.to_owned(),
        remedy,
    };
    (found == expected).then_some(()).ok_or_else(mismatch)
}
