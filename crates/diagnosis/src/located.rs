//! The script lines of a finding, where its rule knows no statement: by the cause, from the operators and call sites of
//! its stage.

use std::collections::BTreeMap;

use job::Job;
use job::code::{Part, Place, Program, Stream};
use job::link::Lines;
use job::model::{ExchangeKind, OperatorKind};

use crate::measurements::managed::takes_batches;
use crate::view::View;
use report::{Cause, Finding};
use rewrite::spark::{columns, hints};

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
    } else if let Some(lines) = stage.and_then(|stage| of_batches(view, finding.cause, stage)) {
        finding.script_lines = Some(lines.into());
    } else if finding.script_lines.is_none() || finding.cause == Cause::UserCodeFailure {
        finding.script_lines = lines(view, finding.cause, stage);
    }
}

/// The definition of a slow function of batches: its own code has to change, whereas a row-wise function is replaced where it
/// is called.
fn of_batches(view: &View<'_>, cause: Cause, stage: usize) -> Option<Lines> {
    let mut operators = view.job.stages[stage].operators.iter();
    if cause != Cause::CpuBoundUdo || !operators.any(|o| takes_batches(&o.class_name)) {
        return None;
    }
    let place = view.job.place_in(stage, Part::UserCode)?;
    let program = view.job.program()?;
    let function = program.function_named_by(program.calls.get(place.call?)?)?;
    Some(program.lines(&program.syntax.span(function)))
}

/// The piece of the program that a stage's keys or its number of tasks name.
pub fn certain(job: &Job, cause: Cause, stage: usize) -> Option<Place> {
    match cause {
        Cause::JoinHotKey | Cause::GroupHotKey | Cause::NullOrDefaultKey => {
            job.place_by_keys(stage)
        }
        Cause::LowCardinalityKey => job
            .place_asked_for(stage)
            .or_else(|| job.place_by_keys(stage)),
        Cause::TinyVertices | Cause::ParallelismTooLow => job
            .place_of_count(stage)
            .or_else(|| job.place_by_keys(stage)),
        Cause::RedundantRepartition => job.place_asked_for(stage),
        _ => None,
    }
}

/// First and last line of the statement behind a cause in a stage.
pub(crate) fn lines(view: &View<'_>, cause: Cause, stage: Option<usize>) -> Option<[u32; 2]> {
    let job = view.job;
    let Some(program) = job.program() else {
        return view.lines(stage?, 0).map(Into::into);
    };
    let is_failure = matches!(cause, Cause::UserCodeFailure | Cause::VertexRetries);
    let thrown = || thrown(view, stage).filter(|_| is_failure);
    let of_cause = || match cause {
        Cause::DriverBottleneck => job
            .place_of_stream(Stream::Pace)
            .and_then(|place| job.lines_of(&place))
            .or_else(|| {
                let rewrite = columns::at_once(program, &job.scope(None)?)?;
                Some(program.lines(&rewrite.edits.first()?.span))
            })
            .or_else(|| action_before_gaps(view).map(|lines| from_loop(program, lines))),
        Cause::UnexplainedOverhead => job.lines_of(&job.place_of_stream(Stream::Mode)?),
        Cause::IneffectiveCache if stage.is_some_and(|stage| lists_files(job, stage)) => {
            let place = program.find(Part::Read, &[], None)?;
            Some(program.lines(&place.span))
        }
        Cause::IneffectiveCache => {
            let statement = program.statements.get(job.shared_statement()?)?;
            Some(program.lines(&statement.span))
        }
        Cause::BroadcastTooLarge if stage.is_none() => {
            let scope = job.scope(None)?;
            let hint = hints::no_broadcast(program, &scope)?.edits.pop()?;
            Some(program.lines(&hint.span))
        }
        Cause::InputFailure => named_input(view, program),
        _ => None,
    };
    let of_stage = || {
        let stage = stage?;
        let parts = parts(job, cause, stage).iter();
        let needed = |part: &Part| job.place_needed(stage, *part);
        let mut named = parts.clone().map(|part| {
            let own = job.place_in(stage, *part);
            // a source is certain even where the plan has no name of it
            own.or_else(|| needed(part).filter(|_| *part == Part::Read && is_source(job, stage)))
        });
        let place = named.find_map(|place| place);
        let place = place.or_else(|| parts.clone().find_map(needed));
        job.lines_of(&place?)
    };
    let planned = stage.filter(|stage| !is_failure && is_planned(job, *stage));
    let of_operator = || {
        let of_part = |part: &Part| job.place_in(planned?, *part);
        let place = job.place_by_keys(planned?);
        job.lines_of(&place.or_else(|| OPERATORS.iter().find_map(of_part))?)
    };
    let of_action = || {
        let site = match stage {
            Some(stage) => return job.lines_of_action(stage),
            None => failed_job(job)?,
        };
        job.lines_at(site)
    };
    let found = thrown().or_else(of_cause).or_else(of_stage);
    let found = found.or_else(of_operator).or_else(of_action);
    found.map(Into::into)
}

/// The parts that take most of a stage's time, where its cause names none: those that usually cost most first.
const OPERATORS: [Part; 6] = [
    Part::Explode,
    Part::Window,
    Part::Join,
    Part::Aggregate,
    Part::Sort,
    Part::Partitioning,
];

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

