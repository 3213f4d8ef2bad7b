//! Settings of building and searching.

use crate::embed::{EmbedderChoice, Reranker, VectorWeights};
use crate::store::GRAPH_FROM;

/// `Settings::default()` needs no setup.
#[derive(Debug, Clone)]
pub struct Settings {
    /// An index remembers its embedder and refuses another.
    pub embedder: EmbedderChoice,
    pub rebuild: Rebuild,
    /// Minimum rows for a graph search of a segment by a [session](crate::Session); the default was
    /// measured.
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
    /// Only changed documents.
    #[default]
    Changed,
    /// Chunk all documents again; known texts keep their vectors.
    Rechunk,
    /// Embed all texts again.
    Reembed,
    /// Everything, as if there were no index.
    Full,
}
