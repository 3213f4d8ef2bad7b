//! What a diagnosis consists of: facts, findings, missing information, suggestions.
//!
//! Plain data without behaviour beyond small look-ups. Texts come in both languages of the
//! product, so that the caller chooses late. The codes and field names follow the report contract.

use job::model::Source;
pub use report::{
    Cause, EvidenceValue as Value, Impact, ProblemType, Severity, SuggestionKind, Text, Verdict,
    Verified,
};
use serde::Serialize;

/// One measured or read value with its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// What was measured, in the words of the file: `maxRowCount`,
    /// `max_rows_per_vertex / mean_rows_per_vertex`.
    pub metric: String,
    /// Its value.
    pub value: Value,
    /// `rows`, `bytes`, `ms`, `s`, `ratio`, `vertices`, …; `None` for texts.
    pub unit: Option<&'static str>,
    /// What a healthy job would show, where the fact is held against a threshold: `<= 3`.
    pub expected: Option<String>,
    /// Where it was read.
    pub source: Source,
    /// The fact as a sentence.
    pub text: Text,
}

/// A cause found in the job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is.
    pub cause: Cause,
    /// How much it matters.
    pub severity: Severity,
    /// Chance that it is right, 0..1, calibrated.
    pub confidence: f64,
    /// Stage in which it shows; `None` if it is about the whole job.
    pub stage: Option<String>,
    /// First and last 1-based script line of the statement; `None` if not located.
    pub script_lines: Option<(u32, u32)>,
    /// One sentence with its numbers.
    pub summary: Text,
    /// Facts that show it; never empty.
    pub evidence: Vec<Fact>,
    /// What mending it would buy; `None` if it cannot be estimated.
    pub impact: Option<Impact>,
}

/// A fact that a rule lacked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingInformation {
    /// What is missing: `per_vertex_data`, `gc_time`; one of [`job::info::Information`]'s codes.
    pub info: &'static str,
    /// File of the catalogue that would hold it.
    pub file: String,
    /// Whether that file is in the folder (and has not been read yet).
    pub present: bool,
    /// Causes that it would decide.
    pub would_decide: Vec<Cause>,
    /// Why it matters here.
    pub reason: Text,
    /// Share of the undecided impact that the file would settle, 0..1.
    pub relevance: f64,
    /// Parser that reads the file.
    pub parser: Option<String>,
}

/// A change that would mend a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// Index into [`Diagnosis::findings`].
    pub finding: usize,
    /// What kind of change.
    pub kind: SuggestionKind,
    /// What to do, in one line.
    pub title: Text,
    /// How to do it.
    pub steps: Vec<Text>,
    /// Unified diff of the script.
    pub diff: Option<String>,
    /// What was checked; `Some` exactly where there is a diff.
    pub verified: Option<Verified>,
    /// What it would bring.
    pub gain: Text,
    /// What speaks for it.
    pub pros: Vec<Text>,
    /// What speaks against it.
    pub cons: Vec<Text>,
    /// Section and keywords by which experience on it is looked up.
    pub topic: String,
}

/// What became of one rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// It found its cause.
    Fired {
        /// How many findings.
        findings: usize,
    },
    /// Its facts are there and do not show the cause, or something else explains them.
    Cleared {
        /// By what, with found and expected values.
        by: Text,
    },
    /// It needs a fact that is not there.
    Abstained {
        /// Codes of the missing information.
        lacking: Vec<&'static str>,
    },
}

/// What became of the rule for one cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleOutcome {
    /// The rule's cause.
    pub cause: Cause,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Facts it looked at.
    pub facts: Vec<Fact>,
}

/// How complete the information is, as section 5 of the specification asks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Completeness {
    /// Share of the information that the problem type needs and that is there, 0..1.
    pub score: f64,
    /// Least score that suffices: 0.7 for skew and shuffle, 0.5 for other.
    pub minimum: f64,
    /// Whether `score` reaches `minimum` and no rule that matters is undecided.
    pub sufficient: bool,
    /// Share of the rules that are decided, 0..1.
    pub progress: f64,
    /// What is still missing, most relevant first.
    pub missing: Vec<MissingInformation>,
}

/// The result for one job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Problem, healthy, or cannot be known.
    pub verdict: Verdict,
    /// Ranked by seconds saved; failures first.
    pub findings: Vec<Finding>,
    /// Findings whose share of the run is too small to matter.
    pub notes: Vec<Finding>,
    /// One entry a rule.
    pub rules: Vec<RuleOutcome>,
    /// What is missing and where it would be.
    pub completeness: Completeness,
    /// Changes that would mend the findings.
    pub suggestions: Vec<Suggestion>,
}
