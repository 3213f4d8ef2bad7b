//! What a caller may choose about building and searching. Knows nothing of files of configuration.

use std::path::PathBuf;

use crate::embed::{EmbedderChoice, VectorWeights};
use crate::store::GRAPH_FROM;

/// Settings of the index; `Settings::default()` needs no set-up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which embedder makes the vectors; an index remembers it and refuses another.
    pub embedder: EmbedderChoice,
    /// What to build anew although nothing changed.
    pub rebuild: Rebuild,
    /// How vectors are searched.
    pub vector_search: VectorSearch,
    /// Rows from which a segment gets a graph, and is searched by it, in processes that stay; measured by default.
    pub graph_from: usize,
    /// Weights of the vector branch; `None` for those that suit the embedder.
    pub weights: Option<VectorWeights>,
    /// Cross-encoder that reorders the best hits; `None` for no reranking.
    pub reranker: Option<Reranker>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            embedder: EmbedderChoice::default(),
            rebuild: Rebuild::default(),
            vector_search: VectorSearch::default(),
            graph_from: GRAPH_FROM,
            weights: None,
            reranker: None,
        }
    }
}

/// What to build anew although the documents did not change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rebuild {
    /// Only what changed.
    #[default]
    Changed,
    /// Cut all documents again (another chunker); known texts keep their vectors.
    Rechunk,
    /// Embed all texts again (another model).
    Reembed,
    /// Everything, as if there were no index.
    Full,
}

/// How vectors are searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VectorSearch {
    /// The exact scan: best for a process that asks a few questions.
    #[default]
    Exact,
    /// For processes that stay: the graph of segments that are large enough for it to be faster. An update with this setting
    /// builds the graphs that are missing; a search without them scans.
    Resident,
}

/// A cross-encoder run by ONNX Runtime through fastembed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reranker {
    /// Model name (`bge-reranker-base`), or a folder with `model.onnx` and `tokenizer.json`.
    pub model: String,
    /// Number of hits it looks at.
    pub depth: usize,
    /// Where named models are kept.
    pub cache: Option<PathBuf>,
    /// The ONNX Runtime library, or its folder; `None` looks beside the program and in the usual places.
    pub runtime: Option<PathBuf>,
}
