//! Tasks of an application that are ready and do not run: executors are missing, or are there and idle.

use job::model::Application;
use report::{Cause, SegmentKind, Text, text};

use super::{Excess, Unclaimed, stages_named};
use crate::impact::Fix;
use report::format::Seconds;

/// Share of the slots from which an application is busy with other tasks.
const BUSY: f64 = 0.9;

/// Share of the most slots below which executors are missing.
const FEW_SLOTS: f64 = 0.7;

/// What tasks wait for while they are ready.
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
    let slots = Slots::of(unclaimed, app);
    let reason = |(at, seconds): &(usize, f64)| {
        let span = unclaimed.account.parts[*at].span;
        slots.reason(span.from + seconds / 2.0)
    };
    let waits: Vec<(usize, Vec<(usize, f64)>)> = unclaimed
        .by_stage(&[SegmentKind::CapacityWait])
        .into_iter()
        .collect();
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
                "the tasks of {names} wait {time} for executors: only part of them is there",
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
        method: "time on the critical path in which tasks are ready and none of them runs",
        fix: Some(Fix::Capacity),
    }
}

/// Slots and running tasks over time, in seconds since submission.
struct Slots {
    offered: Vec<(f64, f64)>,
    most: f64,
    starts: Vec<f64>,
    ends: Vec<f64>,
}

impl Slots {
    fn of(unclaimed: &Unclaimed<'_>, app: &Application) -> Slots {
        let origin = unclaimed.view.job.info.submitted_ms.unwrap_or(0);
        let at = |ms: i64| ms.saturating_sub(origin) as f64 / 1000.0;
        let offered = app.slots_over_time().into_iter();
        let offered: Vec<(f64, f64)> = offered.map(|(ms, n)| (at(ms), f64::from(n))).collect();
        let tasks = || app.stages.iter().flat_map(|s| &s.attempts);
        let mut starts: Vec<f64> = tasks().map(|t| at(t.launched_ms)).collect();
        let mut ends: Vec<f64> = tasks().map(|t| at(t.finished_ms)).collect();
        starts.sort_by(f64::total_cmp);
        ends.sort_by(f64::total_cmp);
        Slots {
            most: offered.iter().map(|(_, n)| *n).fold(0.0, f64::max),
            offered,
            starts,
            ends,
        }
    }

    fn reason(&self, at: f64) -> Reason {
        let before = self.offered.partition_point(|(from, _)| *from <= at);
        let there = before
            .checked_sub(1)
            .map_or(0.0, |last| self.offered[last].1);
        let started = self.starts.partition_point(|from| *from <= at);
        let ended = self.ends.partition_point(|to| *to <= at);
        let running = started.saturating_sub(ended) as f64;
        if there < FEW_SLOTS * self.most {
            Reason::Executors
        } else if running >= BUSY * there {
            Reason::OtherTasks
        } else {
            Reason::Locality
        }
    }
}
