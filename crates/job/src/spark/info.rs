//! The application as a job: name, state, times, and why it failed.

use super::collect::Collector;
use super::failure::TaskFailure;
use super::stages::{self, Index};
use crate::model::{Job, JobError, JobState, Source};

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
    // until a later attempt began, earlier ones ran
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
    if let Some((end, from)) = log.ended {
        info.ended_ms = Some(end);
        info.sources.insert("ended_ms", line(from));
    }
    let executor = first_executor(log);
    let awaited = cores_awaited(log).filter(|at| executor.is_some_and(|(first, _)| first < *at));
    let first = match (executor, awaited) {
        (Some((_, line)), Some(at)) => Some((at, line)),
        _ => executor,
    };
    let first_job = app.jobs.first().map(|j| j.submitted_ms);
    let mut states: Vec<(&str, i64)> = Vec::new();
    states.extend(submitted.map(|at| ("Queued", at)));
    states.extend(started.map(|(at, _)| ("Starting", at)));
    // without executors the driver's own work is no waiting; a job that was submitted waits
    states.extend(
        first_job
            .filter(|at| first.is_none_or(|(first, _)| *at < first))
            .map(|at| ("WaitingForCapacity", at)),
    );
    let cores = executor.filter(|_| awaited.is_some());
    states.extend(cores.map(|(at, _)| ("WaitingForCapacity", at)));
    states.extend(first.map(|(at, _)| ("Running", at)));
    let running = first.or(started);
    if let Some((start, from)) = running {
        info.started_ms = Some(start);
        info.sources.insert("started_ms", line(from));
    }
    if let Some(((start, _), (end, from))) = running.zip(log.ended).filter(|(a, b)| a.0 < b.0) {
        info.elapsed_seconds = Some((end - start) as f64 / 1e3);
        info.sources.insert("elapsed_seconds", line(from));
    }
    let waits = states
        .windows(2)
        .filter(|pair| pair[0].0 != "Starting" && pair[0].0 != "Running");
    let waited: i64 = waits.map(|pair| pair[1].1 - pair[0].1).sum();
    if first.is_some() && submitted.is_some() {
        info.queued_seconds = Some(waited.max(0) as f64 / 1e3);
        let from = first.map_or(0, |(_, from)| from);
        info.sources.insert("queued_seconds", line(from));
    }
    info.states = states
        .into_iter()
        .map(|(state, at)| (state.to_owned(), at))
        .collect();
    if let Some(slots) = app.slots() {
        info.tokens = Some(slots);
        let added = app.executors.iter().map(|e| e.line).min().unwrap_or(0);
        info.sources.insert("tokens", line(added));
    }
}

/// Until when the application waits for the share of its cores with which it is content to begin, or for as
/// long as it is set to; `None` where it does not wait, or the settings don't say for how many.
fn cores_awaited(log: &Collector) -> Option<i64> {
    let app = &log.app;
    let setting = |name: &str| app.configuration.get(name).map(|v| v.trim());
    let number = |name: &str| setting(name)?.parse::<f64>().ok();
    let (start, _) = log.started?;
    let first_job = app.jobs.first()?.submitted_ms;
    // the cluster managers but Spark's own have a share of their own
    let managed =
        setting("spark.master").is_some_and(|m| m.starts_with("yarn") || m.starts_with("k8s"));
    let share = number("spark.scheduler.minRegisteredResourcesRatio");
    let share = share.or(managed.then_some(0.8)).filter(|s| *s > 0.0)?;
    let executors = number("spark.executor.instances");
    let of_executors = executors.map(|n| n * number("spark.executor.cores").unwrap_or(1.0));
    let wanted = number("spark.cores.max").or(of_executors)? * share;
    let longest = setting("spark.scheduler.maxRegisteredResourcesWaitingTime");
    let longest = longest.map_or(Some(30_000), milliseconds)?;
    let mut came: Vec<(i64, u32)> = app
        .executors
        .iter()
        .filter_map(|e| Some((e.added_ms?, e.cores?)))
        .collect();
    came.sort_unstable();
    let mut cores = 0.0;
    let enough = came.into_iter().find(|(_, more)| {
        cores += f64::from(*more);
        cores >= wanted
    });
    let enough = enough.map(|(at, _)| at);
    let until = enough
        .unwrap_or(i64::MAX)
        .min(start.saturating_add(longest));
    Some(until).filter(|until| *until <= first_job)
}

/// A duration of a setting: `30s`, `500ms`, `2min`; without a unit it is in milliseconds.
fn milliseconds(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    digits.trim().parse::<i64>().ok()?.checked_mul(unit)
}

/// When the first executor came, and the line that says so.
fn first_executor(log: &Collector) -> Option<(i64, u64)> {
    let added = log
        .app
        .executors
        .iter()
        .filter_map(|e| Some((e.added_ms?, e.line)));
    let tasks = log.app.stages.iter().flat_map(|s| &s.attempts);
    let launched = tasks.map(|t| (t.launched_ms, t.line)).min();
    match added.min() {
        // a task shows that there was one
        Some(added) => Some(launched.filter(|task| task.0 < added.0).unwrap_or(added)),
        None => launched,
    }
}

/// How the application ended, and the line that says so: it failed with its last job or execution.
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
    match log.ended {
        Some((_, line)) => (JobState::Succeeded, Some(line)),
        None => (JobState::Unknown, None),
    }
}

/// Adds why a failed application failed: the failures of tasks in the stage that its last job
/// failed with, the last one first, else what the job or execution says itself.
pub(super) fn errors(log: &Collector, index: &Index, job: &mut Job) {
    if job.info.state != JobState::Failed {
        return;
    }
    let jobs = log.app.jobs.iter().filter(|j| j.succeeded == Some(false));
    let last = jobs.max_by_key(|j| (j.ended_ms, j.id));
    let own = |stage: (u32, u32)| {
        let at = index.get(stage);
        last.is_none_or(|l| at.is_some_and(|at| l.stages.contains(&at)))
    };
    // executors that go when all has failed take tasks with them
    let after = |f: &&TaskFailure| f.lost && last.is_some_and(|l| l.ended_ms < Some(f.finished));
    let failures = log.failures.iter().filter(|f| own(f.stage) && !after(f));
    let mut failures: Vec<_> = failures.collect();
    failures.sort_by_key(|f| (f.lost, std::cmp::Reverse((f.finished, f.line))));
    let mut seen = Vec::new();
    for failure in failures {
        let message = failure.message();
        if seen.contains(&message) {
            continue;
        }
        let file = log.parts.get(failure.part).unwrap_or(&log.app.file);
        job.errors
            .push(failure.error(file, &stages::name(failure.stage.0, failure.stage.1)));
        seen.push(message);
    }
    let said = last.and_then(|l| l.error.clone());
    let executions = log.app.executions.iter().filter(|e| e.error.is_some());
    let said = said.or_else(|| {
        executions
            .max_by_key(|e| e.ended_ms)
            .and_then(|e| e.error.clone())
    });
    if let Some(message) = said.filter(|_| job.errors.is_empty()) {
        let first = message.lines().next().unwrap_or_default();
        job.errors.push(JobError {
            file: log.app.file.clone(),
            id: first
                .split([':', ' '])
                .next()
                .filter(|id| id.contains('.'))
                .map(str::to_owned),
            message: first.to_owned(),
            details: Some(message.clone()),
            ..JobError::default()
        });
    }
}
