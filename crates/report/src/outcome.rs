//! Conclusion of each rule, and the information that it lacked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Cause;

/// A fact that a rule lacked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissingInformation {
    /// Code of the information: `per_vertex_data`, `gc_time`.
    pub info: String,
    /// File that would hold it.
    pub file: String,
    /// Whether that file is in the folder and has not been read.
    pub present: bool,
    /// Whether that file is in the folder but lacks the information: it was read without finding it, or its content is not recognized.
    #[serde(default)]
    pub without_it: bool,
    /// Causes that the file would decide.
    pub would_decide: Vec<Cause>,
    /// Relevance for this job.
    pub reason: String,
    /// Place to fetch the file from, if it is not in the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// The outcome of the rule for one cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleOutcome {
    pub cause: Cause,
    pub outcome: RuleResult,
    /// Finding that the rule raised, or that explains its symptom.
    #[serde(default)]
    pub by: Option<String>,
    /// Reason for the outcome: the measurement that cleared the cause, the missing information, or the number of findings.
    pub text: String,
    /// Codes of the missing information.
    pub lacking: Vec<String>,
    /// Ids of the examined evidence.
    pub evidence: Vec<String>,
}

/// Outcome of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleResult {
    /// The rule found its cause.
    Fired,
    /// Measured and fine.
    Cleared,
    /// The rule lacked facts.
    Abstained,
    /// No part of the job can have this cause.
    NotApplicable,
    /// The symptom is the effect of another finding.
    Explained,
}
