//! Slots of an application that idle while a stage works, since it has too few tasks.

use job::model::Application;
use report::{Cause, SegmentKind, text};

use super::{Excess, Parts, Unclaimed, stages_named};
use crate::impact::{Fix, RunModel, regroup};
use crate::measurements::contention::{contention, pace};
use report::format::{Seconds, Share, TASK};

/// Seconds that a task should run: dividing work further costs more to start than it saves.
const LEAST_TASK_S: f64 = 1.0;

/// Kinds of time that more tasks share.
const WORK: [SegmentKind; 7] = [
    SegmentKind::Read,
    SegmentKind::Compute,
    SegmentKind::UserCode,
    SegmentKind::Sort,
    SegmentKind::Spill,
    SegmentKind::Gc,
    SegmentKind::Exchange,
];

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let (app, run) = (view.job.spark.as_deref()?, view.run.as_ref()?);
    if !run.has_tokens() || app.is_streaming() {
        return None;
    }
    let shared = contention(view);
    let mut found: Vec<(usize, Parts, f64)> = Vec::new();
    let open = unclaimed.by_stage(&WORK).into_iter();
    for (stage, parts) in open.filter(|(stage, _)| !unclaimed.is_claimed(*stage)) {
        // tasks that share cores gain less from more of them, unless they are slow by themselves
        let cores = run.tokens as f64 * (pace(view, stage) / shared).min(1.0);
        let Some(saved) = saved(app, run, stage, cores) else {
            continue;
        };
        let parts: Vec<(usize, f64)> = parts.into_iter().map(|(at, s)| (at, s * saved)).collect();
        let seconds = parts.iter().map(|(_, s)| s).sum();
        found.push((stage, parts, seconds));
    }
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    let stages: Vec<usize> = found.iter().map(|(stage, ..)| *stage).collect();
    let worst = *stages.first()?;
    let seconds: f64 = found.iter().map(|(.., s)| s).sum();
    let tasks = run.stages[worst].vertices.len();
    let used = used_share(run, &stages);
    let parts: Vec<(usize, f64)> = found.into_iter().flat_map(|(_, p, _)| p).collect();
    let edited = stages.clone();
    let tokens = run.tokens;
    let sentence = text!(
        "{worst} 有 {tasks}，而槽位有 {tokens} 个",
        "{worst} has {tasks} for {tokens} slots",
        worst = view.name(worst),
        tasks = TASK.count(tasks as f64),
    );
    let source = app.at_line(app.stages[worst].line);
    let fact = view.number(
        "Number of Tasks",
        tasks as f64,
        "count",
        source,
        sentence.clone(),
    );
    let mut evidence = vec![fact.expecting(format!(">= {tokens}"))];
    evidence.extend(unclaimed.evidence(&parts));
    Some(Excess {
        cause: Cause::ParallelismTooLow,
        summary: text!(
            "{names} 运行时只用到 {share} 的槽位：{sentence}；分成更多任务可缩短 {time}",
            "while {names} run, {share} of the slots are busy: {sentence}; more tasks would shorten this by {time}",
            names = stages_named(view, &stages),
            share = Share(used),
            sentence = sentence,
            time = Seconds(seconds),
        ),
        parts,
        stages,
        evidence,
        certainty: 0.8,
        method: "time of tasks on the critical path, divided among all slots",
        fix: Some(Fix::work(move |works| {
            for stage in &edited {
                regroup(&mut works[*stage], tokens, 0.0);
            }
        })),
    })
}

/// Share of a stage's time that as many tasks as there are cores would save; `None` if it has enough, or needs no more.
fn saved(app: &Application, run: &RunModel, stage: usize, cores: f64) -> Option<f64> {
    let work = &run.stages[stage];
    let record = &app.stages[stage];
    let tasks = work.vertices.len() as f64;
    // take() and the like read some partitions of many
    let partial = f64::from(record.partitions) > tasks;
    if partial || tasks >= cores || tasks < 1.0 {
        return None;
    }
    let longest = work.vertices.iter().map(|v| v.run_s).fold(0.0, f64::max);
    let even = (work.run_s() / cores).max(LEAST_TASK_S);
    (longest > even).then(|| 1.0 - even / longest)
}

/// Share of the slots that the tasks of some stages keep busy.
fn used_share(run: &RunModel, stages: &[usize]) -> f64 {
    let held: f64 = stages.iter().map(|s| run.stages[*s].run_s()).sum();
    let longest = |s: &usize| {
        run.stages[*s]
            .vertices
            .iter()
            .map(|v| v.run_s)
            .fold(0.0, f64::max)
    };
    let offered: f64 = stages.iter().map(longest).sum::<f64>() * run.tokens as f64;
    (held / offered.max(f64::MIN_POSITIVE)).min(1.0)
}
