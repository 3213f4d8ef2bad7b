//! Overhead inside tasks: garbage collection, spilling, waiting for shuffled data, lost attempts, slow expressions.

use job::facts::{Derived, Role, Spread, value};
use job::model::OperatorKind;
use report::{Cause, Evidence, SegmentKind, text};

use super::shares::{TASKS, shares};
use super::{Excess, Unclaimed, stages_named};
use crate::facts::shown;
use crate::measurements::contention::contention;
use crate::measurements::rates::needed_ms;
use crate::view::View;
use report::format::{Ratio, Seconds, Share};

/// Share of the run time of tasks that garbage collection may take; Spark's own page marks tasks in red from here on.
const USUAL_GC: f64 = 0.1;

/// Share of the run time of tasks that waiting for shuffled data may take.
const USUAL_FETCH: f64 = 0.1;

/// From this many lost attempts on, losses are systematic: another run of the job would lose some again.
const MIN_LOST: u64 = 3;

/// From this many times the slowest reference rate on, expressions are the reason of slowness.
const SLOW: f64 = 2.0;

/// Garbage collection beyond the usual share, over all stages.
pub(super) fn garbage(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let collected = |stage: usize, _| {
        let share = view.facts[stage].gc.mean_share()?;
        (share > USUAL_GC).then(|| 1.0 - USUAL_GC / share)
    };
    let shares = shares(unclaimed, &[SegmentKind::Gc], collected)?;
    let (worst, _) = shares.worst;
    let mean = view.facts[worst].gc.mean_share()?;
    let summary = text!(
        "{names} 有 {time} 用于垃圾回收；{worst} 的任务有 {share} 的时间在回收",
        "{names} spend {time} collecting garbage; in {worst} it is {share} of the time of the tasks",
        names = stages_named(view, &shares.stages),
        time = shares.seconds(),
        worst = view.name(worst),
        share = Share(mean),
    );
    let counted = &view.facts[worst].gc;
    let percent = counted.mean_percent.as_ref().or(counted.percent.as_ref());
    let evidence = view.measured(percent, "%");
    let limit = format!("<= {:.0} %", USUAL_GC * 100.0);
    let evidence = evidence.map(|e| e.expecting(limit));
    Some(shares.excess(Cause::HeapPressure, summary, evidence, 0.8))
}

/// Time that spilled operators lose.
pub(super) fn spilling(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    view.job.spark.as_ref()?;
    let shares = shares(unclaimed, &[SegmentKind::Spill], |_, _| Some(1.0))?;
    let summary = text!(
        "{names} 因落盘多用 {time}",
        "{names} lose {time} to spilling",
        names = stages_named(view, &shares.stages),
        time = shares.seconds(),
    );
    let (worst, _) = shares.worst;
    let spilled = view.facts[worst].per_vertex.disk_spilled.as_ref();
    let evidence = spilled.and_then(|s| total(view, worst, "Disk Bytes Spilled", s, "bytes"));
    Some(shares.excess(Cause::Spill, summary, evidence, 0.75))
}

/// Tasks that wait for shuffled data.
pub(super) fn fetching(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let waited = |stage: usize, _| {
        let of = &view.facts[stage].per_vertex;
        let (wait, run) = (of.fetch_wait_ms.as_ref()?, of.task_ms.as_ref()?);
        Some(wait.value.total / run.value.total.max(1.0) - USUAL_FETCH)
    };
    let shares = shares(unclaimed, &TASKS, waited)?;
    let (worst, share) = shares.worst;
    let wait = view.facts[worst].per_vertex.fetch_wait_ms.as_ref()?;
    let summary = text!(
        "{names} 有 {time} 在等待 Shuffle 数据；{worst} 的任务有 {share} 的时间在等待",
        "{names} spend {time} waiting for shuffled data; in {worst} it is {share} of the time of the tasks",
        names = stages_named(view, &shares.stages),
        time = shares.seconds(),
        worst = view.name(worst),
        share = Share(share + USUAL_FETCH),
    );
    let evidence = total(view, worst, "Fetch Wait Time", wait, "ms");
    Some(shares.excess(Cause::FetchWait, summary, evidence, 0.85))
}

