//! Origin of the answer: the reasoner, the THINK steps, their input and their cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The reasoner of the run, with its fallback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    pub reasoner: ReasonerKind,
    /// Provider of the LLM.
    pub provider: Option<String>,
    /// Model of the LLM.
    pub model: Option<String>,
    /// The replacement of the requested reasoner, and the reason; `None` without a failure.
    #[serde(default)]
    pub fallback: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasonerKind {
    /// Rules, experience and fixed wording.
    Offline,
    /// A language model.
    Llm,
}

/// A chunk of the knowledge base in the input of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experience {
    /// The step that retrieved it: `think3`.
    pub step: String,
    /// Id of the chunk.
    pub chunk: String,
    /// 1-based rank in that step.
    pub rank: u32,
    /// Fused score.
    pub score: Option<f64>,
    /// Rank by words; `None` if not found by them.
    pub bm25_rank: Option<u32>,
    /// Rank by vectors; `None` if not found by them.
    pub vector_rank: Option<u32>,
    /// Title of its document and heading.
    pub title: String,
    /// Whether the step's conclusion or a suggestion cites it.
    #[serde(default)]
    pub used: bool,
    /// Quality of the match, by absolute evidence; `None` if not judged.
    #[serde(default, rename = "match")]
    pub fit: Option<Match>,
}

/// Quality of the match between a chunk and a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    Strong,
    /// No chunk of the knowledge base fits well.
    Weak,
}

/// One THINK step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// `think1` … `think5`, `hypotheses`.
    pub id: String,
    /// Title in the report's language.
    pub title: String,
    /// Structured conclusion.
    pub conclusion: Value,
    /// The conclusion in words.
    pub text: String,
    /// Tokens sent; 0 offline.
    pub tokens_in: u64,
    /// Tokens received; 0 offline.
    pub tokens_out: u64,
    /// Wall time in milliseconds.
    pub elapsed_ms: f64,
    /// Whether the LLM's answer had to be repaired or requested again.
    #[serde(default)]
    pub repaired: bool,
    /// Remarks of the check on dropped or marked parts of the LLM's answer.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRead {
    /// Name relative to the job folder.
    pub file: String,
    /// Parser that read it; `None` for plain text.
    pub parser: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// 0 for the core files, then the round of THINK 4.
    pub round: u32,
}

/// Calls, tokens and price of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Requests that were answered.
    pub calls: u32,
    /// Requests that were repeated after an error.
    pub retries: u32,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens received, thinking included.
    pub tokens_out: u64,
    /// Price by the profile's price list; `None` without one.
    pub cost: Option<f64>,
}

impl Usage {
    /// Adds the usage of one call.
    pub fn add(&mut self, other: &Usage) {
        self.calls += other.calls;
        self.retries += other.retries;
        self.tokens_in += other.tokens_in;
        self.tokens_out += other.tokens_out;
        self.cost = match (self.cost, other.cost) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}

/// Results of checking the LLM's claims.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// Claims that were checked.
    pub claims: u32,
    /// Claims that were left out.
    pub dropped: u32,
    /// Claims that are marked as unverified.
    pub unverified: u32,
    /// Answers that had to be repaired or requested again.
    pub repaired: u32,
}
