//! Findings and their evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::Seconds;
use crate::{Cause, ProblemType, Text, text};

/// Severity of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look when there is time.
    Low,
    /// Worth fixing.
    Medium,
    /// Costs a large share of the run.
    High,
    /// The job fails, or most of its run is lost.
    Critical,
}

/// A cause found in the job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// `F1`, `F2`, …; `N1`, … for notes.
    pub id: String,
    pub cause: Cause,
    pub problem_type: ProblemType,
    pub severity: Severity,
    /// Chance that the finding is right, 0..1, calibrated.
    pub confidence: f64,
    /// Stage with the symptom; `None` for a finding about the whole job.
    pub stage: Option<String>,
    /// First and last script line, 1-based; `None` if not located.
    pub script_lines: Option<[u32; 2]>,
    /// One sentence with its numbers.
    pub summary: String,
    /// Ids of [`Evidence`], at least one.
    pub evidence: Vec<String>,
    /// Estimated saving of the fix; `None` without an estimate.
    pub impact: Option<Impact>,
}

impl Finding {
    /// The saving of fixing it, after the findings before it, in a sentence without a stop; `None` if it is unknown.
    pub fn saving(&self) -> Option<Text> {
        let impact = self.impact.as_ref().filter(|i| i.seconds_saved > 0.0)?;
        Some(text!(
            "解决后估计可节省 {saved}",
            "fixing it would save about {saved}",
            saved = Seconds(impact.seconds_saved)
        ))
    }
}

/// Estimated saving of fixing a cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Impact {
    /// Seconds of run time (for `queue.wait`: of the time in the queue).
    pub seconds_saved: f64,
    /// Share of the run time, 0..1 (for `queue.wait`: of the time from submission to end); `None` if it is not known.
    pub share_of_elapsed: Option<f64>,
    /// Method of the computation, in words.
    pub method: String,
    /// Hours of vertices; `None` if not estimated.
    #[serde(default)]
    pub vertex_hours_saved: Option<f64>,
}

/// A measured value with its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// `E1`, `E2`, …
    pub id: String,
    /// The measured quantity, by its name in the file: `maxRowCount`.
    pub metric: String,
    pub value: EvidenceValue,
    /// `rows`, `bytes`, `ms`, `s`, `ratio`, `vertices`, …; `None` for texts.
    pub unit: Option<String>,
    /// Value in a healthy job: `<= 3`.
    pub expected: Option<String>,
    pub source: Source,
    /// The measurement as a sentence.
    pub text: String,
}

impl Evidence {
    /// Adds the value of a healthy job.
    #[must_use]
    pub fn expecting(mut self, expected: impl Into<String>) -> Evidence {
        self.expected = Some(expected.into());
        self
    }
}

/// A value of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EvidenceValue {
    Number(f64),
    Text(String),
    Bool(bool),
}

/// Source of a value.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Source {
    /// File name relative to the job folder, with `/`.
    pub file: String,
    /// Place in the file: an XPath-like chain for XML (`SV3_Combine/Sort[@opId=5]/@rowCount`),
    /// a JSON pointer for JSON, `line N` for text; `None` for the file as a whole.
    pub locator: Option<String>,
}

impl From<f64> for EvidenceValue {
    /// JSON has no infinity, so such a ratio becomes a text.
    fn from(number: f64) -> EvidenceValue {
        if number.is_finite() {
            EvidenceValue::Number(number)
        } else {
            EvidenceValue::Text(number.to_string())
        }
    }
}
