//! Keys of a configuration file. Unknown keys are errors, so that typos are noticed.

use std::path::PathBuf;

use report::Language;
use serde::Deserialize;

use super::models::{Embedder, Reranker};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Language of reports. Default: the language of the question.
    pub(crate) language: Option<Language>,
    /// Folder for the run store and the index of the built-in knowledge.
    pub(crate) data: Option<PathBuf>,
    pub(crate) knowledge: Option<PathBuf>,
    pub(crate) index: Option<PathBuf>,
    /// Folder with prompt templates that replace the built-in ones of the same name.
    pub(crate) prompts: Option<PathBuf>,
    /// Whether an analysis on a terminal ends by asking about its suggestions. Default: no.
    pub(crate) ask: Option<bool>,
    #[serde(default)]
    pub(crate) llm: llm::LlmConfig,
    #[serde(default)]
    pub(crate) mcp: Mcp,
    #[serde(default)]
    pub(crate) embedder: Embedder,
    pub(crate) reranker: Option<Reranker>,
    /// Prices of the hours that jobs use.
    #[serde(default)]
    pub(crate) prices: Prices,
    /// Thresholds of the rules by name; `scopeagent rules` lists them.
    #[serde(default)]
    pub(crate) diagnosis: toml::Table,
    /// Whether the current folder belongs to a job of the call; if so, its files cannot configure the
    /// program.
    #[serde(skip)]
    pub(crate) is_in_job: bool,
}

/// Price of one hour of each unit.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prices {
    /// Printed before amounts: `$`, `EUR `.
    #[serde(default)]
    pub(crate) currency: String,
    pub(crate) vertex_hour: Option<f64>,
    pub(crate) au_hour: Option<f64>,
    pub(crate) core_hour: Option<f64>,
}

impl Prices {
    /// The price of an hour of each unit that has one.
    pub(crate) fn all(&self) -> Vec<(&'static str, f64)> {
        let all = [
            ("vertex-hour", self.vertex_hour),
            ("AU-hour", self.au_hour),
            ("executor-core-hour", self.core_hour),
        ];
        let known = all
            .into_iter()
            .filter_map(|(unit, price)| Some((unit, price?)));
        known
            .filter(|(_, price)| price.is_finite() && *price >= 0.0)
            .collect()
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mcp {
    /// Folders with jobs that the MCP server may read. Default: the current folder.
    #[serde(default)]
    pub(crate) allowed_roots: Vec<PathBuf>,
}
