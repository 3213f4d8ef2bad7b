//! The application as a job: name, state, times.

use super::collect::Collector;
use super::start::{cores_awaited, first_executor, start_of_driver};
use crate::model::{Job, JobState, Source};

/// Time of submission, by the setting.
fn submitted(log: &Collector) -> Option<i64> {
    let setting = log.app.configuration.get("spark.app.submitTime");
    let submitted = setting.and_then(|t| t.trim().parse::<i64>().ok());
    let is_before = |at: i64| log.started.is_none_or(|(start, _)| at <= start);
    let submitted = submitted.filter(|at| *at > 0 && is_before(*at));
    // earlier attempts ran until a later one began
    submitted.filter(|_| log.attempt.is_none_or(|attempt| attempt <= 1))
}

/// States of the application with their starts. It is `short_of_cores` from its first executor on, if it awaits more, and `ready` when it
/// has them.
fn states(
    log: &Collector,
    submitted: Option<i64>,
    short_of_cores: Option<i64>,
    ready: Option<i64>,
) -> Vec<(&'static str, i64)> {
    let driver = match (submitted, log.started) {
        (Some(submitted), Some((start, _))) => Some(start_of_driver(&log.app, submitted, start)),
        (_, started) => started.map(|(at, _)| at),
    };
    let first_job = log.app.jobs.first().map(|j| j.submitted_ms);
    let states = [
        ("Queued", submitted.filter(|at| driver != Some(*at))),
        ("Starting", driver),
        // without executors, the driver's own work is not waiting, but a submitted job waits
        (
            "WaitingForCapacity",
            first_job.filter(|at| ready.is_none_or(|ready| *at < ready)),
        ),
        ("WaitingForCapacity", short_of_cores),
        ("Running", ready),
    ];
    let known = states.into_iter();
    known.filter_map(|(state, at)| Some((state, at?))).collect()
}

/// Fills the job information.
pub(super) fn fill(log: &Collector, job: &mut Job) {
    let app = &log.app;
    let file = &app.file;
    let at = |locator: &str| Source {
        file: file.clone(),
        locator: Some(locator.to_owned()),
    };
    let line = |line: u64| app.at_line(line);
    let info = &mut job.info;
    info.id.clone_from(&log.id);
    info.name.clone_from(&log.name);
    let setting = |name: &str| app.configuration.get(name);
    let queue = setting("spark.yarn.queue").or_else(|| setting("spark.kubernetes.namespace"));
    let other = [
        ("UserName", log.user.as_ref()),
        ("VirtualCluster", queue),
        ("SparkVersion", app.version.as_ref()),
    ];
    let known = other.into_iter();
    let known = known.filter_map(|(name, value)| Some((name.to_owned(), value?.clone())));
    info.other.extend(known);
    let (started, submitted) = (log.started, submitted(log));
    if let Some(submitted) = submitted {
        info.submitted_ms = Some(submitted);
        info.sources
            .insert("submitted_ms", at("Spark Properties/spark.app.submitTime"));
    } else if let Some((start, from)) = started {
        info.submitted_ms = Some(start);
        info.sources.insert("submitted_ms", line(from));
    }
    let (state, from) = state(log);
    info.state = state;
    if let Some(from) = from {
        info.sources.insert("state", line(from));
    }
    let ended = log.ended.or_else(|| last_event(log));
    if let Some((end, from)) = ended {
        info.ended_ms = Some(end);
        info.sources.insert("ended_ms", line(from));
    }
    let executor = first_executor(log);
    let awaited = cores_awaited(log).filter(|at| executor.is_some_and(|(first, _)| first < *at));
    let ready = executor.map(|(came, line)| (awaited.unwrap_or(came), line));
    let short_of_cores = executor.filter(|_| awaited.is_some()).map(|(at, _)| at);
    let states = states(log, submitted, short_of_cores, ready.map(|(at, _)| at));
    let running = ready.or(started);
    if let Some((start, from)) = running {
        info.started_ms = Some(start);
        info.sources.insert("started_ms", line(from));
    }
    if let Some(((start, _), (end, from))) = running.zip(ended).filter(|(a, b)| a.0 < b.0) {
        info.elapsed_seconds = Some((end - start) as f64 / 1e3);
        info.sources.insert("elapsed_seconds", line(from));
    }
    let waits = states
        .windows(2)
        .filter(|pair| pair[0].0 != "Starting" && pair[0].0 != "Running");
    let waited: i64 = waits.map(|pair| pair[1].1 - pair[0].1).sum();
    if let Some((_, from)) = ready.filter(|_| submitted.is_some()) {
        info.queued_seconds = Some(waited.max(0) as f64 / 1e3);
        info.sources.insert("queued_seconds", line(from));
    }
    info.states = states
        .into_iter()
        .map(|(state, at)| (state.to_owned(), at))
        .collect();
    // a part of a log without the start of the application is analyzed on its own
    if let Some((from, to)) = span(log).filter(|_| log.started.is_none()) {
        info.started_ms = Some(from);
        info.ended_ms.get_or_insert(to);
        info.elapsed_seconds = Some((to - from) as f64 / 1e3).filter(|s| *s > 0.0);
    }
    if let Some(slots) = app.slots() {
        info.tokens = Some(slots);
        let added = app.executors.iter().map(|e| e.line).min().unwrap_or(0);
        info.sources.insert("tokens", line(added));
    }
}

