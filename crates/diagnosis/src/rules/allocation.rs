//! Rules for `allocation.over` and `allocation.under`: more executors than the application needed, or
//! too few.

use job::model::Application;

use super::support::{Symptom, rule};
use crate::facts::fact;
use crate::impact::{Fix, RunModel, Saved, regroup, replay, schedule};
use crate::measurements::tiny::is_tiny;
use crate::rule::Examination;
use crate::settings::threshold;
use crate::view::View;
use report::format::{Number, Seconds, Share};
use report::{Evidence, text};

threshold! {
    /// Least idle share of all slots for an application to be examined.
    pub(crate) MIN_IDLE = 0.66, "share", "allocation.min_idle";
    "启动、规划和各阶段的尾部总会让一半左右的核空闲；三分之二以上空闲说明申请过多", "start-up, planning and the ends of stages leave up to half of the cores idle; two thirds mean that too many were requested";
    "judgment; the replay with fewer executors decides"
}

/// Largest acceptable slowdown of the run on fewer executors.
const NO_LONGER: f64 = 1.05;

threshold! {
    /// Least saving in seconds by more executors: requesting, starting and warming them up takes some
    /// ten seconds.
    pub(crate) MIN_GAIN = 60.0, "s", "allocation.min_gain";
    "新 Executor 的申请、启动和预热要十几秒到半分钟，短作业等不到回报", "new executors take ten to thirty seconds to start and warm up, too long for short runs";
    "start-up of executors in public logs"
}

/// Like [`MIN_GAIN`], in seconds, for an application with a single executor.
const MIN_GAIN_OF_ONE_S: f64 = 10.0;

/// Tasks per slot that must be waiting on average: then more executors shorten every stage.
const MIN_QUEUE: f64 = 4.0;

rule! { OVER = OverAllocation, examine_over;
    "占用的 Executor 大部分时间空闲：浪费资源，不影响运行时间", "executors are held and mostly idle: a waste of resources, not of time";
    needs VertexEvents, JobTimes;
    thresholds MIN_IDLE;
    unless "Executor 空闲是因为任务太少或倾斜", "they are idle because tasks are too few or skewed";
    unless "Executor 更少时运行会更久", "the run would take longer on fewer of them";
}

rule! { UNDER = UnderAllocation, examine_under;
    "所有 Executor 一直忙碌，任务大部分时间在排队", "all executors are busy and tasks queue most of the time";
    needs VertexEvents, JobTimes;
    thresholds MIN_GAIN;
    unless "任务本身有可以消除的工作", "the tasks do needless work";
    unless "运行太短，等不到更多 Executor", "the run is too short for more executors to start";
    cleared "更多 Executor 省下的时间不足以抵偿它们的启动", "more executors would save less than their start-up takes";
}

fn examine_over(view: &View<'_>, result: &mut Examination) {
    let Some((app, run, held)) = held(view) else {
        return;
    };
    // a stream waits for data, and an unfinished application may need its executors later
    if app.is_streaming() || !app.complete {
        return;
    }
    let limit = view.limit(&MIN_IDLE);
    let (needed, slots) = needed(app, run, held.executors);
    if held.idle() >= limit && slots * 2 <= held.slots {
        let hours = held.seconds * (1.0 - slots as f64 / held.slots as f64) / 3600.0;
        let independent = idle_at_best(run, &held) >= limit;
        result.wastes(view, over(view, app, &held, needed), hours, independent);
    } else {
        let closeness = (held.idle() / limit).min(0.99);
        result.under(closeness, || evidence(view, app, &held));
    }
    result.cleared_by(text!(
        "占用的核有 {share} 空闲，或者减少 Executor 会使运行变慢",
        "{share} of the core time is idle, or fewer executors would slow the run",
        share = Share(held.idle()),
    ));
}

fn examine_under(view: &View<'_>, result: &mut Examination) {
    let Some((app, run, held)) = held(view) else {
        return;
    };
    let queue = mean_queue(view, run) / run.tokens.max(1) as f64;
    let Some(saved) = run.saved(Fix::Tokens(run.tokens * 2)) else {
        return;
    };
    let seconds = saved.seconds;
    let limit = match held.executors {
        1 => view.limit(&MIN_GAIN).min(MIN_GAIN_OF_ONE_S),
        _ => view.limit(&MIN_GAIN),
    };
    if queue >= MIN_QUEUE && seconds >= limit && run.tokens_known {
        result.found(view, under(view, app, &held, queue, saved, run));
    } else {
        let closeness = (seconds / limit).min(queue / MIN_QUEUE).min(0.99);
        result.under(closeness, || evidence(view, app, &held));
    }
}

/// A successful application, its run, and the use of its executors; `None` if the
/// log does not show it.
fn held<'a>(view: &'a View<'_>) -> Option<(&'a Application, &'a RunModel, Held)> {
    let app = view.job.spark.as_deref().filter(|_| !view.failed())?;
    Some((app, view.run.as_ref()?, Held::of(view, app)?))
}

/// Use of the executors. Seconds are slot-seconds.
struct Held {
    /// Largest number of executors held at the same time, and of their slots.
    executors: usize,
    slots: usize,
    seconds: f64,
    used: f64,
}

