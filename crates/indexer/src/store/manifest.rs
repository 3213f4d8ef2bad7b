//! What a generation consists of and what made it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FORMAT;
use crate::error::Mismatch;
use crate::{analyse, chunk};

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
    /// Chunks that are alive.
    pub(crate) chunks: usize,
    pub(crate) segments: Vec<Segment>,
    /// Size and checksum of every other file, by path in the generation.
    pub(crate) files: BTreeMap<String, FileSum>,
}

/// A pair of files `seg-<seq>.chunks` and `seg-<seq>.vec`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment {
    /// Never used twice in one index.
    pub(crate) seq: u32,
    pub(crate) rows: usize,
    /// Rows that are no longer served, as first and count, sorted.
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
}

/// Size and checksum of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSum {
    pub(crate) bytes: u64,
    pub(crate) blake3: String,
}

/// `documents.json`: what an update compares with.
pub(crate) type Documents = BTreeMap<String, DocumentEntry>;

/// Where the chunks of a document are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentEntry {
    /// Of the text, front matter included.
    pub(crate) hash: String,
    pub(crate) seq: u32,
    pub(crate) first: usize,
    pub(crate) count: usize,
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
    /// Refuses an index that this program, with this embedder, would not have made.
    pub(crate) fn check(&self, embedder: &str) -> Result<(), Mismatch> {
        self.check_code()?;
        self.check_embedder(embedder)
    }

    /// Refuses another layout of the files.
    pub(crate) fn check_format(&self) -> Result<(), Mismatch> {
        let (found, expected) = (self.format.to_string(), FORMAT.to_string());
        differs("format", &found, &expected, "--full")
    }

    /// As [`Manifest::check`], whatever the embedder.
    pub(crate) fn check_code(&self) -> Result<(), Mismatch> {
        self.check_format()?;
        differs("analyser", &self.analyser, analyse::VERSION, "--rechunk")?;
        differs("chunker", &self.chunker, chunk::VERSION, "--rechunk")
    }

    /// Refuses the vectors of another model.
    pub(crate) fn check_embedder(&self, embedder: &str) -> Result<(), Mismatch> {
        differs("embedder", &self.embedder, embedder, "--reembed")
    }
}

fn differs(
    what: &'static str,
    found: &str,
    expected: &str,
    remedy: &'static str,
) -> Result<(), Mismatch> {
    if found == expected {
        return Ok(());
    }
    Err(Mismatch {
        what,
        found: found.to_owned(),
        expected: expected.to_owned(),
        remedy,
    })
}
