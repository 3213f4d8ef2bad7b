//! What a rule is: the cause it names, what it needs, what clears it, and its examination of a job.
//!
//! A rule does not decide whether its candidate matters; impact, confidence and ranking are the
//! same code for all rules.

use job::info::Information;

use crate::impact::Fix;
use crate::settings::Threshold;
use crate::view::View;
use report::{Cause, Evidence, Finding, Severity, StaticText, Text};

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
    /// Chance that none of the explanations that could not be checked is the true one, 0..1.
    pub certainty: f64,
    /// Largest share of the run that it could cost, given what is not known; 0..1.
    pub at_most: f64,
    /// What saves its impact; `None` if that is unknown.
    pub fix: Option<Fix>,
    /// Whether another run would not have it: a finding only if nothing else is found or open.
    pub by_chance: bool,
}

/// Severity by the share of the run: half of it, a fifth, a twentieth. What makes a job fail is
/// critical; what costs nobody knows how much is neither that nor negligible.
pub(crate) fn severity(share: Option<f64>, failed: bool) -> Severity {
    match share {
        None if failed => Severity::Critical,
        None => Severity::Medium,
        Some(s) if s >= 0.5 => Severity::Critical,
        Some(s) if s >= 0.2 => Severity::High,
        Some(s) if s >= 0.05 => Severity::Medium,
        Some(_) => Severity::Low,
    }
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

/// A measured place that is closest to the limit of a rule without being over it.
#[derive(Debug, Clone)]
pub struct Reading {
    /// What was measured over the limit that it is held against.
    pub of_limit: f64,
    /// The measurement; empty where the plan was looked at and there is nothing to measure.
    pub evidence: Vec<Evidence>,
}

/// What a rule made of a job: each place that it looked at is over its limits, in order, the doing
/// of another cause, or undecided. Without any place the cause does not apply to the job.
#[derive(Debug, Clone, Default)]
pub struct Examination {
    /// Places over the limits.
    pub candidates: Vec<Candidate>,
    /// What it could not decide.
    pub undecided: Vec<Undecided>,
    /// Places over the limits because of another cause: that cause and the stage.
    pub attributed: Vec<(Cause, Option<String>)>,
    /// Number of places in order, and the one closest to the limit.
    pub in_order: usize,
    pub closest: Option<Reading>,
    /// What the places in order have in common, in one sentence.
    pub cleared: Option<Text>,
}

/// Places kept of one kind that a rule looked at; the report names the costliest of each cause.
const MOST_PLACES: usize = 300;

impl Examination {
    /// Keeps the places that could cost most where there are very many.
    pub(crate) fn shorten(&mut self) {
        keep_largest(&mut self.candidates, |c| c.at_most);
        keep_largest(&mut self.undecided, |u| u.share_at_stake);
        self.attributed.truncate(MOST_PLACES);
    }
}

fn keep_largest<T>(places: &mut Vec<T>, share: impl Fn(&T) -> f64) {
    if places.len() > MOST_PLACES {
        places.sort_by(|a, b| share(b).total_cmp(&share(a)));
        places.truncate(MOST_PLACES);
    }
}

/// Names one cause, or clears it, or abstains.
pub trait Rule: Sync {
    /// What it looks for and needs.
    fn about(&self) -> &About;

    /// Looks for its cause in a job.
    fn examine(&self, view: &View<'_>) -> Examination;
}
