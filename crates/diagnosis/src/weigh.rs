//! Turns candidates into findings and notes: candidates that follow from another cause are set
//! aside, the others are ranked by their cost.

use crate::calibration::confidence;
use crate::impact::Fix;
use crate::rule::{Candidate, Examination, Undecided, severity};
use crate::settings::{LEAST_SECONDS, MIN_SHARE, Settings};
use crate::view::View;
use job::info::Information;
use report::format::{FewNames, Share};
use report::{Cause, Finding, Language, text};

/// Ranked findings; too small candidates are notes.
pub(crate) struct Weighed {
    pub(crate) findings: Vec<Candidate>,
    pub(crate) notes: Vec<Candidate>,
}

/// Weighs the candidates of all rules.
pub(crate) fn weigh(
    examined: &[Examination],
    settings: &Settings,
    failure: Option<&Failure>,
) -> Weighed {
    let candidates: Vec<&Candidate> = examined.iter().flat_map(|e| &e.candidates).collect();
    let least = settings.get(&MIN_SHARE);
    let large: Vec<&Candidate> = candidates
        .iter()
        .copied()
        .filter(|c| matters(c, least))
        .collect();
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let mut weighed = candidate.clone();
        let finding = &mut weighed.finding;
        finding.confidence = confidence(candidate.strength, share(finding)) * candidate.certainty;
        let answers = failure.is_none_or(|failure| explains(finding, failure));
        if answers && matters(candidate, least) && !follows(candidate, &large) {
            findings.push(weighed);
        } else {
            notes.push(weighed);
        }
    }
    let mut undecided = examined.iter().flat_map(|e| &e.undecided);
    let is_open = undecided.any(|u| u.share_at_stake >= least);
    if is_open || findings.iter().any(|c| !c.by_chance) {
        notes.extend(findings.extract_if(.., |c| c.by_chance));
    }
    findings.sort_by(rank);
    keep_best_of_each_cause(&mut findings, &mut notes);
    notes.sort_by(rank);
    Weighed { findings, notes }
}

/// Unites candidates of one cause in several stages if fixing all of them saves a relevant share: those that cost seconds, or all
/// if each is small. The costliest place represents all of them.
pub(crate) fn unite(e: &mut Examination, view: &View<'_>) {
    let least = view.limit(&MIN_SHARE);
    let (mut united, mut rest) = (std::mem::take(&mut e.candidates), Vec::new());
    if united.iter().any(|c| matters(c, least)) {
        (united, rest) = united
            .into_iter()
            .partition(|c| c.fix.is_some() && !is_slight(c));
    }
    unite_all(&mut united, view);
    united.append(&mut rest);
    e.candidates = united;
}

fn unite_all(candidates: &mut [Candidate], view: &View<'_>) {
    if candidates.len() < 2 {
        return;
    }
    let least = view.limit(&MIN_SHARE);
    let fixes: Vec<Fix> = candidates.iter().filter_map(|c| c.fix.clone()).collect();
    let all = view.saved(move |stages| fixes.iter().for_each(|fix| fix.apply(stages)));
    let least = least / error(candidates[0].finding.cause);
    let Some(all) = all.filter(|all| all.share >= least) else {
        return;
    };
    candidates.sort_by(rank);
    let others = candidates[1..]
        .iter()
        .filter_map(|c| c.finding.stage.clone());
    let others: Vec<String> = others.collect();
    let first = &mut candidates[0];
    let finding = &mut first.finding;
    finding.severity = severity(Some(all.share), false);
    finding.summary = text!(
        "{summary}；同样的问题还在 {others}",
        "{summary}; the same kind of problem is in {others}",
        summary = finding.summary,
        others = FewNames(&others),
    )
    .into(view.language);
    if let Some(impact) = &mut finding.impact {
        impact.seconds_saved = all.seconds;
        impact.share_of_elapsed = Some(all.share);
    }
    first.at_most = all.share;
    first.fix = Some(all.fix);
}

/// Error factor of an estimated saving: the median error on simulated jobs with a fix that gives the scheduler other vertices
/// to run. A candidate within this error of the limit still counts as relevant.
fn error(cause: Cause) -> f64 {
    match cause {
        Cause::SmallFiles | Cause::TinyVertices => 1.4,
        _ => 1.0,
    }
}

/// Whether a candidate costs a relevant share, or could cost one if its share is unknown.
fn matters(candidate: &Candidate, least: f64) -> bool {
    let least = least / error(candidate.finding.cause);
    let share = share(&candidate.finding).unwrap_or(candidate.at_most);
    share >= least && !is_slight(candidate)
}

/// Whether a candidate is known to cost hardly any time.
fn is_slight(candidate: &Candidate) -> bool {
    let impact = candidate.finding.impact.as_ref();
    impact.is_some_and(|i| i.share_of_elapsed.is_some() && i.seconds_saved < LEAST_SECONDS)
}

/// Candidates with an estimated share below the limit, and a possible share above
/// it.
pub(crate) fn open(
    e: &Examination,
    settings: &Settings,
    language: Language,
) -> impl Iterator<Item = Undecided> {
    let least = settings.get(&MIN_SHARE);
    let open = move |c: &&Candidate| !matters(c, least) && c.at_most >= least && !is_slight(c);
    e.candidates.iter().filter(open).map(move |c| Undecided {
        info: Information::VertexEvents,
        stage: c.finding.stage.clone(),
        share_at_stake: c.at_most,
        reason: text!(
            "{summary}；没有各顶点的时间，无法排除它最多占到 {share}",
            "{summary}; without the times of the vertices it could be up to {share}",
            summary = c.finding.summary,
            share = Share(c.at_most),
        )
        .into(language),
    })
}

