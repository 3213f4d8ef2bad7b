//! What callers choose about building and searching. Knows nothing about configuration files.

use std::path::PathBuf;

use crate::embed::{EmbedderChoice, VectorWeights};
use crate::store::GRAPH_FROM;

/// `Settings::default()` needs no setup.
#[derive(Debug, Clone)]
pub struct Settings {
    /// An index remembers its embedder and refuses another.
    pub embedder: EmbedderChoice,
    pub rebuild: Rebuild,
    /// Rows from which a [session](crate::Session) searches a segment by graph; the default was measured.
    pub graph_from: usize,
    /// `None` for the weights that suit the embedder.
    pub weights: Option<VectorWeights>,
    pub reranker: Option<Reranker>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            embedder: EmbedderChoice::default(),
            rebuild: Rebuild::default(),
            graph_from: GRAPH_FROM,
            weights: None,
            reranker: None,
        }
    }
}

/// What to rebuild although the documents did not change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rebuild {
    /// Only what changed.
    #[default]
    Changed,
    /// Chunk all documents again; known texts keep their vectors.
    Rechunk,
    /// Embed all texts again.
    Reembed,
    /// Everything, as if there were no index.
    Full,
}

/// A cross-encoder, run by ONNX Runtime, that reorders the best hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reranker {
    /// Model name (`bge-reranker-base`), or a folder with `model.onnx` and `tokenizer.json`.
    pub model: String,
    /// Number of hits that it sees.
    pub depth: usize,
    /// Where named models are stored.
    pub cache: Option<PathBuf>,
    /// The ONNX Runtime library or its folder; `None` searches next to the program and in the usual places.
    pub runtime: Option<PathBuf>,
}
