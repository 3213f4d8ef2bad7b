//! The application as a job: name, state, times.

use super::collect::Collector;
use super::start::{cores_awaited, first_executor, start_of_driver};
use crate::model::{Job, JobState, Source};

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
    if let Some(user) = &log.user {
        info.other.insert("UserName".to_owned(), user.clone());
    }
    let setting = |name: &str| app.configuration.get(name);
    let queue = setting("spark.yarn.queue").or_else(|| setting("spark.kubernetes.namespace"));
    if let Some(queue) = queue {
        info.other
            .insert("VirtualCluster".to_owned(), queue.clone());
    }
    if let Some(version) = &app.version {
        info.other
            .insert("SparkVersion".to_owned(), version.clone());
    }
    let started = log.started;
    let submitted = setting("spark.app.submitTime").and_then(|t| t.trim().parse::<i64>().ok());
    let submitted = submitted.filter(|at| *at > 0 && started.is_none_or(|(start, _)| *at <= start));
    // earlier attempts ran until a later one began
    let submitted = submitted.filter(|_| log.attempt.is_none_or(|attempt| attempt <= 1));
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
    let first_job = app.jobs.first().map(|j| j.submitted_ms);
    let mut states: Vec<(&str, i64)> = Vec::new();
    let driver = match (submitted, started) {
        (Some(submitted), Some((start, _))) => Some(start_of_driver(app, submitted, start)),
        (_, started) => started.map(|(at, _)| at),
    };
    let queued = submitted.filter(|at| driver != Some(*at));
    states.extend(queued.map(|at| ("Queued", at)));
    states.extend(driver.map(|at| ("Starting", at)));
    // without executors, the driver's own work is not waiting, but a submitted job waits
    states.extend(
        first_job
            .filter(|at| ready.is_none_or(|(ready, _)| *at < ready))
            .map(|at| ("WaitingForCapacity", at)),
    );
    let short_of_cores = executor.filter(|_| awaited.is_some());
    states.extend(short_of_cores.map(|(at, _)| ("WaitingForCapacity", at)));
    states.extend(ready.map(|(at, _)| ("Running", at)));
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
