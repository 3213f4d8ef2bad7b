//! Builds the job from a log: executors, stages and jobs of the driver first, then everything derived from them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::collect::{Collector, JobState, StageState};
use super::edges::{add_edges, order};
use super::failure::{exit_code, is_lost, machine};
use super::info::{last_event, span};
use super::operators::add_plans;
use super::stages::{self, Index};
use crate::counters::Name;
use crate::model::{DriverJob, Executor, Job, Stage};
use crate::problem::Problem;

/// Builds the job from a complete log.
pub(super) fn build(mut log: Collector, job: &mut Job) {
    log.trim();
    log.app.file = log.parts.first().cloned().unwrap_or_default();
    log.app.task_cores = task_cores(&log);
    log.app.interactive |= is_interactive(&log);
    let ended = log.ended.map(|(at, _)| at).or_else(|| last_job_end(&log));
    for executor in &mut log.app.executors {
        executor.exit_code = executor.reason.as_deref().and_then(exit_code);
        executor.lost = is_lost(executor, ended);
    }
    sort_executors(&mut log);
    assume_cores(&mut log);
    log.app.ended_streams = log.streams.ended();
    forgive_stopped_streams(&mut log);
    let index = Index::of(&log.stages);
    add_stages(&mut log, &index, job);
    add_jobs(&mut log, &index);
    correct_end(&mut log);
    let links = add_plans(&mut log, &index, job);
    let left_out_edges = add_edges(&log, &index, &links, job);
    job.order = order(&log);
    super::info::fill(&log, job);
    super::reasons::add(&log, &index, job);
    note(&log, job);
    if left_out_edges {
        job.note(
            &log.app.file.clone(),
            None,
            &Problem::MoreEdges(job.edges.len()),
        );
    }
    log.app.untold = log.forgotten.stages.take();
    log.app.untold_actions = log.forgotten.actions.take();
    job.spark = Some(Box::new(log.app));
}

/// Clears the failures of batches that were running when their stream was stopped.
fn forgive_stopped_streams(log: &mut Collector) {
    for state in log.jobs.values_mut() {
        log.streams.forgive(&mut state.job);
    }
    for state in log.executions.values_mut() {
        log.streams.forgive_execution(&mut state.execution);
    }
}

/// Replaces an end before the start by the last event: the clock was set back, or the log was changed.
fn correct_end(log: &mut Collector) {
    let (Some((start, _)), Some((end, line))) = (log.started, log.ended) else {
        return;
    };
    if end < start {
        log.impossible.get_or_insert((0, end as f64)).0 += 1;
        let last = last_event(log).map_or(start, |(at, _)| at.max(start));
        log.ended = Some((last, line));
    }
}

/// End of the last job, unless one is open: a driver that throws may not write the end of
/// its application. Events after its last job are then not lost.
fn last_job_end(log: &Collector) -> Option<i64> {
    let ends = log.jobs.values().map(|s| s.job.ended_ms);
    ends.collect::<Option<Vec<i64>>>()?.into_iter().max()
}

/// Sorts the executors by arrival, independent of the sequence of their events.
fn sort_executors(log: &mut Collector) {
    let key = |e: &Executor| {
        let number: u64 = e.id.parse().unwrap_or(u64::MAX);
        (e.added_ms.unwrap_or(i64::MAX), number, e.id.clone())
    };
    let mut order: Vec<usize> = (0..log.app.executors.len()).collect();
    order.sort_by_cached_key(|at| key(&log.app.executors[*at]));
    let mut place = vec![0_u32; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new as u32;
    }
    log.app.executors.sort_by_cached_key(key);
    let tasks = log.stages.values_mut().flat_map(|s| &mut s.tasks.kept);
    for (_, task) in tasks {
        if let Some(place) = place.get(task.executor as usize) {
            task.executor = *place;
        }
    }
}

fn task_cores(log: &Collector) -> u32 {
    let stated = log.app.configuration.get("spark.task.cpus");
    let stated = stated.and_then(|n| n.trim().parse().ok());
    stated.unwrap_or(log.app.task_cores).max(1)
}

/// Source names of interactive input, in place of a source file and line.
const TYPED: [&str; 4] = ["<console>", "<stdin>", "<ipython-input", "<command-"];

/// Whether it is a shell or notebook, by its marks in the configuration and in the names of stages.
fn is_interactive(log: &Collector) -> bool {
    let mut stages = log.stages.values();
    let typed = stages.any(|stage| TYPED.iter().any(|mark| stage.name.contains(mark)));
    let set = |name: &str| log.app.configuration.contains_key(name);
    let named = [
        "PySparkShell",
        "Spark shell",
        "SparkR",
        "Zeppelin",
        "livy-session",
        "Databricks Shell",
    ];
    let name = log.name.as_deref().unwrap_or_default();
    typed
        || set("spark.repl.class.uri")
        || set("spark.repl.class.outputDir")
        || named.iter().any(|n| name.starts_with(n))
}

/// Gives each executor without a recorded registration (before Spark 1.3) as many cores as tasks ran on it at once.
fn assume_cores(log: &mut Collector) {
    let app = &mut log.app;
    let is_unknown = |e: &Executor| e.cores.is_none() && (e.tasks > 0 || e.memory_bytes.is_some());
    if !app.executors.iter().any(is_unknown) {
        return;
    }
    let mut changes: Vec<(u32, i64, i32)> = Vec::new();
    for (_, task) in log.stages.values().flat_map(|s| &s.tasks.kept) {
        let of_unknown = app
            .executors
            .get(task.executor as usize)
            .is_some_and(is_unknown);
        if of_unknown && task.launched_ms < task.finished_ms {
            changes.push((task.executor, task.launched_ms, 1));
            changes.push((task.executor, task.finished_ms, -1));
        }
    }
    changes.sort_unstable();
    let mut most = vec![1_i32; app.executors.len()];
    for of_one in changes.chunk_by(|a, b| a.0 == b.0) {
        let mut running = 0;
        for (executor, _, step) in of_one {
            running += step;
            most[*executor as usize] = most[*executor as usize].max(running);
        }
    }
    let unknown = app.executors.iter_mut().zip(most);
    for (executor, most) in unknown.filter(|(e, _)| is_unknown(e)) {
        executor.cores = Some(most.unsigned_abs() * app.task_cores);
    }
}

