//! Rules: a cause, the information it needs, the evidence against it, and the examination of a job.
//!
//! A rule does not decide whether its candidate matters; impact, confidence and ranking are the
//! same code for all rules.

use job::info::Information;

use crate::impact::Fix;
use crate::settings::Threshold;
use crate::view::View;
use report::{Cause, Evidence, Finding, Severity, StaticText, Text};

/// A rule, which names one cause, or clears it, or abstains.
#[derive(Debug)]
pub struct Rule {
    pub cause: Cause,
    /// Description of the cause.
    pub what: StaticText,
    /// Required information; without it, the rule abstains.
    pub needs: &'static [Information],
    /// Information that makes the rule more certain or more exact.
    pub helps: &'static [Information],
    /// Thresholds that the rule compares facts with.
    pub thresholds: &'static [&'static Threshold],
    /// Observations that would rule out this cause.
    pub counter_evidence: &'static [StaticText],
    /// The sentence about all places within the limits; empty if it has numbers.
    pub(crate) cleared: &'static [StaticText],
    /// Looks for the cause in a job.
    pub(crate) examine: fn(&View<'_>, &mut Examination),
}

/// A cause that a rule finds in a job, before its impact is weighed.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The finding without ids and confidence. Its impact decides whether it becomes a finding or a note.
    pub finding: Finding,
    /// Evidence of the cause; never empty.
    pub evidence: Vec<Evidence>,
    /// Strength of the evidence, 0..1, the input of the calibration.
    pub strength: f64,
    /// Probability that all unchecked alternative explanations are wrong, 0..1.
    pub certainty: f64,
    /// Largest possible share of the run, 0..1, given the missing information.
    pub at_most: f64,
    /// The fix that saves the impact; `None` if unknown.
    pub fix: Option<Fix>,
    /// Whether the cause is chance, absent from another run: a finding only if no other cause is found or open.
    pub by_chance: bool,
    /// Whether it remains with every other finding fixed.
    pub independent: bool,
}

impl Candidate {
    /// A candidate of unknown cost, certain by itself.
    pub(crate) fn new(
        view: &View<'_>,
        cause: Cause,
        stage: Option<usize>,
        summary: Text,
        evidence: Vec<Evidence>,
    ) -> Candidate {
        let finding = Finding {
            id: String::new(),
            cause,
            problem_type: cause.problem_type(),
            severity: severity(None, view.failed()),
            confidence: 0.0,
            stage: stage.map(|s| view.name(s).to_owned()),
            script_lines: None,
            summary: summary.into(view.language),
            evidence: Vec::new(),
            impact: None,
        };
        Candidate {
            finding,
            evidence,
            strength: 0.0,
            certainty: 1.0,
            at_most: 1.0,
            fix: None,
            by_chance: false,
            independent: false,
        }
    }

    /// Whether the fix costs more capacity. Such findings come after the ones that remove needless work or waiting.
    pub(crate) fn buys_capacity(&self) -> bool {
        matches!(self.fix, Some(Fix::Tokens(_)))
    }
}

/// Severity by the share of the run: half of it, a fifth, a twentieth. A failure is
/// critical; an unknown cost counts as medium.
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

/// A place that a rule could not decide for lack of information.
#[derive(Debug, Clone)]
pub struct Undecided {
    pub info: Information,
    /// Stage in question; `None` for the whole job.
    pub stage: Option<String>,
    /// Largest share of the run that the cause could have here, 0..1; 1 if unknown.
    pub share_at_stake: f64,
    /// Why the information matters for this place.
    pub reason: String,
}

/// A measured place that is closest to the limit of a rule without being over it.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Measured value over the rule's limit.
    pub of_limit: f64,
    /// The measurement; empty if the plan decided without one.
    pub evidence: Vec<Evidence>,
}

/// Result of a rule on a job: each examined place is over the limits (candidate), within them, attributed to
/// another cause, or undecided. Without any place the cause does not apply to the job.
#[derive(Debug, Clone)]
pub struct Examination {
    pub cause: Cause,
    /// Places over the limits.
    pub candidates: Vec<Candidate>,
    pub undecided: Vec<Undecided>,
    /// Places over the limits because of another cause: that cause and the stage.
    pub attributed: Vec<(Cause, Option<String>)>,
    /// Number of places within the limits, and the one closest to them.
    pub in_order: usize,
    pub closest: Option<Reading>,
    /// One sentence about all places within the limits.
    pub cleared: Option<Text>,
}

/// Places kept of each kind; the report names the costliest place of each cause.
const MOST_PLACES: usize = 300;

impl Examination {
    pub(crate) fn of(rule: &Rule) -> Examination {
        Examination {
            cause: rule.cause,
            candidates: Vec::new(),
            undecided: Vec::new(),
            attributed: Vec::new(),
            in_order: 0,
            closest: None,
            cleared: rule.cleared.first().copied().map(Text::from),
        }
    }

    /// Limits the number of places; the potentially costliest are kept.
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