/// Lost attempts on the critical path.
pub(super) fn retries(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let lost = view.job.stages.iter().filter_map(|s| s.runs.as_ref());
    let lost: u64 = lost.map(|r| r.failed + r.revoked).sum();
    if lost < MIN_LOST || view.job.spark.is_none() {
        return None;
    }
    let shares = shares(unclaimed, &[SegmentKind::Retry], |_, _| Some(1.0))?;
    let summary = text!(
        "{names} 因作废的尝试多用 {time}",
        "{names} lose {time} to attempts that had to be repeated",
        names = stages_named(view, &shares.stages),
        time = shares.seconds(),
    );
    Some(shares.excess(Cause::VertexRetries, summary, None, 0.8))
}

/// Expressions of plans that take many times the usual time of such operators for their rows and bytes.
pub(super) fn expressions(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    view.job.spark.as_ref()?;
    let pace = contention(view);
    let times = |stage: usize| {
        let needed = needed_ms(view, stage)? * pace;
        let taken = computed_ms(view, stage)?;
        Some(taken / needed.max(f64::MIN_POSITIVE))
    };
    let kinds = [SegmentKind::Compute];
    let computes = |stage: usize| {
        let mut operators = view.job.stages[stage].operators.iter();
        operators.any(|o| o.kind != OperatorKind::Extract)
    };
    let slow = |stage: usize, _| {
        let open = computes(stage) && !unclaimed.is_claimed(stage);
        let times = times(stage).filter(|t| *t > SLOW && open)?;
        Some(1.0 - 1.0 / times)
    };
    let shares = shares(unclaimed, &kinds, slow)?;
    let (worst, _) = shares.worst;
    let ratio = times(worst)?;
    let counted = view.facts[worst].counted.as_ref()?;
    let needed = view.about(Seconds(needed_ms(view, worst)? * pace / 1000.0));
    let run = view.measured(&counted.run_ms, "ms");
    let evidence = run.map(|e| e.expecting(needed)).into_iter();
    let evidence = evidence.chain(view.measured(&counted.cpu_ms, "ms"));
    let summary = text!(
        "{names} 的计算多用 {time}：{worst} 的表达式耗时是同样行数和字节通常最慢情况的 {ratio}",
        "the expressions of {names} take {time} more than usual: in {worst}, {ratio} the slowest reference for its rows and bytes",
        names = stages_named(view, &shares.stages),
        time = shares.seconds(),
        worst = view.name(worst),
        ratio = Ratio(ratio),
    );
    Some(shares.excess(Cause::CostlyExpression, summary, evidence, 0.6))
}

/// Milliseconds that the tasks of a stage computed: without garbage collection, spilling, waiting and Python.
fn computed_ms(view: &View<'_>, stage: usize) -> Option<f64> {
    let facts = &view.facts[stage];
    let run = value(&facts.counted.as_ref()?.run_ms)?;
    let of = &facts.per_vertex;
    let total = |d: &Option<Derived<Spread>>| d.as_ref().map_or(0.0, |d| d.value.total);
    let python = facts.operators.iter();
    let python = python.filter(|o| o.role == Role::ManagedCode);
    let python: f64 = python.filter_map(|o| value(&o.own_ms)).sum();
    Some((run - total(&of.gc_ms) - total(&of.fetch_wait_ms) - python).max(0.0))
}

/// A total over the tasks of a stage, with its place.
fn total(
    view: &View<'_>,
    stage: usize,
    metric: &str,
    spread: &Derived<Spread>,
    unit: &'static str,
) -> Option<Evidence> {
    let source = spread.sources.last()?.clone();
    let total = spread.value.total;
    let sentence = text!(
        "{stage} 的 {metric} 合计 {shown}",
        "{metric} of {stage} is {shown} in all",
        stage = view.name(stage),
        shown = shown(total, unit),
    );
    Some(view.number(metric, total, unit, source, sentence))
}
