//! Vertices that run far longer than their peers.

use job::model::ExchangeKind;
use job::runs::{RunState, VertexRun};
use report::{Cause, Evidence, SegmentKind, Text, text};

use super::{Excess, Unclaimed};
use crate::facts::{at_line, fact};
use crate::impact::{RUN_NOISE, slowest_of};
use crate::measurements::exchange::has_own_partitioner;
use crate::view::View;
use report::format::{Bytes, Seconds};

/// From this ratio to the median input on, its data explains a slow vertex.
const MORE_DATA: f64 = 1.5;

/// From this ratio to the slowest expected vertex on, a vertex is a straggler; a smaller one may be chance.
const UNUSUAL: f64 = 1.5;

/// Fewer vertices don't show how much their run times spread.
const MIN_SPREAD: usize = 12;

/// Additional seconds of an executor's first tasks, to load and compile code.
const COLD_START_S: f64 = 4.0;

/// Highest certainty of a cause if the operators of the stage are unknown.
const UNCONNECTED: f64 = 0.4;

pub(super) fn excesses(unclaimed: &Unclaimed<'_>, slow_machine: bool) -> Vec<Excess> {
    let stages = unclaimed.by_stage(&[SegmentKind::Straggler]).into_iter();
    stages
        .filter_map(|(stage, parts)| excess(unclaimed, stage, parts, slow_machine))
        .collect()
}

fn excess(
    unclaimed: &Unclaimed<'_>,
    stage: usize,
    mut parts: Vec<(usize, f64)>,
    slow_machine: bool,
) -> Option<Excess> {
    let view = unclaimed.view;
    let runs = view.job.stages[stage].runs.as_ref()?;
    let completed = || runs.runs.iter().filter(|r| r.state == RunState::Completed);
    let worst = completed().max_by_key(|r| r.ended_ms - r.running_ms)?;
    let median = |of: &dyn Fn(&VertexRun) -> i64| {
        let mut all: Vec<i64> = completed().map(of).collect();
        all.sort_unstable();
        all[all.len() / 2].max(0) as f64
    };
    let usual_s = median(&|r| r.ended_ms - r.running_ms) / 1000.0;
    let ran_s = (worst.ended_ms - worst.running_ms) as f64 / 1000.0;
    let count = view.vertices(stage).unwrap_or(1) as usize;
    let limit = usual_s * slowest_of(count);
    let usual_bytes = median(&|r| r.bytes_read as i64);
    let more = worst.bytes_read as f64 / usual_bytes.max(1.0);
    let uneven = view.uneven.iter().find(|u| u.stage == stage);
    if uneven.is_some_and(|u| unclaimed.is_claimed_by(stage, u.cause)) {
        // a finding has the saving of even input; the rest is work that moves to other vertices
        return None;
    }
    let of_data = match uneven {
        Some(uneven) => Some((uneven.cause, 0.8)),
        None if more >= MORE_DATA && usual_bytes > 0.0 => Some((skew_of(view, stage), 0.6)),
        None => None,
    };
    let (cause, why, certainty) = match of_data {
        Some((cause, certainty)) => {
            let idle = view.run.as_ref().map(|run| idle_s(run.tokens, &runs.runs));
            scale_to(&mut parts, idle.unwrap_or(f64::INFINITY));
            (cause, more_data(worst, usual_bytes), certainty)
        }
        None => {
            // time explained by more data is not straggling
            let expected = limit * more.max(1.0) * spread_of(view, &runs.runs, count);
            if ran_s < UNUSUAL * expected {
                return None;
            }
            let beyond = (ran_s - expected).max(0.0) / (ran_s - limit).max(f64::MIN_POSITIVE);
            parts.iter_mut().for_each(|(_, s)| *s *= beyond.min(1.0));
            if is_cold(view, stage, worst) {
                let taken: f64 = parts.iter().map(|(_, s)| s).sum();
                scale_to(&mut parts, (taken - COLD_START_S).max(0.0));
            }
            let is_unmeasured = completed().all(|r| r.bytes_read == 0);
            match slow_machine {
                true => (Cause::SlowMachine, like_data(), 0.6),
                false if is_unmeasured => (Cause::UnexplainedStraggler, unmeasured(), 0.45),
                false => (Cause::UnexplainedStraggler, like_data(), 0.45),
            }
        }
    };
    let index = worst.index;
    let name = view.name(stage);
    let summary = text!(
        "{name}[{index}] 运行 {ran}，其他顶点通常只要 {usual}：{why}",
        "{name}[{index}] runs {ran}, its peers usually {usual}: {why}",
        ran = Seconds(ran_s),
        usual = Seconds(usual_s),
        why = why,
    );
    // more data has another reason in a join than in an aggregation
    let certainty = match view.is_connected(stage) {
        true => certainty,
        false => UNCONNECTED.min(certainty),
    };
    Some(Excess {
        cause,
        parts,
        stages: vec![stage],
        evidence: vec![evidence(view, stage, worst, ran_s, usual_s)],
        summary,
        certainty,
        method: "time of the slowest vertex, less the expected maximum of as many ordinary vertices",
    })
}

