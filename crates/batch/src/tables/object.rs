//! A result object as the tables need it: steps, evidence and other long texts of the report are skipped while reading.

use report::measure::Values;
use report::{
    Cost, Finding, JobSummary, MissingInformation, ProblemType, SuggestionKind, TimeAccount,
    Verdict, Verified,
};
use serde::Deserialize;

use crate::result::Status;

/// One object under `results/`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Stored {
    pub version: u32,
    pub key: String,
    pub uri: String,
    pub etag: String,
    pub status: Status,
    #[serde(default)]
    pub tries: Option<u32>,
    /// Why there is no report; `None` if there is one.
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub report: Option<Digest>,
    #[serde(default)]
    pub summary: Option<Measured>,
}

/// The part of a run's summary that rows are made of.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Measured {
    #[serde(default, deserialize_with = "Values::of_job")]
    pub values: Values,
}

/// The parts of a report that rows are made of.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Digest {
    pub job: JobSummary,
    pub verdict: Verdict,
    pub problem_type: ProblemType,
    #[serde(default)]
    pub time: Option<TimeAccount>,
    #[serde(default)]
    pub cost: Option<Cost>,
    pub findings: Vec<Finding>,
    pub suggestions: Vec<Proposal>,
    pub missing_information: Vec<MissingInformation>,
}

/// A suggestion without its steps, reasons and sources.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Proposal {
    pub finding: Option<String>,
    pub kind: SuggestionKind,
    pub title: String,
    pub gain: String,
    #[serde(default)]
    pub verified: Option<Verified>,
}
