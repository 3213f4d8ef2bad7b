//! Tasks of an application that are ready and do not run: executors are missing, or idle.

use job::model::{Application, SlotsOverTime};
use report::{Cause, SegmentKind, Text, text};

use super::{Excess, Unclaimed, stages_named};
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
    let reason = |(at, seconds): &(usize, f64)| {
        let span = unclaimed.account.parts[*at].span;
        slots.reason(span.from + seconds / 2.0)
    };
    let of = |wanted: Reason| {
        let mut stages = Vec::new();
        let mut parts = Vec::new();
        for (stage, own) in &waits {
            let own: Vec<(usize, f64)> = own
                .iter()
                .copied()
                .filter(|p| reason(p) == wanted)
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
                wait = app.setting(None, "spark.locality.wait").unwrap_or("3s"),
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

/// Slots, and starts and ends of tasks, in milliseconds since 1970.
struct Slots {
    origin: i64,
    offered: SlotsOverTime,
    starts: Vec<i64>,
    ends: Vec<i64>,
}

impl Slots {
    fn of(unclaimed: &Unclaimed<'_>, app: &Application) -> Slots {
        let tasks = || app.stages.iter().flat_map(|s| &s.attempts);
        let mut starts: Vec<i64> = tasks().map(|t| t.launched_ms).collect();
        let mut ends: Vec<i64> = tasks().map(|t| t.finished_ms).collect();
        starts.sort_unstable();
        ends.sort_unstable();
        Slots {
            origin: unclaimed.view.job.info.submitted_ms.unwrap_or(0),
            offered: app.slots_over_time(),
            starts,
            ends,
        }
    }

    /// The reason why tasks wait at a time, in seconds since submission.
    fn reason(&self, at: f64) -> Reason {
        let ms = self.origin + (at * 1000.0) as i64;
        let there = f64::from(self.offered.at(ms));
        let started = self.starts.partition_point(|from| *from <= ms);
        let ended = self.ends.partition_point(|to| *to <= ms);
        let running = started.saturating_sub(ended) as f64;
        if running < BUSY * there {
            Reason::Locality
        } else if there < FEW_SLOTS * f64::from(self.offered.most()) {
            Reason::Executors
        } else {
            Reason::OtherTasks
        }
    }
}
