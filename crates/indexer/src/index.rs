//! An open index: one generation, read-only.

use std::path::Path;

use serde::Serialize;

use crate::error::{OpenError, SearchError};
use crate::model::{Chunk, Hit, Query};
use crate::settings::Settings;

/// One generation of an index, open for search. Later updates do not touch it; open again to see them.
pub struct Index {
    generation: String,
}

/// What an index holds and how it was made.
#[derive(Debug, Clone, Serialize)]
pub struct Info {
    /// Name of the generation.
    pub generation: String,
    /// Documents.
    pub documents: usize,
    /// Chunks.
    pub chunks: usize,
    /// Fingerprint of the embedder.
    pub embedder: String,
    /// Components of a vector.
    pub dimension: usize,
    /// Version of the stored format.
    pub format: u32,
    /// Version of the chunker.
    pub chunker: String,
    /// Version of the analyser.
    pub analyser: String,
    /// Bytes on disk.
    pub bytes: u64,
}

impl Index {
    /// Opens the generation that is current now.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(index: &Path, settings: &Settings) -> Result<Index, OpenError> {
        let _ = settings;
        Err(OpenError::Missing {
            path: index.to_owned(),
        })
    }

    /// The best chunks for `query`, best first; ties are broken by chunk id.
    ///
    /// # Errors
    /// See [`SearchError`].
    pub fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, SearchError> {
        let _ = query;
        Ok(Vec::new())
    }

    /// The chunk called `id`; `None` if this generation has none.
    pub fn chunk(&self, id: &str) -> Option<Chunk> {
        let _ = id;
        None
    }

    /// What the index holds.
    pub fn info(&self) -> Info {
        Info {
            generation: self.generation.clone(),
            documents: 0,
            chunks: 0,
            embedder: String::new(),
            dimension: 0,
            format: 0,
            chunker: String::new(),
            analyser: String::new(),
            bytes: 0,
        }
    }
}
