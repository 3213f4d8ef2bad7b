//! Turns a [`job::Job`] into evidence, findings and impact, in the types of the report. Pure: no files, no LLM, no output.
//!
//! [`diagnose`] examines the job with every rule, weighs each candidate by replaying the run
//! without it, and names the missing information for each undecided rule.

mod account;
mod alternatives;
#[doc(hidden)]
pub mod calibration;
mod completeness;
pub mod configuration;
mod diagnosis;
mod excess;
mod facts;
#[cfg(test)]
mod fixture;
pub mod impact;
mod inputs;
pub mod located;
pub mod measurements;
mod notable;
mod outcome;
mod properties;
mod rule;
mod rules;
mod scans;
mod settings;
mod uneven;
mod view;
mod vocabulary;
mod weigh;
pub mod whatif;
pub mod whence;

use std::collections::HashSet;

use job::info::Information;
use job::{Catalogue, Job};

use crate::account::Account;
use crate::diagnosis::Numbering;
use crate::impact::{Fix, RunModel};
use crate::whatif::{Repair, Unanswerable, WhatIf};
use report::{Language, text};

pub use diagnosis::{Completeness, Diagnosis, Missing, Suggested};
pub use excess::{EXPANDED, STEPS, USUAL_BATCHES};
pub use inputs::{InputReader, input_readers};
pub use notable::notable_values;
pub use rule::{Candidate, Examination, Reading, Rule, Undecided};
pub use rules::{RECOMPUTED, SAMPLED, rules, thresholds};
pub use settings::{FILES_PER_ROUND, MIN_RELEVANCE, MIN_SHARE, Settings, SettingsError, Threshold};
pub use uneven::{HotValue, Uneven};
pub use view::View;

/// Proposes changes for the findings of a job, in their sequence.
pub type Advise = fn(&View<'_>, &[Candidate]) -> Vec<Suggested>;

/// Examines a job with every rule; sentences are in `language`, suggestions come from `advise`.
pub fn diagnose(
    job: &Job,
    catalogue: &Catalogue,
    settings: &Settings,
    language: Language,
    advise: Advise,
) -> Diagnosis {
    conclude(job, catalogue, settings, language, advise).0
}

/// Diagnoses a job and models its run, so that the run can be replayed with changes.
pub fn what_if(
    job: &Job,
    catalogue: &Catalogue,
    settings: &Settings,
    language: Language,
    advise: Advise,
) -> (Diagnosis, Result<WhatIf, Unanswerable>) {
    let (diagnosis, run, fixes) = conclude(job, catalogue, settings, language, advise);
    let saved = |f: &report::Finding| f.impact.as_ref().map(|impact| impact.seconds_saved);
    let saved = diagnosis.findings.iter().map(saved);
    let repairs = fixes
        .into_iter()
        .zip(saved)
        .map(|(fix, seconds)| Repair { fix, seconds });
    let run = WhatIf::new(job, run, repairs.collect());
    (diagnosis, run)
}

/// The diagnosis, the model of the run, and the fix of each finding.
fn conclude(
    job: &Job,
    catalogue: &Catalogue,
    settings: &Settings,
    language: Language,
    advise: Advise,
) -> (Diagnosis, Option<RunModel>, Vec<Option<Fix>>) {
    let mut view = View::new(job, settings, language);
    let mut account = Account::of(&view);
    view.leave_out_shortages(account.as_ref().and_then(|a| a.short_s));
    view.uneven = measurements::skew::find(&view);
    let examined: Vec<Examination> = rules()
        .iter()
        .filter(|r| rules::applies(r.cause, job.engine()))
        .map(|r| examine(r, &view))
        .collect();
    let weighed = weigh::weigh(&examined, settings, failure(&view).as_ref());
    let mut claimed = account::claim(&view, weighed.findings, account.as_mut());
    if let Some(account) = &mut account {
        excess::claim(&view, account, &mut claimed, &examined);
    }
    let mut notes = weighed.notes;
    let explained = claimed.explained(&mut notes);
    for note in &mut notes {
        account::add_saving(&view, note);
    }
    for candidate in claimed.findings.iter_mut().chain(&mut notes) {
        located::complete(&view, &mut candidate.finding);
    }
    let gaps = outcome::gaps(&view, account.as_ref());
    let (completeness, missing) =
        completeness::assess(&view, catalogue, &examined, &gaps, &claimed.findings);
    let suggestions = advise(&view, &claimed.findings);
    let fixes = claimed.findings.iter().map(|c| c.fix.clone()).collect();
    let strengths = claimed.findings.iter().map(|c| c.strength).collect();
    let mut numbering = Numbering::default();
    let findings = numbering.findings("F", claimed.findings);
    let notes = numbering.findings("N", notes);
    let rules = outcome::outcomes(examined, &findings, &explained, &view, &mut numbering);
    let avoidable = claimed.avoidable_s;
    let mut diagnosis = Diagnosis {
        verdict: outcome::verdict(&findings, &rules, &gaps),
        time: account.map(|a| a.report(&view, &findings, avoidable, &mut numbering)),
        cost: account::cost(&view, claimed.fixed.as_deref()),
        findings,
        strengths,
        notes,
        rules,
        evidence: numbering.evidence,
        suggestions,
        completeness,
        missing,
    };
    if job.spark.is_some() {
        vocabulary::use_spark_words(&mut diagnosis, language);
    }
    (diagnosis, view.run, fixes)
}

/// Runs a rule. It abstains on stages with unknown operators if it needs them, even if the counters
/// alone seem to show the cause; and on candidates that may or may not cost a relevant
/// share.
fn examine(rule: &Rule, view: &View<'_>) -> Examination {
    let mut examined = Examination::of(rule);
    (rule.examine)(view, &mut examined);
    weigh::unite(&mut examined, view);
    let needs = rule.needs.contains(&Information::StageGraph);
    if needs && !view.failed() {
        let stages = &view.job.stages;
        let undefined = |s: &usize| !view.is_connected(*s);
        let reason = || {
            text!(
                "没有阶段与算子的定义，不知道数据如何流动",
                "without the definitions of stages and operators, the flow of the data is unknown",
            )
        };
        let open: Vec<usize> = (0..stages.len()).filter(undefined).collect();
        let names: HashSet<&str> = open.iter().map(|s| view.name(*s)).collect();
        let of_open =
            |stage: &Option<String>| stage.as_ref().is_some_and(|s| names.contains(s.as_str()));
        examined.candidates.retain(|c| !of_open(&c.finding.stage));
        if open.len() == stages.len() {
            examined.lacks(Information::StageGraph, view, None, reason());
        } else {
            for stage in open {
                examined.lacks(Information::StageGraph, view, Some(stage), reason());
            }
        }
    }
    let open: Vec<Undecided> = weigh::open(&examined, view.settings, view.language).collect();
    examined.undecided.extend(open);
    examined.shorten();
    examined
}

/// The failure of a job; `None` if it did not fail.
fn failure(view: &View<'_>) -> Option<weigh::Failure> {
    use measurements::failure;
    view.failed().then(|| weigh::Failure {
        on_limit: failure::hit_limit(view),
        stage: failure::stage_of(view, view.failure().and_then(|f| f.error))
            .map(|s| view.name(s).to_owned()),
    })
}
