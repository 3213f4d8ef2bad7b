//! Slots of an application that idle while a stage works, since it has too few tasks.

use job::model::Application;
use report::{Cause, Text, text};

use super::shares::{TASKS, shares};
use super::{Excess, Unclaimed, stages_named};
use crate::impact::{RunModel, StageWork};
use crate::measurements::contention::{contention, pace};
use crate::measurements::tasks::origin;
use report::format::{Share, TASK};

/// Seconds that a task should run: dividing work further costs more to start than it saves.
const LEAST_TASK_S: f64 = 0.5;

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let (app, run) = (view.job.spark.as_deref()?, view.run.as_ref()?);
    if !run.has_tokens() || app.is_streaming() {
        return None;
    }
    let shared = contention(view);
    let share = |stage: usize, _| {
        // tasks that share cores gain less from more tasks, unless each task is slow on its own
        let cores = run.tokens as f64 * (pace(view, stage) / shared).min(1.0);
        saved(app, run, stage, cores).filter(|_| !unclaimed.is_claimed(stage))
    };
    let mut shares = shares(unclaimed, &TASKS, share)?;
    let origin = |stage: usize| origin(view, app, stage);
    shares.lead_by(|stage| origin(stage).map(|o| o.by));
    let worst = shares.stages[0];
    let tasks = run.stages[worst].vertices.len();
    let tokens = run.tokens;
    let why = origin(worst);
    let why = why.map_or_else(Text::default, |o| {
        text!("（{why}）", " ({why})", why = o.why)
    });
    let sentence = text!(
        "{worst} 有 {tasks}，而槽位有 {tokens} 个{why}",
        "{worst} has {tasks} for {tokens} slots{why}",
        worst = view.name(worst),
        tasks = TASK.count(tasks as f64),
        why = why,
    );
    let source = app.at_line(app.stages[worst].line);
    let fact = view.number(
        "Number of Tasks",
        tasks as f64,
        "count",
        source,
        sentence.clone(),
    );
    let evidence = fact.expecting(format!(">= {tokens}"));
    let summary = text!(
        "{names} 运行时只用到 {share} 的槽位：{sentence}；分成更多任务可缩短 {time}",
        "only {share} of the slots are busy in {names}: {sentence}; more tasks would shorten this by {time}",
        names = stages_named(view, &shares.stages),
        share = Share(used_share(run, &shares.stages)),
        sentence = sentence,
        time = shares.seconds(),
    );
    Some(Excess {
        method: "time of tasks on the critical path, divided among all slots",
        ..shares.excess(Cause::ParallelismTooLow, summary, [evidence], 0.8)
    })
}

/// Share of a stage's time that one task per core would save; `None` if the stage has enough tasks, or needs no more.
fn saved(app: &Application, run: &RunModel, stage: usize, cores: f64) -> Option<f64> {
    let work = &run.stages[stage];
    let record = &app.stages[stage];
    let tasks = work.vertices.len() as f64;
    // take() and the like read some partitions of many
    let partial = f64::from(record.partitions) > tasks;
    if partial || tasks >= cores || tasks < 1.0 {
        return None;
    }
    let longest = longest_s(work);
    let even = (work.run_s() / cores).max(LEAST_TASK_S);
    (longest > even).then(|| 1.0 - even / longest)
}

/// Share of the slots that the tasks of some stages keep busy.
fn used_share(run: &RunModel, stages: &[usize]) -> f64 {
    let held: f64 = stages.iter().map(|s| run.stages[*s].run_s()).sum();
    let longest = |s: &usize| longest_s(&run.stages[*s]);
    let offered: f64 = stages.iter().map(longest).sum::<f64>() * run.tokens as f64;
    (held / offered.max(f64::MIN_POSITIVE)).min(1.0)
}

fn longest_s(work: &StageWork) -> f64 {
    work.vertices.iter().map(|v| v.run_s).fold(0.0, f64::max)
}
