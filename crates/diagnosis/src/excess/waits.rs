//! Tasks of an application that are ready and do not run: executors are missing, or idle.

use job::model::Application;
use report::format::Seconds;
use report::{Cause, SegmentDetail, SegmentKind, Text, text};

use super::{Excess, Parts, Unclaimed, stages_named};
use crate::configuration::LOCALITY_WAIT;

pub(super) fn excesses(unclaimed: &Unclaimed<'_>) -> [Option<Excess>; 2] {
    let Some(app) = unclaimed.view.job.spark.as_deref() else {
        return [None, None];
    };
    let waits = unclaimed.by_stage(&[SegmentKind::CapacityWait]);
    [SegmentDetail::Executors, SegmentDetail::Scheduling].map(|reason| {
        let (mut stages, mut parts) = (Vec::new(), Vec::new());
        for (stage, own) in &waits {
            let before = parts.len();
            let detail = |at: usize| unclaimed.account.parts[at].detail;
            parts.extend(own.iter().filter(|(at, _)| detail(*at) == Some(reason)));
            if parts.len() > before {
                stages.push(*stage);
            }
        }
        (!parts.is_empty()).then(|| excess(unclaimed, app, stages, parts, reason))
    })
}

fn excess(
    unclaimed: &Unclaimed<'_>,
    app: &Application,
    stages: Vec<usize>,
    parts: Parts,
    reason: SegmentDetail,
) -> Excess {
    let view = unclaimed.view;
    let time = Seconds(parts.iter().map(|(_, s)| s).sum());
    let names = stages_named(view, &stages);
    let (cause, summary): (Cause, Text) = match reason {
        SegmentDetail::Executors => (
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