fn add_stages(log: &mut Collector, index: &Index, job: &mut Job) {
    let executors = log.app.executors.iter();
    let machines: Arc<[Name]> = executors
        .map(|e| Name::from(machine(&e.id, &e.host).as_str()))
        .collect();
    job.stages.reserve_exact(index.keys.len());
    log.app.stages.reserve_exact(index.keys.len());
    for key in index.keys.clone() {
        let others = index.attempts(key.0).count() > 1;
        let Some((record, runs)) = stages::attempt(log, key, others, &machines) else {
            continue;
        };
        if record.lost_events {
            let (stage, expected) = (stages::name(key.0, key.1), u64::from(record.tasks));
            let problem = Problem::EventsLost(stage, runs.completed, expected);
            job.note(&runs.file, Some(format!("line {}", record.line)), &problem);
        }
        job.stages.push(Stage {
            name: stages::name(key.0, key.1),
            call_site: Some(record.call_site.clone()).filter(|s| !s.is_empty()),
            defined_in: Some(runs.file.clone()),
            runs: Some(runs),
            ..Stage::default()
        });
        log.app.stages.push(record);
    }
    for (rdd, stage) in &log.cached_by {
        if let Some(cached) = log.cached.get_mut(rdd) {
            cached.stages.extend(index.attempts(*stage));
        }
    }
    let cached = std::mem::take(&mut log.cached).into_values();
    log.app.cached = cached.filter(|c| c.partitions > 0).collect();
}

fn add_jobs(log: &mut Collector, index: &Index) {
    let at: HashMap<u32, usize> = log.executions.keys().copied().zip(0..).collect();
    let mut jobs: Vec<_> = log
        .jobs
        .values()
        .filter_map(|state| Some((submitted(state, &log.stages)?, state)))
        .collect();
    jobs.sort_by_key(|(at, state)| (*at, state.job.id));
    let mut done = Vec::with_capacity(jobs.len());
    for (submitted_ms, state) in jobs {
        let mut job = DriverJob {
            submitted_ms,
            ..state.job.clone()
        };
        job.execution = state.execution.and_then(|id| at.get(&id).copied());
        for id in &state.stages {
            let own: Vec<usize> = index.attempts(*id).collect();
            if own.is_empty() {
                job.reused.extend(index.writers(*id, &log.stages));
            }
            for stage in own {
                let record = &mut log.app.stages[stage];
                // a stage that several jobs wait for belongs to the first
                if record.job.is_none() {
                    record.job = Some(done.len());
                    record.execution = job.execution;
                    job.stages.push(stage);
                }
            }
        }
        job.stages.sort_unstable();
        job.reused.sort_unstable();
        job.reused.dedup();
        done.push(job);
    }
    log.app.jobs = done;
}

/// Submission time of a job: from its event, else from its first stage. `None` if the log lost the job's start.
fn submitted(state: &JobState, stages: &BTreeMap<(u32, u32), StageState>) -> Option<i64> {
    let stated = Some(state.job.submitted_ms).filter(|at| *at > 0);
    stated.or_else(|| {
        let own = state.stages.iter().filter_map(|id| stages.get(&(*id, 0)));
        own.filter_map(|stage| stage.submitted).min()
    })
}

/// Notes missing parts of the log.
fn note(log: &Collector, job: &mut Job) {
    let file = log.app.file.clone();
    if let Some((line, cut)) = log.first_unreadable {
        let place = Some(format!("line {line}"));
        let problem = match (cut, log.unreadable) {
            (true, 1) => Problem::CutEvent,
            (_, n) => Problem::UnreadableEvents(n),
        };
        job.note(&file, place, &problem);
    }
    if !log.unknown.is_empty() {
        let events = log.unknown.values().sum();
        let kinds = log
            .unknown
            .keys()
            .take(5)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        job.note(&file, None, &Problem::UnknownEvents(events, kinds));
    }
    if log.has_shed {
        job.note(&file, None, &Problem::TotalsOnly);
    }
    if log.left_out {
        job.note(&file, None, &Problem::MoreOfLog(log.limits.things));
    }
    if let Some((events, first)) = log.impossible {
        let problem = Problem::ImpossibleTimes(events, format!("{first:.0} ms"));
        job.note(&file, None, &problem);
    }
    let hours = job.info.elapsed_seconds.map_or(0, |s| (s / 3600.0) as i64);
    if hours > LONGEST_HOURS {
        (job.info.elapsed_seconds, job.info.ended_ms) = (None, None);
        job.note(&file, None, &Problem::ImpossiblyLong(hours));
    }
    match span(log).filter(|_| log.started.is_none()) {
        Some((from, to)) => {
            job.note(&file, None, &Problem::PartOfLog(shown(from), shown(to)));
        }
        None if log.ended.is_none() && !log.app.left_unread => {
            job.note(&file, None, &Problem::NoApplicationEnd)
        }
        None => {}
    }
}

/// Hours of a year: an application that seems to run longer has a wrong timestamp.
const LONGEST_HOURS: i64 = 8_784;

fn shown(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |at| at.to_string())
}
