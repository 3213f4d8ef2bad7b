//! The script lines of a finding, where its rule knows no statement: by the cause, from the operators and call sites of
//! its stage.

use std::collections::BTreeMap;

use job::Job;
use job::code::{Part, Place};
use job::link::Lines;

use crate::rewrite::spark::hints;
use crate::view::View;
use report::{Cause, Finding};

/// Adds the script lines of an application's finding. A cause outside the code has none.
pub(crate) fn complete(view: &View<'_>, finding: &mut Finding) {
    if view.job.program().is_none() {
        return;
    }
    let stage = finding.stage.as_deref();
    let stage = stage.and_then(|name| view.job.stage_index(name));
    if is_outside(finding.cause) {
        finding.script_lines = None;
    } else if let Some(place) = stage.and_then(|stage| certain(view.job, finding.cause, stage)) {
        finding.script_lines = view.job.lines_of(&place).map(Into::into);
    } else if finding.script_lines.is_none() || finding.cause == Cause::UserCodeFailure {
        finding.script_lines = lines(view, finding.cause, stage);
    }
}

/// The piece of the program that a stage's keys or its number of tasks name.
pub(crate) fn certain(job: &Job, cause: Cause, stage: usize) -> Option<Place> {
    match cause {
        Cause::JoinHotKey
        | Cause::GroupHotKey
        | Cause::NullOrDefaultKey
        | Cause::LowCardinalityKey => job.place_by_keys(stage),
        Cause::TinyVertices | Cause::ParallelismTooLow => job.place_of_count(stage),
        Cause::RedundantRepartition => job.place_asked_for(stage),
        _ => None,
    }
}

/// First and last line of the statement behind a cause in a stage.
pub(crate) fn lines(view: &View<'_>, cause: Cause, stage: Option<usize>) -> Option<[u32; 2]> {
    let found = match (view.job.program(), cause) {
        (None, _) => view
            .lines(stage?, 0)
            .map(|(first, last)| Lines { first, last }),
        (Some(_), Cause::DriverBottleneck) => action_before_gaps(view),
        (Some(program), Cause::IneffectiveCache) => {
            let statement = program.statements.get(view.job.shared_statement()?)?;
            Some(program.lines(&statement.span))
        }
        (Some(_), Cause::UserCodeFailure) if frame(view).is_some() => frame(view),
        (Some(program), Cause::BroadcastTooLarge) if stage.is_none() => {
            let hint = hints::no_broadcast(program)?.edits.pop()?;
            Some(program.lines(&hint.span))
        }
        (Some(_), _) => {
            let (job, stage, parts) = (view.job, stage?, parts(cause).iter());
            let named = parts.clone().find_map(|part| job.place_in(stage, *part));
            let place = named
                .or_else(|| {
                    parts
                        .clone()
                        .find_map(|part| job.place_needed(stage, *part))
                })
                .or_else(|| {
                    job.place_of_action(stage)
                        .filter(|_| cause == Cause::UserCodeFailure)
                });
            job.lines_of(&place?)
        }
    };
    found.map(Into::into)
}

/// Causes in the cluster or its settings, not in the code.
fn is_outside(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::SlowMachine
            | Cause::QueueWait
            | Cause::OverAllocation
            | Cause::UnderAllocation
            | Cause::IdleSlots
            | Cause::OverProvisionedMemory
            | Cause::UnexplainedStraggler
    )
}

/// The parts of a program that may have a cause, most probable first.
fn parts(cause: Cause) -> &'static [Part] {
    use Part as P;
    match cause {
        Cause::JoinHotKey
        | Cause::MissedBroadcast
        | Cause::JoinExplosion
        | Cause::BroadcastTooLarge => &[P::Join],
        Cause::GroupHotKey => &[P::Aggregate, P::Window, P::UserCode, P::Partitioning],
        Cause::NullOrDefaultKey | Cause::LowCardinalityKey => &[
            P::Join,
            P::Aggregate,
            P::Window,
            P::UserCode,
            P::Partitioning,
        ],
        Cause::RedundantRepartition => &[P::Partitioning],
        Cause::SerialGather => &[P::Gather, P::Sort],
        Cause::CpuBoundUdo | Cause::UserCodeFailure => &[P::UserCode],
        Cause::TinyVertices => &[P::Partitioning, P::Aggregate, P::Join, P::Window, P::Read],
        Cause::PartitionLayout | Cause::SmallFiles | Cause::ScanWithoutFilter => &[P::Read],
        Cause::ParallelismTooLow => &[P::Partitioning, P::Read, P::Aggregate, P::Window, P::Join],
        Cause::Spill
        | Cause::HeapPressure
        | Cause::MemoryEstimateTooLow
        | Cause::LimitFailure
        | Cause::ExecutorLost => &[P::UserCode, P::Window, P::Aggregate, P::Join, P::Sort],
        Cause::LateFilter => &[P::Filter],
        Cause::CostlyExpression => &[P::Expression, P::Filter],
        Cause::CommitOnDriver => &[P::Write],
        _ => &[],
    }
}

/// The action after whose jobs the driver takes most time until it submits the next.
fn action_before_gaps(view: &View<'_>) -> Option<Lines> {
    let app = view.job.spark.as_deref()?;
    let next = app.jobs.iter().skip(1).map(|job| Some(job.submitted_ms));
    let next = next.chain([view.job.info.ended_ms]);
    let mut waits: BTreeMap<&str, i64> = BTreeMap::new();
    for (job, next) in app.jobs.iter().zip(next) {
        let site = job.call_site.as_deref();
        if let (Some(site), Some(ended), Some(next)) = (site, job.ended_ms, next) {
            *waits.entry(site).or_default() += (next - ended).max(0);
        }
    }
    waits.retain(|site, _| view.job.lines_at(site).is_some());
    let (site, _) = waits.into_iter().max_by_key(|(_, ms)| *ms)?;
    view.job.lines_at(site)
}

/// The line of the program that threw, by the error's stack.
fn frame(view: &View<'_>) -> Option<Lines> {
    let frame = view.failure()?.error?.frame.as_deref()?;
    let (place, function) = frame.split_once(" in ")?;
    view.job.lines_at(&format!("{function} at {place}"))
}
