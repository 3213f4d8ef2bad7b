//! What to change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of change a suggestion asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SuggestionKind {
    /// The script is written differently.
    Rewrite,
    /// A hint is added or removed.
    Hint,
    /// A parameter of the submission or the script changes.
    Parameter,
    /// Stored data gets another layout.
    Layout,
    /// Something has to be looked at first.
    Investigate,
}

impl SuggestionKind {
    /// Code in reports and in the run store.
    pub fn code(self) -> &'static str {
        match self {
            SuggestionKind::Rewrite => "rewrite",
            SuggestionKind::Hint => "hint",
            SuggestionKind::Parameter => "parameter",
            SuggestionKind::Layout => "layout",
            SuggestionKind::Investigate => "investigate",
        }
    }
}

/// Whether the changed script gives the rows that the script gave, in every output, and in the same
/// order where the script orders them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SameResult {
    /// By a known rewrite whose conditions hold, or because only hints and comments change.
    Proven,
    /// Both scripts were executed on generated rows that exercise the change, with the same result.
    Tested,
    /// Both were executed, with different results; the diff is left out.
    Different,
    /// Undecided; for a diff of a model `unverified` says why.
    #[default]
    Unknown,
}

/// What was checked about a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// The new script parses without an error.
    pub parses: bool,
    /// Every output keeps its columns in name, order and type.
    pub columns_preserved: bool,
    /// Every hint in it belongs to the known grammar.
    pub hints_known: bool,
    /// The new script gives the same rows.
    #[serde(default)]
    pub same_result: SameResult,
}

impl Verified {
    /// Whether a diff passed every check, so that it can be applied.
    pub fn holds(&self) -> bool {
        let same = matches!(self.same_result, SameResult::Proven | SameResult::Tested);
        self.parses && self.columns_preserved && self.hints_known && same
    }
}

/// Who made a suggestion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A rule; its numbers and diff are right by construction.
    #[default]
    Rules,
    /// The LLM; what remains was checked afterwards.
    Llm,
}

/// A change that would fix a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// `S1`, `S2`, …
    pub id: String,
    /// Id of the finding that it fixes.
    pub finding: Option<String>,
    pub kind: SuggestionKind,
    /// What to do, in one line.
    pub title: String,
    /// How to do it.
    pub steps: Vec<String>,
    /// Unified diff of the script.
    pub diff: Option<String>,
    /// `Some` where there is a diff, and for one that was left out because it changes the result.
    pub verified: Option<Verified>,
    /// Expected benefit, in words.
    pub gain: String,
    /// Seconds of run time that it saves by itself; `None` if they can't be estimated.
    #[serde(default)]
    pub seconds_saved: Option<f64>,
    pub pros: Vec<String>,
    pub cons: Vec<String>,
    /// Chunks of the knowledge base that support it.
    pub sources: Vec<String>,
    #[serde(default)]
    pub origin: Origin,
    /// What could not be confirmed about it; empty for suggestions of the rules.
    #[serde(default)]
    pub unverified: Vec<String>,
}
