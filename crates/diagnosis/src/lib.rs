//! Turns a [`job::Job`] into evidence, findings, impact and verified suggestions, in the types of
//! the report. Pure: it opens no file, asks no LLM and prints nothing.
//!
//! [`diagnose`] examines the job with every rule, weighs what each finds by replaying the run
//! without it, and names what is missing where a rule cannot decide.

mod calibration;
mod completeness;
mod diagnosis;
mod facts;
#[cfg(test)]
mod fixture;
mod flow;
pub mod impact;
mod measurements;
mod rewrite;
mod rule;
mod rules;
mod settings;
mod suggest;
mod uneven;
mod view;
mod weigh;

use job::info::Information;
use job::{Catalogue, Job};

use crate::diagnosis::Numbering;
use report::{Cause, Language, RuleOutcome, RuleResult, Text, Verdict, text};

pub use diagnosis::{Completeness, Diagnosis, Missing, Suggested};
pub use rule::{About, Candidate, Examination, Rule, Undecided};
pub use rules::{rules, thresholds};
pub use settings::{FILES_PER_ROUND, MIN_RELEVANCE, MIN_SHARE, Settings, SettingsError, Threshold};
pub use suggest::verify_script;
pub use uneven::{HotValue, Uneven};
pub use view::View;

/// Examines a job with every rule; sentences are in `language`.
pub fn diagnose(
    job: &Job,
    catalogue: &Catalogue,
    settings: &Settings,
    language: Language,
) -> Diagnosis {
    let mut view = View::new(job, settings, language);
    view.uneven = measurements::skew::find(&view);
    let examined: Vec<(Cause, Examination)> = rules()
        .iter()
        .map(|r| (r.about().cause, examine(*r, &view)))
        .collect();
    let weighed = weigh::weigh(&examined, settings, failure(&view).as_ref());
    let (completeness, missing) =
        completeness::assess(job, catalogue, settings, &examined, &weighed.findings);
    let suggestions = suggest::suggest(&view, &weighed.findings);
    let fired: Vec<Cause> = weighed.findings.iter().map(|c| c.finding.cause).collect();
    let mut numbering = Numbering::default();
    let findings = numbering.findings("F", weighed.findings);
    let notes = numbering.findings("N", weighed.notes);
    Diagnosis {
        verdict: verdict(&fired, &examined, settings),
        findings,
        notes,
        rules: examined
            .into_iter()
            .map(|(cause, e)| outcome(cause, e, &fired, &view, &mut numbering))
            .collect(),
        evidence: numbering.evidence,
        suggestions,
        completeness,
        missing,
    }
}

/// Runs a rule; without the stage graph those that need it abstain, whatever the counters alone
/// may look like.
fn examine(rule: &dyn Rule, view: &View<'_>) -> Examination {
    let mut examined = rule.examine(view);
    let needs = rule.about().needs.contains(&Information::StageGraph);
    if needs && !view.has_graph() && !view.failed() {
        examined.candidates.clear();
        let reason = text!(
            "没有阶段与算子的定义，不知道数据如何流动",
            "without the definitions of stages and operators, the flow of the data is unknown",
        );
        examined.lacks(Information::StageGraph, view, None, reason);
    }
    examined
}

/// How a failed job failed; `None` if it did not.
fn failure(view: &View<'_>) -> Option<weigh::Failure> {
    use measurements::failure;
    view.failed().then(|| weigh::Failure {
        on_limit: failure::hit_limit(view),
        stage: failure::stage_of(view, view.job.errors.first()).map(|s| view.name(s).to_owned()),
    })
}

/// A problem if anything was found; healthy if nothing that matters is undecided.
fn verdict(fired: &[Cause], examined: &[(Cause, Examination)], settings: &Settings) -> Verdict {
    if !fired.is_empty() {
        Verdict::Problem
    } else if examined.iter().any(|(_, e)| matters(e, settings)) {
        Verdict::InsufficientInformation
    } else {
        Verdict::Healthy
    }
}

/// Whether what a rule could not decide could cost a share that matters.
fn matters(examination: &Examination, settings: &Settings) -> bool {
    let least = settings.get(&MIN_SHARE);
    let mut undecided = examination.undecided.iter();
    undecided.any(|u| u.share_at_stake >= least)
}

fn outcome(
    cause: Cause,
    e: Examination,
    fired: &[Cause],
    view: &View<'_>,
    numbering: &mut Numbering,
) -> RuleOutcome {
    let findings = fired.iter().filter(|f| **f == cause).count();
    let mut lacking = Vec::new();
    let (outcome, text) = if findings > 0 {
        (RuleResult::Fired, findings.to_string())
    } else if matters(&e, view.settings) {
        lacking = e
            .undecided
            .iter()
            .map(|u| u.info.code().to_owned())
            .collect();
        lacking.sort_unstable();
        lacking.dedup();
        (RuleResult::Abstained, lacking.join(", "))
    } else {
        (RuleResult::Cleared, cleared_by(&e).into(view.language))
    };
    let seen = e.candidates.into_iter().flat_map(|c| c.evidence);
    RuleOutcome {
        cause,
        outcome,
        by: None,
        text,
        lacking,
        evidence: numbering.ids(e.evidence.into_iter().chain(seen)),
    }
}

/// Why a rule did not fire: its own reason, or that what it found costs too little or follows from
/// another finding.
fn cleared_by(e: &Examination) -> Text {
    if let Some(reason) = &e.cleared {
        return reason.clone();
    }
    match e.candidates.first() {
        Some(c) => text!(
            "影响太小或由其他原因引起：{summary}",
            "costs too little, or follows from another cause: {summary}",
            summary = c.finding.summary,
        ),
        None => text!(
            "未能判断的部分影响太小",
            "what is undecided would cost almost nothing",
        ),
    }
}