/// The last time in a log that lacks the end of its application, and its line: the application ran at least until then.
pub(super) fn last_event(log: &Collector) -> Option<(i64, u64)> {
    let app = &log.app;
    let jobs = app.jobs.iter().map(|j| (j.ended_ms, j.line));
    let stages = app.stages.iter().map(|s| (s.completed_ms, s.line));
    let tasks = app.stages.iter().flat_map(|s| &s.attempts);
    let tasks = tasks.map(|t| (Some(t.finished_ms), t.line));
    let executions = app.executions.iter().map(|e| (e.ended_ms, e.line));
    let executors = app
        .executors
        .iter()
        .map(|e| (e.removed_ms.max(e.added_ms), e.line));
    let times = jobs
        .chain(stages)
        .chain(tasks)
        .chain(executions)
        .chain(executors);
    times.filter_map(|(at, line)| Some((at?, line))).max()
}

/// Final state of the application, and its line: it failed if its last job or execution failed.
fn state(log: &Collector) -> (JobState, Option<u64>) {
    let jobs = log.app.jobs.iter().filter(|j| j.ended_ms.is_some());
    let last_job = jobs.max_by_key(|j| (j.ended_ms, j.id));
    let executions = log.app.executions.iter().filter(|e| e.ended_ms.is_some());
    let last_execution = executions.max_by_key(|e| (e.ended_ms, e.id));
    let job_failed = last_job.filter(|j| j.succeeded == Some(false));
    let later = |e: &&crate::model::Execution| last_job.is_none_or(|j| e.ended_ms >= j.ended_ms);
    let execution_failed = last_execution.filter(|e| e.error.is_some()).filter(later);
    if let Some(line) = job_failed
        .map(|j| j.line)
        .or(execution_failed.map(|e| e.line))
    {
        return (JobState::Failed, Some(line));
    }
    if let Some((_, line)) = log.streams.failure() {
        return (JobState::Failed, Some(line));
    }
    match log.ended {
        Some((_, line)) => (JobState::Succeeded, Some(line)),
        None => (JobState::Unknown, None),
    }
}

/// Time range of a log's events of jobs and stages.
pub(super) fn span(log: &Collector) -> Option<(i64, i64)> {
    let app = &log.app;
    let stages = app.stages.iter();
    let stages = stages.flat_map(|s| [s.submitted_ms, s.completed_ms]);
    let tasks = app.stages.iter().flat_map(|s| &s.attempts);
    let tasks = tasks.flat_map(|t| [Some(t.launched_ms), Some(t.finished_ms)]);
    let jobs = app
        .jobs
        .iter()
        .flat_map(|j| [Some(j.submitted_ms), j.ended_ms]);
    let times = stages.chain(tasks).chain(jobs).flatten();
    times
        .filter(|at| *at > 0)
        .fold(None, |span, at| match span {
            None => Some((at, at)),
            Some((from, to)) => Some((at.min(from), at.max(to))),
        })
}
