//! Suggestions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of change that a suggestion asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SuggestionKind {
    /// Rewrites the script.
    Rewrite,
    /// Adds or removes a hint.
    Hint,
    /// Changes a parameter of the submission or the script.
    Parameter,
    /// Changes the layout of stored data.
    Layout,
    /// Requires an investigation first.
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

/// Whether the changed script gives the same rows in every output, in the same
/// sequence if the script orders them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SameResult {
    /// Proven by a known rewrite with satisfied conditions, or because only hints and comments change.
    Proven,
    /// Both scripts were executed on generated rows that exercise the change, with the same result.
    Tested,
    /// Both were executed, with different results; the diff is left out.
    Different,
    /// Undecided; for a model's diff, `unverified` has the reason.
    #[default]
    Unknown,
}

/// Checks of a diff.
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

/// Author of a suggestion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A rule; its numbers and diff are right by construction.
    #[default]
    Rules,
    /// The LLM, with its claims checked afterwards.
    Llm,
}

/// A setting of Spark with the value that this run needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// `spark.sql.shuffle.partitions`
    pub key: String,
    /// The value in force; `None` if neither the log nor the table of defaults has it.
    pub current: Option<String>,
    /// Origin of `current`: `log`, or `default of 3.5` with the version.
    pub source: Option<String>,
    pub suggested: String,
    /// Unit of both values, where Spark writes them without one.
    pub unit: Option<String>,
    /// The measured numbers behind the value.
    pub reason: String,
}

impl Setting {
    /// Whether a running session can change it; the others take effect when the application starts.
    pub fn is_of_session(&self) -> bool {
        self.key.starts_with("spark.sql.")
    }
}

/// A change that would fix a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// `S1`, `S2`, …
    pub id: String,
    /// Id of the finding that it fixes.
    pub finding: Option<String>,
    pub kind: SuggestionKind,
    /// The change in one line.
    pub title: String,
    /// Steps of the change.
    pub steps: Vec<String>,
    /// Unified diff of the script.
    pub diff: Option<String>,
    /// Checks of the diff, also of a diff that was left out because it changes the result.
    pub verified: Option<Verified>,
    /// Settings of Spark to change, all of them together; empty for SCOPE and U-SQL.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// Expected gain, in words.
    pub gain: String,
    /// Estimated saving of the suggestion alone, in seconds of run time; `None` without an estimate.
    #[serde(default)]
    pub seconds_saved: Option<f64>,
    pub pros: Vec<String>,
    pub cons: Vec<String>,
    /// Chunks of the knowledge base that support it.
    pub sources: Vec<String>,
    #[serde(default)]
    pub origin: Origin,
    /// Unconfirmed claims of the suggestion; empty for suggestions of the rules.
    #[serde(default)]
    pub unverified: Vec<String>,
}

impl Suggestion {
    /// All sentences: title, steps, reasons of settings, pros, cons and gain.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        let lists = self
            .steps
            .iter()
            .chain(self.settings.iter().map(|s| &s.reason));
        let lists = lists.chain(&self.pros).chain(&self.cons);
        [&self.title].into_iter().chain(lists).chain([&self.gain])
    }

    /// The sentences of [`Suggestion::texts`], to be changed.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let reasons = self.settings.iter_mut().map(|s| &mut s.reason);
        let lists = self.steps.iter_mut().chain(reasons);
        let lists = lists.chain(&mut self.pros).chain(&mut self.cons);
        [&mut self.title]
            .into_iter()
            .chain(lists)
            .chain([&mut self.gain])
    }
}
