//! The root object of the contract.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Checks, Cost, Diagnostic, Engine, Evidence, Experience, FileRead, Finding, JobSummary,
    Language, MissingInformation, ProblemType, RuleOutcome, Step, Suggestion, TimeAccount, Usage,
};

/// Version of the contract.
pub const SCHEMA_VERSION: u32 = 1;

/// The answer to one question about one job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// ULID of the run; empty if the run could not be saved.
    pub run_id: String,
    pub job: JobSummary,
    /// The user's question, if any.
    pub question: Option<String>,
    /// The question, answered from measured facts.
    #[serde(default)]
    pub answer: Option<Answer>,
    pub language: Language,
    pub engine: Engine,
    pub verdict: Verdict,
    /// Class of the top finding; `none` without one.
    pub problem_type: ProblemType,
    /// The time account; `None` if no file has the times of the run.
    #[serde(default)]
    pub time: Option<TimeAccount>,
    /// Cost of the run, if the files show it.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// Problems, most seconds saved first.
    pub findings: Vec<Finding>,
    /// Deduplicated evidence of findings, notes and rules.
    pub evidence: Vec<Evidence>,
    /// Undecided causes, and the files that would decide them.
    pub missing_information: Vec<MissingInformation>,
    /// Changes to make, most useful first.
    pub suggestions: Vec<Suggestion>,
    /// Chunks of the knowledge base in the input of the steps.
    pub experiences: Vec<Experience>,
    /// The THINK steps in sequence.
    pub steps: Vec<Step>,
    /// Files in reading sequence.
    pub files_read: Vec<FileRead>,
    /// Unreadable parts of the input, and their remedies.
    pub diagnostics: Vec<Diagnostic>,
    /// `None` without an LLM.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// `None` without an LLM.
    #[serde(default)]
    pub checks: Option<Checks>,
    /// Findings too small to matter; their evidence is in `evidence`.
    #[serde(default)]
    pub notes: Vec<Finding>,
    /// The outcome of every rule.
    #[serde(default)]
    pub rules: Vec<RuleOutcome>,
    /// Whether the run was stopped before its last step.
    #[serde(default)]
    pub partial: bool,
}

impl Report {
    /// The evidence with these ids, in their order.
    pub fn evidence_of<'a>(&'a self, ids: &'a [String]) -> impl Iterator<Item = &'a Evidence> {
        ids.iter()
            .filter_map(|id| self.evidence.iter().find(|e| e.id == *id))
    }
}

/// The verdict on the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At least one finding.
    Problem,
    /// Every applicable rule had its facts, and none found its cause.
    Healthy,
    /// No finding, but a relevant rule lacked its facts.
    InsufficientInformation,
}

/// The user's question, answered from measured facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub text: String,
    /// Ids of evidence.
    pub evidence: Vec<String>,
}

/// JSON Schema of [`Report`].
pub fn schema() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Report>().to_value();
    schema["$id"] = Value::from("https://scopeagent.dev/report-v1.schema.json");
    schema
}