/// Kind and place of a job's failure.
pub(crate) struct Failure {
    pub(crate) on_limit: bool,
    pub(crate) stage: Option<String>,
}

/// Whether a cause can be the reason of a failure: the failure itself, and causes that drive a stage into a
/// limit. Other causes only slow the job down, and the run of a failed job does not measure them.
fn explains(finding: &Finding, failure: &Failure) -> bool {
    use Cause::*;
    match finding.cause {
        ExecutorLost | BroadcastTooLarge => true,
        JoinHotKey | GroupHotKey | NullOrDefaultKey | LowCardinalityKey | PartitionLayout => {
            failure.on_limit
        }
        JoinExplosion | CpuBoundUdo => failure.on_limit && finding.stage == failure.stage,
        cause => is_failure(cause),
    }
}

/// Share of the run; `None` if unknown, as in a failed job.
fn share(finding: &Finding) -> Option<f64> {
    finding.impact.as_ref().and_then(|i| i.share_of_elapsed)
}

/// Causes that a cause can follow from in the same stage: it needs no fix once the origin is fixed.
fn origins(cause: Cause) -> &'static [Cause] {
    use Cause::*;
    match cause {
        Spill => &[Misestimate, ParallelismTooLow, SerialGather, JoinExplosion],
        ParallelismTooLow => &[Misestimate, SerialGather, RedundantRepartition],
        Misestimate | RedundantRepartition => &[MissedBroadcast],
        TinyVertices => &[SmallFiles],
        VertexRetries => &[MemoryEstimateTooLow, ExecutorLost],
        DriverBottleneck => &[BroadcastTooLarge],
        QueueWait => &[ExecutorLost],
        OverAllocation => &[
            ParallelismTooLow,
            SerialGather,
            JoinHotKey,
            GroupHotKey,
            NullOrDefaultKey,
            LowCardinalityKey,
            PartitionLayout,
            SlowMachine,
            DriverBottleneck,
            BroadcastTooLarge,
            IdleSlots,
            UnexplainedStraggler,
        ],
        UnderAllocation => &[
            TinyVertices,
            SlowMachine,
            MissedBroadcast,
            RedundantRepartition,
            UnusedColumns,
            LateFilter,
            CpuBoundUdo,
            JoinExplosion,
            IneffectiveCache,
            SmallFiles,
            Spill,
            HeapPressure,
            VertexRetries,
        ],
        _ => &[],
    }
}

/// Whether a larger finding in the same stage, or one that names no other, explains this one.
fn follows(candidate: &Candidate, all: &[&Candidate]) -> bool {
    let finding = &candidate.finding;
    let from = origins(finding.cause);
    !candidate.independent
        && all.iter().any(|other| {
            let other = &other.finding;
            from.contains(&other.cause)
                && (other.stage == finding.stage || finding.stage.is_none())
                && share(other).unwrap_or(1.0) >= share(finding).unwrap_or(0.0) * 0.5
        })
}

/// Whether a candidate costs no time itself, and follows from a candidate that does.
pub(crate) fn wastes_for(candidate: &Candidate, all: &[&Candidate]) -> bool {
    let impact = candidate.finding.impact.as_ref();
    let only_wastes = impact.is_some_and(|i| i.seconds_saved == 0.0);
    only_wastes && follows(candidate, all)
}

/// The finding that a cause in a stage follows from, directly or through others.
pub(crate) fn origin<'a>(
    cause: Cause,
    stage: Option<&str>,
    findings: &'a [Finding],
) -> Option<&'a Finding> {
    let from = origins(cause);
    let here = |f: &&Finding| from.contains(&f.cause) && f.stage.as_deref() == stage;
    let through = || from.iter().find_map(|c| origin(*c, stage, findings));
    findings.iter().find(here).or_else(through)
}

/// Failures first, then by seconds saved. Unknown savings follow, by the strength of the
/// evidence times the share at stake. Ties keep the sequence of the contract.
pub(crate) fn rank(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    let failure = |c: &Candidate| is_failure(c.finding.cause);
    let saved = |c: &Candidate| c.finding.impact.as_ref().map_or(0.0, |i| i.seconds_saved);
    let weight = |c: &Candidate| c.strength * c.at_most;
    failure(b)
        .cmp(&failure(a))
        .then(a.buys_capacity().cmp(&b.buys_capacity()))
        .then(saved(b).total_cmp(&saved(a)))
        .then(weight(b).total_cmp(&weight(a)))
        .then(a.finding.cause.cmp(&b.finding.cause))
}

/// Whether a cause is the failure of the job itself.
pub(crate) fn is_failure(cause: Cause) -> bool {
    let first = Cause::UserCodeFailure;
    (first..=Cause::ExternalFailure).contains(&cause)
}

/// A cause in several stages is one finding, in the stage with the largest cost; the
/// others are notes.
fn keep_best_of_each_cause(findings: &mut Vec<Candidate>, notes: &mut Vec<Candidate>) {
    let mut seen: Vec<Cause> = Vec::new();
    notes.extend(findings.extract_if(.., |c| {
        let again = seen.contains(&c.finding.cause);
        seen.push(c.finding.cause);
        again
    }));
}
