//! Keys of the models that retrieval uses: `[embedder]` and `[reranker]`.

use std::path::PathBuf;

use serde::Deserialize;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Embedder {
    /// Default: a server if `base_url` is set, else fastembed if `model` is, else the embedded one.
    pub(crate) provider: Option<EmbedderProvider>,
    /// Name of a model, or a folder with `model.onnx` and `tokenizer.json`.
    pub(crate) model: Option<String>,
    /// Address of the server, up to and with `/v1`.
    pub(crate) base_url: Option<String>,
    /// Environment variable with the key of the server.
    pub(crate) api_key_env: Option<String>,
    /// Command that prints the key of the server.
    pub(crate) api_key_command: Option<String>,
    /// Folder of downloaded models. Default: `models` in the data folder.
    pub(crate) cache: Option<PathBuf>,
    /// Library of ONNX Runtime, or its folder. Default: `ORT_DYLIB_PATH`, then the usual places.
    pub(crate) runtime: Option<PathBuf>,
    /// Text before a query, if the model needs another one than its name suggests.
    pub(crate) query_prefix: Option<String>,
    /// Text before a passage.
    pub(crate) passage_prefix: Option<String>,
    /// Weights of the vector branch, compared by `eval --split tune`.
    pub(crate) weights: Option<Weights>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EmbedderProvider {
    /// The built-in one.
    Embedded,
    /// A model run by ONNX Runtime.
    Fastembed,
    /// A server with `/v1/embeddings`.
    OpenaiCompatible,
}

/// Weights of the vector branch, 0 to 1, by the script of the query.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Weights {
    /// For queries in Latin script.
    pub(crate) latin: f32,
    /// For queries in Chinese.
    pub(crate) cjk: f32,
}

/// A cross-encoder that reorders the best hits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reranker {
    /// Name of a model, or a folder with `model.onnx` and `tokenizer.json`.
    pub(crate) model: String,
    /// Number of hits that it reorders.
    #[serde(default = "default_depth")]
    pub(crate) depth: usize,
    /// As for the embedder.
    pub(crate) cache: Option<PathBuf>,
    /// As for the embedder.
    pub(crate) runtime: Option<PathBuf>,
}

/// A cross-encoder reads about ten texts per second on a CPU, and deeper hits seldom reach the first page.
fn default_depth() -> usize {
    20
}
