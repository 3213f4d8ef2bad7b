//! What a rule is: the cause it names, what it needs, what clears it, and its examination of a job.
//!
//! A rule does not decide whether its candidate matters; impact, confidence and ranking are the
//! same code for all rules.

use job::info::Information;

use crate::impact::Fix;
use crate::settings::Threshold;
use crate::view::View;
use report::{Cause, Evidence, Finding, StaticText, Text};

/// What a rule looks for and what it needs, for `scopeagent rules`.
#[derive(Debug)]
pub struct About {
    /// Cause that it names.
    pub cause: Cause,
    /// What that cause is.
    pub what: StaticText,
    /// Information without which it cannot decide.
    pub needs: &'static [Information],
    /// Information that makes it surer or more exact.
    pub helps: &'static [Information],
    /// Numbers it holds facts against.
    pub thresholds: &'static [&'static Threshold],
    /// What would show that it is *not* this cause.
    pub counter_evidence: &'static [StaticText],
}

/// A cause that a rule finds in a job, before its impact is weighed.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Without ids and confidence; its impact decides whether it becomes a finding or a note.
    pub finding: Finding,
    /// What shows it; never empty.
    pub evidence: Vec<Evidence>,
    /// Strength of the evidence, 0..1, the input of the calibration.
    pub strength: f64,
    /// What saves its impact; `None` if that is unknown.
    pub fix: Option<Fix>,
}

/// Something a rule could not decide for lack of information.
#[derive(Debug, Clone)]
pub struct Undecided {
    /// What is missing.
    pub info: Information,
    /// Stage in question; `None` for the whole job.
    pub stage: Option<String>,
    /// Largest share of the run that could hide behind it, 0..1; 1 if even that is not known.
    pub share_at_stake: f64,
    /// Why it matters here.
    pub reason: String,
}

/// What a rule made of a job.
#[derive(Debug, Clone, Default)]
pub struct Examination {
    /// Causes that it sees.
    pub candidates: Vec<Candidate>,
    /// What it could not decide.
    pub undecided: Vec<Undecided>,
    /// What cleared the cause, where it is neither seen nor open.
    pub cleared: Option<Text>,
    /// What it looked at.
    pub evidence: Vec<Evidence>,
}

/// Names one cause, or clears it, or abstains.
pub trait Rule: Sync {
    /// What it looks for and needs.
    fn about(&self) -> &About;

    /// Looks for its cause in a job.
    fn examine(&self, view: &View<'_>) -> Examination;
}
