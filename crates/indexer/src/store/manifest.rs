//! Content and builder of a generation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FORMAT;
use super::stamp::State;
use crate::error::Mismatch;
use crate::{analyze, chunk};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const DOCUMENTS: &str = "documents.json";
pub(crate) const GLOSSARY: &str = "glossary.json";
/// Folder of the lexical store in a generation.
pub(crate) const BM25: &str = "bm25";
/// Folder of the store of questions; only if a document has any.
pub(crate) const QUESTIONS: &str = "questions";

/// `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    pub(crate) chunker: String,
    pub(crate) analyser: String,
    pub(crate) embedder: String,
    pub(crate) dimension: usize,
    pub(crate) generation: String,
    pub(crate) documents: usize,
    /// Live chunks.
    pub(crate) chunks: usize,
    pub(crate) segments: Vec<Segment>,
    /// Size and checksum of every other file, by path in the generation.
    pub(crate) files: BTreeMap<String, FileSum>,
}

/// The files `seg-<seq>.chunks` and `seg-<seq>.vec`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment {
    /// Never used twice in one index.
    pub(crate) seq: u32,
    pub(crate) rows: usize,
    /// Rows no longer served, as first and count, sorted.
    pub(crate) dead: Vec<(usize, usize)>,
}

impl Segment {
    pub(crate) fn dead_rows(&self) -> usize {
        self.dead.iter().map(|(_, count)| count).sum()
    }

    pub(crate) fn live_rows(&self) -> usize {
        self.rows - self.dead_rows().min(self.rows)
    }

    pub(crate) fn chunks_file(&self) -> String {
        format!("seg-{:08}.chunks", self.seq)
    }

    pub(crate) fn vectors_file(&self) -> String {
        format!("seg-{:08}.vec", self.seq)
    }

    pub(crate) fn files(&self) -> [String; 2] {
        [self.chunks_file(), self.vectors_file()]
    }
}

/// The file that tantivy reads first in the folder of a store.
pub(crate) fn meta(store: &str) -> String {
    format!("{store}/meta.json")
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSum {
    pub(crate) bytes: u64,
    pub(crate) blake3: String,
}

/// `documents.json`, which an update compares with.
pub(crate) type Documents = BTreeMap<String, DocumentEntry>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentEntry {
    /// Of the whole text, with front matter.
    pub(crate) hash: String,
    pub(crate) seq: u32,
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// File state with this hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<State>,
}

/// Address of a chunk in a generation: segment in the upper half, row in the lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ordinal(pub(crate) u64);

impl Ordinal {
    pub(crate) fn new(seq: u32, row: usize) -> Ordinal {
        Ordinal(u64::from(seq) << 32 | row as u64)
    }

    pub(crate) fn seq(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(crate) fn row(self) -> usize {
        (self.0 & u64::from(u32::MAX)) as usize
    }
}

impl Manifest {
    pub(crate) fn has_questions(&self) -> bool {
        self.files.contains_key(&meta(QUESTIONS))
    }

    pub(crate) fn checksum(&self, file: &str) -> Option<&str> {
        Some(&self.files.get(file)?.blake3)
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

pub(crate) fn check_format(found: u64) -> Result<(), Mismatch> {
    let expected = u64::from(FORMAT).to_string();
    differs("format", &found.to_string(), &expected, "--full")
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
