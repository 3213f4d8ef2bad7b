//! One line of a batch: the result of an analysis, or why there is none.

use report::{JobState, ProblemType, Report, Severity, Verdict};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Absolute path of the job folder; a later call skips it.
    pub(crate) job: String,
    /// Seconds that the analysis took.
    pub(crate) took_seconds: f64,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Outcome {
    Done(Box<Done>),
    Failed { error: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) run_id: String,
    pub(crate) name: Option<String>,
    pub(crate) state: JobState,
    pub(crate) elapsed_seconds: Option<f64>,
    pub(crate) verdict: Verdict,
    pub(crate) problem_type: ProblemType,
    pub(crate) findings: Vec<Found>,
    pub(crate) suggestions: usize,
    /// The whole report, on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<Report>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) cause: String,
    pub(crate) stage: Option<String>,
    pub(crate) severity: Severity,
    pub(crate) confidence: f64,
    pub(crate) seconds_saved: Option<f64>,
}

impl Done {
    pub(crate) fn of(report: Report, whole: bool) -> Done {
        let found = report.findings.iter().map(|f| Found {
            cause: f.cause.code().to_owned(),
            stage: f.stage.clone(),
            severity: f.severity,
            confidence: f.confidence,
            seconds_saved: f.impact.as_ref().map(|i| i.seconds_saved),
        });
        Done {
            run_id: report.run_id.clone(),
            name: report.job.name.clone(),
            state: report.job.state,
            elapsed_seconds: report.job.elapsed_seconds,
            verdict: report.verdict,
            problem_type: report.problem_type,
            findings: found.collect(),
            suggestions: report.suggestions.len(),
            report: whole.then_some(report),
        }
    }
}
