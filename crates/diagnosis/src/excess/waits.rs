//! Tasks of an application that are ready and do not run: executors are missing, or idle.

use job::model::{Application, SlotsOverTime, StageAttempt};
use report::{Cause, SegmentKind, Text, text};

use super::{Excess, Unclaimed, stages_named};
use crate::account::Span;
use crate::configuration::LOCALITY_WAIT;
use report::format::Seconds;

/// With at least this share of the slots in use, an application is busy with other tasks.
const BUSY: f64 = 0.9;

/// With less than this share of the most slots, executors are missing.
const FEW_SLOTS: f64 = 0.7;

/// Reason why ready tasks wait.
#[derive(Clone, Copy, PartialEq)]
enum Reason {
    OtherTasks,
    Executors,
    Locality,
}

pub(super) fn excesses(unclaimed: &Unclaimed<'_>) -> [Option<Excess>; 2] {
    let Some(app) = unclaimed.view.job.spark.as_deref() else {
        return [None, None];
    };
    let waits = unclaimed.by_stage(&[SegmentKind::CapacityWait]);
    if waits.is_empty() {
        return [None, None];
    }
    let slots = Slots::of(unclaimed, app);
    let reason = |stage: usize, (at, _): &(usize, f64)| {
        slots.reason(&app.stages[stage], unclaimed.account.parts[*at].span)
    };
    let of = |wanted: Reason| {
        let mut stages = Vec::new();
        let mut parts = Vec::new();
        for (stage, own) in &waits {
            let own: Vec<(usize, f64)> = own
                .iter()
                .copied()
                .filter(|p| reason(*stage, p) == wanted)
                .collect();
            if !own.is_empty() {
                stages.push(*stage);
                parts.extend(own);
            }
        }
        (!parts.is_empty()).then_some((stages, parts))
    };
    let missing =
        of(Reason::Executors).map(|found| excess(unclaimed, app, found, Reason::Executors));
    let idle = of(Reason::Locality).map(|found| excess(unclaimed, app, found, Reason::Locality));
    [missing, idle]
}

fn excess(
    unclaimed: &Unclaimed<'_>,
    app: &Application,
    (stages, parts): (Vec<usize>, Vec<(usize, f64)>),
    reason: Reason,
) -> Excess {
    let view = unclaimed.view;
    let time = Seconds(parts.iter().map(|(_, s)| s).sum());
    let names = stages_named(view, &stages);
    let (cause, summary): (Cause, Text) = match reason {
        Reason::Executors => (
            Cause::QueueWait,
            text!(
                "{names} 的任务等待 Executor {time}：就绪时只有部分 Executor",
                "the tasks of {names} wait {time} for executors: only some of them are there",
                names = names,
                time = time,
            ),
        ),
        _ => (
            Cause::IdleSlots,
            text!(
                "{names} 有 {time} 任务就绪、槽位空闲却没有运行：任务在等数据所在的 Executor（spark.locality.wait 为 {wait}），或 Driver 来不及调度",
                "for {time}, tasks of {names} are ready and slots are idle: they wait for the executors that have their data (spark.locality.wait is {wait}), or the driver is slow to schedule them",
                names = names,
                time = time,
                wait = app.in_force(None, LOCALITY_WAIT).unwrap_or_default().0,
            ),
        ),
    };
    Excess {
        cause,
        evidence: unclaimed.evidence(&parts),
        parts,
        stages,
        summary,
        certainty: 0.7,
        method: "time on the critical path while tasks are ready and none of them runs",
    }
}

/// Slots, and starts and ends of tasks, in seconds since submission.
struct Slots {
    origin: i64,
    offered: SlotsOverTime,
    starts: Moments,
    ends: Moments,
}

/// Ascending times, each with the sum of all times up to it.
struct Moments(Vec<(f64, f64)>);

impl Moments {
    fn of(mut times: Vec<f64>) -> Moments {
        times.sort_unstable_by(f64::total_cmp);
        let summed = times.into_iter().scan(0.0, |sum, at| {
            *sum += at;
            Some((at, *sum))
        });
        Moments(summed.collect())
    }

    /// Seconds from each moment before `at` until `at`, added up.
    fn since(&self, at: f64) -> f64 {
        let count = self.0.partition_point(|(time, _)| *time <= at);
        let sum = count.checked_sub(1).map_or(0.0, |last| self.0[last].1);
        count as f64 * at - sum
    }
}

impl Slots {
    fn of(unclaimed: &Unclaimed<'_>, app: &Application) -> Slots {
        let origin = unclaimed.view.job.info.submitted_ms.unwrap_or(0);
        let since = |ms: i64| (ms - origin) as f64 / 1000.0;
        let tasks = || app.stages.iter().flat_map(|s| &s.attempts);
        Slots {
            origin,
            offered: app.slots_over_time(),
            starts: Moments::of(tasks().map(|t| since(t.launched_ms)).collect()),
            ends: Moments::of(tasks().map(|t| since(t.finished_ms)).collect()),
        }
    }

    /// The reason why tasks of a stage wait during a span. Executors that come after its end are not missing before.
    fn reason(&self, stage: &StageAttempt, span: Span) -> Reason {
        let middle = self.origin + ((span.from + span.to) * 500.0) as i64;
        let there = f64::from(self.offered.at(middle));
        let held = |at: f64| self.starts.since(at) - self.ends.since(at);
        let most = self
            .offered
            .most_until(stage.completed_ms.unwrap_or(i64::MAX));
        let running = (held(span.to) - held(span.from)) / span.seconds().max(f64::MIN_POSITIVE);
        if running < BUSY * there {
            Reason::Locality
        } else if there < FEW_SLOTS * f64::from(most) {
            Reason::Executors
        } else {
            Reason::OtherTasks
        }
    }
}
