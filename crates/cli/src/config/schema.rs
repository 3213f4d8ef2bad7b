//! What a configuration file may say. Unknown keys are refused, so that a typo is not ignored.

use std::path::PathBuf;

use report::Language;
use serde::Deserialize;

use super::models::{Embedder, Reranker};

/// The whole configuration.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Language of reports; default: that of the question.
    pub(crate) language: Option<Language>,
    /// Folder for what the program writes.
    pub(crate) data: Option<PathBuf>,
    /// Knowledge folder.
    pub(crate) knowledge: Option<PathBuf>,
    /// Index folder.
    pub(crate) index: Option<PathBuf>,
    /// Folder with prompt templates that replace the built-in ones of the same name.
    pub(crate) prompts: Option<PathBuf>,
    /// Whether an analysis on a terminal ends with a question about its suggestions; default: yes.
    pub(crate) ask: Option<bool>,
    /// LLM profiles and which of them to use.
    #[serde(default)]
    pub(crate) llm: llm::LlmConfig,
    /// What the MCP server may read.
    #[serde(default)]
    pub(crate) mcp: Mcp,
    /// What makes the vectors of the index.
    #[serde(default)]
    pub(crate) embedder: Embedder,
    /// Cross-encoder that reorders what was found.
    pub(crate) reranker: Option<Reranker>,
    /// Thresholds of the rules by name; `scopeagent rules` lists them.
    #[serde(default)]
    pub(crate) diagnosis: toml::Table,
}

/// Settings of the MCP server.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mcp {
    /// Folders whose jobs it may read; none given: the current folder.
    #[serde(default)]
    pub(crate) allowed_roots: Vec<PathBuf>,
}
