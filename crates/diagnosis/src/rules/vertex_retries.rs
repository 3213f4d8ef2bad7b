//! Rule for `failure.vertex_retries`: failed, revoked or duplicated vertices waste a large share
//! of the work.

use std::cmp::Reverse;

use super::support::{Symptom, lacks, rule};
use crate::facts::fact;
use crate::impact::{Basis, drop_waste};
use crate::measurements::load;
use crate::measurements::retries::{MIN_COUNT, Waste, evidence, memory_failures, repeats, waste};
use crate::rule::Examination;
use crate::settings::MIN_SHARE;
use crate::view::View;
use report::format::{ATTEMPT, Names, STAGE, Seconds, Share, VERTEX};
use report::{Cause, Evidence, Text, text};

/// Probability of another reason than memory for lost attempts, if no file has the reasons.
const WITHOUT_REASONS: f64 = 0.45;

/// Number of stages with lost attempts in the evidence.
const MOST_STAGES: usize = 3;

rule! { RULE = VertexRetries, examine;
    "失败、被收回或重复执行的顶点浪费了大量工作", "failed, revoked or duplicated vertices waste a large share of the work";
    needs VertexEvents;
    helps StageStatistics;
    thresholds MIN_COUNT;
    unless "只有个别失败", "only single failures";
    unless "失败由内存估计过低引起（见 memory.estimate_too_low）", "the failures are due to memory (see memory.estimate_too_low)";
    unless "重试不在关键路径上", "the retries do not delay the run";
    cleared "失败与被收回的顶点很少", "few vertices failed or were revoked";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let local = super::is_local(view);
    let mut wasted: Vec<(usize, Waste)> = Vec::new();
    for stage in (0..view.job.stages.len()).filter(|_| !view.failed() && !local) {
        match waste(view, stage) {
            Some(_) if memory_failures(view, stage).is_some() => {
                result.attributed(view, Cause::MemoryEstimateTooLow, stage);
            }
            Some(waste) => wasted.push((stage, waste)),
            None => lacking(view, stage, result),
        }
    }
    let (lost, in_order): (Vec<_>, Vec<_>) =
        wasted.into_iter().partition(|(_, w)| w.attempts > 0.0);
    for (stage, waste) in in_order {
        result.under(0.0, || evidence(view, stage, &waste));
    }
    if !lost.is_empty() {
        examine_lost(view, lost, result);
    }
}

/// Abstains on a stage without a count of attempts.
pub(super) fn lacking(view: &View<'_>, stage: usize, result: &mut Examination) {
    lacks! { result, view, VertexEvents, Some(stage);
    "没有文件说明 {stage} 的哪些顶点失败或被收回", "no file records which vertices of {stage} failed or were revoked", stage = view.name(stage) }
}

/// Lost attempts: many, or several of one task, have a reason; a few are chance, even if they are costly.
fn examine_lost(view: &View<'_>, lost: Vec<(usize, Waste)>, result: &mut Examination) {
    let waste = || lost.iter().map(|(_, waste)| *waste);
    let total = waste().fold(Waste::default(), Waste::plus);
    let many = total.matters(view)
        || waste().any(|w| w.matters(view))
        || lost.iter().any(|(stage, _)| repeats(view, *stage));
    let seen = |(stage, _): &(usize, Waste)| view.job.stages[*stage].runs.is_some();
    let all_seen = lost.iter().all(seen);
    // the delay by a few lost attempts is only known with events of every attempt
    let traced = |(stage, _): &(usize, Waste)| view.basis(*stage) == Basis::Events;
    let all_traced = lost.iter().all(traced);
    let symptom = symptom(view, lost, total);
    let costs = symptom
        .saved
        .as_ref()
        .is_some_and(|s| s.share >= view.limit(&MIN_SHARE));
    match (many, all_seen) {
        (true, true) => result.found(view, symptom),
        (true, false) => result.suspected(view, symptom, WITHOUT_REASONS),
        (false, true) if costs && all_traced => result.by_chance(view, symptom),
        (false, true) if costs => symptom
            .stage
            .into_iter()
            .for_each(|s| lacking(view, s, result)),
        (false, _) => {
            let of_limit = total.attempts / view.limit(&MIN_COUNT);
            result.under(of_limit.min(0.99), || symptom.evidence);
        }
    }
}

/// Lost attempts in several stages, represented by the costliest stage.
fn symptom(view: &View<'_>, mut lost: Vec<(usize, Waste)>, total: Waste) -> Symptom {
    let alone = |stage| view.saved_in(stage, drop_waste).map_or(0.0, |s| s.seconds);
    lost.sort_by_cached_key(|(stage, _)| Reverse((alone(*stage) * 1e3) as u64));
    let stages: Vec<usize> = lost.iter().map(|(stage, _)| *stage).collect();
    let names: Vec<&str> = stages.iter().map(|s| view.name(*s)).collect();
    let others = names.len().saturating_sub(MOST_STAGES);
    let names = Names(&names[..names.len() - others]);
    let shown = match others {
        0 => text!("{names}", "{names}", names = names),
        _ => text!(
            "{names} 和其他 {others}",
            "{names} and {others} more",
            names = names,
            others = STAGE.count(others as f64)
        ),
    };
    let costliest = lost.iter().take(MOST_STAGES);
    let aborted = aborted(view);
    Symptom {
        stage: stages.first().copied(),
        lines: stages.first().and_then(|s| load::lines(view, *s)),
        summary: text!(
            "{stages}（{vertices}）有 {attempts}失败或被收回，浪费 {time}（有效时间的 {share}）{aborted}",
            "{stages} ({vertices}) lost {attempts} to failures or revocation, wasting {time} of work ({share} of the useful time){aborted}",
            stages = shown,
            aborted = aborted
                .as_ref()
                .map_or_else(Text::default, |(then, _)| then.clone()),
            attempts = ATTEMPT.count(total.attempts),
            time = Seconds(total.seconds),
            share = Share(total.share()),
            vertices = VERTEX.count(total.vertices)
        ),
        evidence: costliest
            .flat_map(|(stage, waste)| evidence(view, *stage, waste))
            .chain(aborted.map(|(_, evidence)| evidence))
            .collect(),
        saved: view.saved(move |work| stages.iter().for_each(|s| drop_waste(&mut work[*s]))),
        method: "schedule replayed without the lost attempts",
        strength: 0.6 + 0.4 * total.share().min(1.0),
    }
}

/// A job that Spark gave up, although the application went on: the end of a sentence, and its evidence.
fn aborted(view: &View<'_>) -> Option<(Text, Evidence)> {
    let app = view.job.spark.as_deref()?;
    let job = app.jobs.iter().find(|job| job.succeeded == Some(false))?;
    let id = job.id.to_string();
    let then = text!(
        "；作业 {id} 因此中止",
        "; job {id} was aborted",
        id = id.clone()
    );
    let evidence = fact! { view, "Job Result", "JobFailed", app.at_line(job.line);
    "作业 {id} 的结果是 JobFailed", "the result of job {id} is JobFailed" };
    Some((then, evidence))
}