/// The parts of a program that may have a cause in a stage, most probable first.
fn parts(job: &Job, cause: Cause, stage: usize) -> &'static [Part] {
    use Part as P;
    let is_source = is_source(job, stage);
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
        Cause::RedundantRepartition => &[P::Partitioning, P::Distinct],
        Cause::SerialGather => &[P::Gather, P::Sort],
        Cause::CpuBoundUdo | Cause::UserCodeFailure | Cause::VertexRetries => &[P::UserCode],
        Cause::TinyVertices | Cause::ParallelismTooLow if is_source => &[P::Read, P::Partitioning],
        Cause::TinyVertices => &[P::Partitioning, P::Aggregate, P::Join, P::Window, P::Read],
        Cause::SmallFiles if !is_source || writes_files(job, stage) => &[P::Write],
        Cause::PartitionLayout | Cause::SmallFiles | Cause::InputFailure => &[P::Read],
        // the filter that the files cannot use
        Cause::ScanWithoutFilter => &[P::Filter, P::Read],
        Cause::ParallelismTooLow => &[P::Partitioning, P::Read, P::Aggregate, P::Window, P::Join],
        Cause::Spill
        | Cause::HeapPressure
        | Cause::MemoryEstimateTooLow
        | Cause::LimitFailure
        | Cause::ExecutorLost => &[P::UserCode, P::Window, P::Aggregate, P::Join, P::Sort],
        Cause::LateFilter => &[P::Filter],
        // a nested loop compares all pairs of rows
        Cause::CostlyExpression if has_nested_loop(job, stage) => &[P::Join],
        // a filter sees the rows that the expressions above it no longer see
        Cause::CostlyExpression if has_pattern_filter(job, stage) => &[P::Filter, P::Expression],
        Cause::CostlyExpression => &[P::Expression, P::Filter],
        Cause::CommitOnDriver => &[P::Write],
        _ => &[],
    }
}

/// Whether a stage reads files before a plan, as to infer their schema.
pub fn lists_files(job: &Job, stage: usize) -> bool {
    let app = job.spark.as_deref();
    app.is_some_and(|app| app.stages[stage].lists_files())
}

/// Whether a plan has the operators of a stage.
pub fn is_planned(job: &Job, stage: usize) -> bool {
    let app = job.spark.as_deref();
    app.is_some_and(|app| app.stages[stage].execution.is_some())
}

/// Whether no shuffle brings rows to a stage.
fn is_source(job: &Job, stage: usize) -> bool {
    let mut edges = job.edges.iter().filter(|edge| edge.to == stage);
    edges.all(|edge| edge.exchange == ExchangeKind::Broadcast)
}

/// Whether the query of a stage writes more files than the stage reads.
fn writes_files(job: &Job, stage: usize) -> bool {
    let files = || {
        let app = job.spark.as_deref()?;
        let execution = app.stages.get(stage)?.execution?;
        let nodes = app.executions.get(execution)?.plan.iter();
        let written = nodes
            .clone()
            .find_map(|n| n.metric("number of written files"))?;
        let own = nodes.filter(|n| n.stages.contains(&stage));
        let read = own.filter_map(|n| n.metric("number of files read"));
        Some(written > read.sum())
    };
    files().unwrap_or_default()
}

/// Whether a join of a stage has no keys.
fn has_nested_loop(job: &Job, stage: usize) -> bool {
    let operators = job.stages.get(stage).map_or(&[][..], |s| &s.operators);
    let mut joins = operators.iter().filter(|o| o.kind == OperatorKind::Join);
    joins.any(|o| o.keys.is_empty())
}

/// Whether a filter of a stage searches rows for a pattern.
fn has_pattern_filter(job: &Job, stage: usize) -> bool {
    let operators = job.stages.get(stage).map_or(&[][..], |s| &s.operators);
    let mut filters = operators.iter().filter(|o| o.class_name == "Filter");
    filters.any(|o| o.args.contains("RLIKE"))
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

/// Lines from the head of the loop around an action: the loop runs the action too often.
fn from_loop(program: &Program, lines: Lines) -> Lines {
    let statement = program.statement_at(lines.first);
    let around = statement.and_then(|at| program.loop_of(at));
    let head = around.map(|at| program.lines(&program.syntax.span(at)).first);
    Lines {
        first: head.unwrap_or(lines.first),
        last: lines.last,
    }
}

/// The line of the program that threw: by the traceback of the failure, or of an attempt in the stage.
fn thrown(view: &View<'_>, stage: Option<usize>) -> Option<Lines> {
    let of_failure = view.failure().and_then(|failure| failure.error);
    let name = stage.map(|stage| view.name(stage));
    let of_stage = view.job.errors.iter();
    let of_stage = of_stage.filter(|error| name.is_some() && error.stage.as_deref() == name);
    let mut errors = of_failure.into_iter().chain(of_stage);
    errors.find_map(|error| view.job.lines_of_error(error))
}

/// The read of a path that the failure's message names.
fn named_input(view: &View<'_>, program: &Program) -> Option<Lines> {
    let message = &view.failure()?.error?.message;
    let parts = message.split(|c: char| c == '/' || c.is_whitespace());
    let named = parts.filter(|part| part.len() > 1 && !part.contains([':', '=']));
    let mut places = named.filter_map(|part| {
        let words = [part.trim_end_matches(['.', ',']).to_owned()];
        let place = program.find(Part::Read, &words, None)?;
        program
            .slice(&place.span)
            .contains(&words[0])
            .then_some(place)
    });
    places.next().map(|place| program.lines(&place.span))
}

/// The call site of the last job that failed.
fn failed_job(job: &Job) -> Option<&str> {
    let jobs = &job.spark.as_deref()?.jobs;
    let failed = jobs.iter().rfind(|job| job.succeeded == Some(false))?;
    failed.call_site.as_deref()
}