impl Held {
    fn of(view: &View<'_>, app: &Application) -> Option<Held> {
        let end = view.job.info.ended_ms?;
        let came = app
            .executors
            .iter()
            .filter(|e| e.added_ms.is_some() && e.id != "driver");
        // while no work is open in a shell, its user thinks
        let spans = match app.interactive {
            true => app.open_spans(),
            false => vec![(i64::MIN, end)],
        };
        // dynamic allocation keeps an idle executor for a while for possible work
        let kept = app.idle_timeout_ms().unwrap_or(0) as f64 / 1000.0;
        let (mut seconds, mut used) = (0.0, 0.0);
        let mut changes = Vec::new();
        for e in came {
            let slots = i64::from(e.slots(app.task_cores));
            let until = e.removed_ms.unwrap_or(end).min(end);
            let (mut held, busy) = (0.0, e.busy_ms as f64 / 1000.0);
            for (open, closed) in &spans {
                let (from, until) = (e.added_ms?.max(*open), until.min(*closed));
                if from < until {
                    held += (slots * (until - from)) as f64 / 1000.0;
                    changes.extend([(from, 1, slots), (until, -1, -slots)]);
                }
            }
            seconds += (held - kept * slots as f64).max(held.min(busy));
            used += busy;
        }
        let (executors, slots) = most_at_once(changes);
        // tasks without an end in the log may have used their slots for the whole time of the stage
        for stage in app.stages.iter().filter(|s| s.lost_events) {
            let open = stage.submitted_ms.zip(stage.completed_ms);
            let open_s = open.map_or(0.0, |(from, to)| (to - from) as f64 / 1000.0);
            used += open_s * slots.min(stage.tasks as usize) as f64;
        }
        (seconds > 0.0).then_some(Held {
            executors,
            slots,
            seconds,
            used,
        })
    }

    fn idle(&self) -> f64 {
        (1.0 - self.used / self.seconds).clamp(0.0, 1.0)
    }
}

/// The largest number of executors and of slots at any time. A change is a time with a difference of each number.
fn most_at_once(mut changes: Vec<(i64, i64, i64)>) -> (usize, usize) {
    // the sort puts removals before additions at the same time
    changes.sort_unstable();
    let (mut now, mut most) = ((0, 0), (0, 0));
    for (_, executors, slots) in changes {
        now = (now.0 + executors, now.1 + slots);
        most = (now.0.max(most.0), now.1.max(most.1));
    }
    (most.0 as usize, most.1 as usize)
}

/// Fewest executors on which the replayed run takes no longer, and their slots.
fn needed(app: &Application, run: &RunModel, executors: usize) -> (usize, usize) {
    let slots = app.executors.iter().map(|e| e.slots(app.task_cores)).max();
    let slots = slots.unwrap_or(1).max(1) as usize;
    let fits = |n: &usize| replay(&run.stages, n * slots) <= run.replayed_s * NO_LONGER;
    let needed = (1..=executors).find(fits).unwrap_or(executors);
    (needed, needed * slots)
}

/// Idle share of the executors if every stage had a task for each slot: time without tasks remains.
fn idle_at_best(run: &RunModel, held: &Held) -> f64 {
    let mut stages = run.stages.clone();
    let few = stages.iter_mut().filter(|s| s.vertices.len() < run.tokens);
    few.for_each(|stage| regroup(stage, run.tokens, 0.0));
    let saved = run.seconds(run.replayed_s - replay(&stages, run.tokens));
    let seconds = (run.elapsed_s - saved).max(f64::MIN_POSITIVE);
    (1.0 - held.used / (seconds * held.slots as f64)).clamp(0.0, 1.0)
}

/// Tasks that wait for a slot, on average over the replayed run. Tasks that are too many for their data would be fewer, and don't count.
fn mean_queue(view: &View<'_>, run: &RunModel) -> f64 {
    let tiny = |stage| is_tiny(view, stage).unwrap_or_default();
    let tiny: Vec<bool> = (0..run.stages.len()).map(tiny).collect();
    let mut waited = 0.0;
    schedule(&run.stages, run.tokens, |turn| {
        if !tiny[turn.stage] {
            waited += turn.from - turn.ready;
        }
    });
    waited / run.replayed_s
}

fn over(view: &View<'_>, app: &Application, held: &Held, needed: usize) -> Symptom {
    Symptom {
        summary: text!(
            "{n} 个 Executor 的核时有 {share} 空闲；{needed} 个就够，运行最多慢 5 %",
            "{share} of the core time of {n} executors is idle; with {needed}, the run would take at most 5 % longer",
            n = Number(held.executors as f64),
            needed = Number(needed as f64),
            share = Share(held.idle()),
        ),
        evidence: evidence(view, app, held),
        method: "core time of the executors that the replayed run does not need to end as early",
        strength: 0.6 + 0.4 * held.idle(),
        ..Symptom::default()
    }
}

fn under(
    view: &View<'_>,
    app: &Application,
    held: &Held,
    queue: f64,
    saved: Saved,
    run: &RunModel,
) -> Symptom {
    Symptom {
        summary: text!(
            "{slots} 个任务槽一直忙碌，平均每个槽有 {queue:.0} 个任务在等；两倍的 Executor 约可节省 {time}",
            "all {slots} slots are busy, with {queue:.0} tasks waiting for each on average; twice the executors would save about {time}",
            slots = Number(run.tokens as f64),
            time = Seconds(saved.seconds),
        ),
        evidence: evidence(view, app, held),
        saved: Some(saved),
        method: "schedule replayed on twice the slots",
        strength: 0.7,
        ..Symptom::default()
    }
}

fn evidence(view: &View<'_>, app: &Application, held: &Held) -> Vec<Evidence> {
    let Some(first) = app.executors.first() else {
        return Vec::new();
    };
    let source = || app.at_line(first.line);
    let (n, held_s, used_s) = (held.executors as f64, held.seconds, held.used);
    vec![
        fact! { view, "core time held", held_s, "s", source();
        "{n} 个 Executor 共占用 {time} 核时", "{n} executors are held for {time} of core time", n = Number(n), time = Seconds(held_s) },
        fact! { view, "core time used", used_s, "s", source();
        "任务占用其中 {time}", "tasks use {time} of it", time = Seconds(used_s) },
    ]
}