/// Seconds by which a stage would end earlier if its vertices shared their data, and so their time, evenly: the work stays the
/// same, and only slots that stood idle can take more of it.
fn idle_s(slots: usize, runs: &[VertexRun]) -> f64 {
    let completed = || runs.iter().filter(|r| r.state == RunState::Completed);
    let from = completed().map(|r| r.running_ms).min().unwrap_or(0);
    let to = completed().map(|r| r.ended_ms).max().unwrap_or(0);
    let work: i64 = completed().map(|r| r.ended_ms - r.running_ms).sum();
    let slots = slots.clamp(1, completed().count().max(1));
    ((to - from) as f64 - work as f64 / slots as f64).max(0.0) / 1000.0
}

/// Reduces the seconds of some parts in proportion, to a sum of at most `most`.
fn scale_to(parts: &mut [(usize, f64)], most: f64) {
    let sum: f64 = parts.iter().map(|(_, s)| s).sum();
    let factor = (most / sum.max(f64::MIN_POSITIVE)).min(1.0);
    parts.iter_mut().for_each(|(_, s)| *s *= factor);
}

/// Factor on the expected run time of the slowest vertex if all vertices of the stage vary a lot: from the distance of the
/// upper quartile to the median, beyond the usual noise.
fn spread_of(view: &View<'_>, runs: &[VertexRun], count: usize) -> f64 {
    let completed = runs.iter().filter(|r| r.state == RunState::Completed);
    let mut completed: Vec<&VertexRun> = completed.collect();
    // the first ones on their slots also load code
    completed.sort_by_key(|r| r.running_ms);
    let slots = view.run.as_ref().map_or(0, |run| run.tokens);
    let first = slots.min(completed.len() / 4);
    let seconds = completed[first..].iter();
    let mut seconds: Vec<f64> = seconds
        .map(|r| (r.ended_ms - r.running_ms).max(1) as f64 / 1000.0)
        .collect();
    seconds.sort_by(f64::total_cmp);
    if completed.len() < MIN_SPREAD {
        return 1.0;
    }
    let quarter = seconds[seconds.len() * 3 / 4] / seconds[seconds.len() / 2];
    // a normal distribution of logarithms has its upper quartile 0.674 deviations above the median
    let deviations = slowest_of(count).ln() / RUN_NOISE;
    (deviations * (quarter.ln() / 0.674 - RUN_NOISE).max(0.0)).exp()
}

fn more_data(worst: &VertexRun, usual_bytes: f64) -> Text {
    text!(
        "它读取 {own}，通常为 {usual}",
        "it reads {own}; {usual} is usual",
        own = Bytes(worst.bytes_read as f64),
        usual = Bytes(usual_bytes),
    )
}

fn like_data() -> Text {
    text!(
        "数据量相近，原因可能是机器、存储、锁或代码；该机器的日志和这段时间的线程转储可以确定",
        "on a similar amount of data, so the reason is the machine, a lock or the code, or the storage; the logs of that machine and a thread dump would show which",
    )
}

/// Tasks that read by themselves, as from a database, without a count of their bytes.
fn unmeasured() -> Text {
    text!(
        "没有记录这些任务读取的数据量：可能它的那一份大得多；若数据量相近，原因是机器、存储、锁或代码，该机器的日志和这段时间的线程转储可以确定",
        "the input of these tasks is not recorded: its slice may be far larger; on a similar amount of data, the reason is the machine, a lock or the code, or the storage; the logs of that machine and a thread dump would show which",
    )
}

fn evidence(
    view: &View<'_>,
    stage: usize,
    worst: &VertexRun,
    ran_s: f64,
    usual_s: f64,
) -> Evidence {
    let runs = view.job.stages[stage].runs.as_ref();
    let source = at_line(runs.map_or("", |r| &r.file), worst.line);
    let (index, time) = (worst.index, Seconds(ran_s));
    fact! { view, "running to ended", ran_s, "s", source;
        "{stage}[{index}] 运行 {time}", "{stage}[{index}] ran {time}", stage = view.name(stage), time = time }
        .expecting(view.about(Seconds(usual_s)))
}

/// Whether an attempt is one of the first of its executor.
fn is_cold(view: &View<'_>, stage: usize, worst: &VertexRun) -> bool {
    let Some(app) = view.job.spark.as_deref() else {
        return false;
    };
    let Some(executor) = app.executors.get(worst.machine as usize) else {
        return false;
    };
    let slots = executor.slots(app.task_cores) as usize;
    let earlier = app.stages[..=stage].iter().flat_map(|s| &s.attempts);
    let earlier =
        earlier.filter(|t| t.executor == worst.machine && t.finished_ms <= worst.started_ms);
    earlier.take(slots).count() < slots
}

/// Kind of skew of a stage's uneven input.
fn skew_of(view: &View<'_>, stage: usize) -> Cause {
    use job::model::OperatorKind::{Combine, Join};
    let largest = view
        .inputs(stage)
        .filter(|e| e.exchange != ExchangeKind::Broadcast)
        .max_by(|a, b| {
            a.bytes_written
                .unwrap_or(0.0)
                .total_cmp(&b.bytes_written.unwrap_or(0.0))
        });
    let Some(edge) = largest else {
        return Cause::PartitionLayout;
    };
    match view.consumer_of(edge) {
        Some((_, o)) if matches!(o.kind, Join | Combine) => Cause::JoinHotKey,
        _ if has_own_partitioner(view, edge) => Cause::PartitionLayout,
        _ if edge.exchange == ExchangeKind::Hash => Cause::GroupHotKey,
        _ => Cause::PartitionLayout,
    }
}
