//! Turns a [`job::Job`] into facts, findings, impact and verified suggestions. Pure: it opens no
//! file, asks no LLM and prints nothing.
//!
//! [`diagnose`] examines the job with every rule, weighs what each sees by replaying the run
//! without it, and says what is missing where a rule cannot decide.

mod calibration;
mod completeness;
mod facts;
#[cfg(test)]
mod fixture;
mod flow;
pub mod impact;
pub mod model;
mod rewrite;
mod rule;
mod rules;
mod settings;
mod signs;
pub mod suggest;
mod uneven;
mod view;
mod weigh;

use job::info::Information;
use job::{Catalogue, Job};

use crate::model::{Cause, Diagnosis, Finding, Outcome, RuleOutcome, Text, Verdict};

pub use rule::{About, Candidate, Examination, Rule, StaticText, Undecided};
pub use rules::{rules, thresholds};
pub use settings::{FILES_PER_ROUND, MIN_RELEVANCE, MIN_SHARE, Settings, SettingsError, Threshold};
pub use suggest::verify_script;
pub use uneven::{HotValue, Uneven};
pub use view::View;

/// Examines a job with every rule.
pub fn diagnose(job: &Job, catalogue: &Catalogue, settings: &Settings) -> Diagnosis {
    let mut view = View::new(job, settings);
    view.uneven = signs::skew::find(&view);
    let examined: Vec<(Cause, Examination)> = rules()
        .iter()
        .map(|r| (r.about().cause, examine(*r, &view)))
        .collect();
    let weighed = weigh::weigh(&examined, settings, failure(&view).as_ref());
    let completeness = completeness::assess(job, catalogue, settings, &examined, &weighed.findings);
    Diagnosis {
        verdict: verdict(&weighed.findings, &examined, settings),
        rules: examined
            .iter()
            .map(|(cause, e)| outcome(*cause, e, &weighed.findings, settings))
            .collect(),
        suggestions: suggest::suggest(job, &weighed.findings),
        findings: weighed.findings,
        notes: weighed.notes,
        completeness,
    }
}

/// Lets a rule look at the job; without the stage graph those that need it abstain, whatever the
/// counters alone may look like.
fn examine(rule: &dyn Rule, view: &View<'_>) -> Examination {
    let mut examined = rule.examine(view);
    let needs = rule.about().needs.contains(&Information::StageGraph);
    if needs && !view.has_graph() && !view.failed() {
        examined.candidates.clear();
        let reason = facts::text(
            "没有 stage 与算子的定义，不知道数据如何流动",
            "without the definition of stages and operators it is not known how the data flows",
        );
        examined.lacks(Information::StageGraph, view, None, reason);
    }
    examined
}

/// What is known of the failure of a failed job.
fn failure(view: &View<'_>) -> Option<weigh::Failure> {
    let stage =
        signs::failure::stage_of(view, view.job.errors.first()).map(|s| view.name(s).to_owned());
    view.failed().then(|| weigh::Failure {
        on_limit: signs::failure::hit_limit(view),
        stage,
    })
}

/// Problem, if anything was found; healthy, if nothing that matters is undecided.
fn verdict(
    findings: &[Finding],
    examined: &[(Cause, Examination)],
    settings: &Settings,
) -> Verdict {
    if !findings.is_empty() {
        Verdict::Problem
    } else if examined.iter().any(|(_, e)| matters(e, settings)) {
        Verdict::InsufficientInformation
    } else {
        Verdict::Healthy
    }
}

/// Whether what a rule could not decide could cost a share that matters.
fn matters(examination: &Examination, settings: &Settings) -> bool {
    examination
        .undecided
        .iter()
        .any(|u| u.share_at_stake >= settings.get(&MIN_SHARE))
}

fn outcome(
    cause: Cause,
    e: &Examination,
    findings: &[Finding],
    settings: &Settings,
) -> RuleOutcome {
    let fired = findings.iter().filter(|f| f.cause == cause).count();
    let outcome = if fired > 0 {
        Outcome::Fired { findings: fired }
    } else if matters(e, settings) {
        let mut lacking: Vec<&'static str> = e.undecided.iter().map(|u| u.info.code()).collect();
        lacking.sort_unstable();
        lacking.dedup();
        Outcome::Abstained { lacking }
    } else {
        Outcome::Cleared { by: cleared_by(e) }
    };
    let mut facts = e.facts.clone();
    facts.extend(
        e.candidates
            .iter()
            .flat_map(|c| c.finding.evidence.iter().cloned()),
    );
    RuleOutcome {
        cause,
        outcome,
        facts,
    }
}

/// Why a rule did not fire: its own words, or that what it saw costs too little or follows from
/// another finding.
fn cleared_by(e: &Examination) -> Text {
    if let Some(by) = &e.cleared {
        return by.clone();
    }
    match e.candidates.first() {
        Some(c) => facts::text(
            format!("影响太小或由其他原因引起：{}", c.finding.summary.zh),
            format!(
                "costs too little, or follows from another cause: {}",
                c.finding.summary.en
            ),
        ),
        None => facts::text(
            "剩余的疑问影响太小",
            "what is undecided could cost next to nothing",
        ),
    }
}
