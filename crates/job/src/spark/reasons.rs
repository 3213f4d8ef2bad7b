//! Reasons for the failure of an application, from its last job, tasks, stages and executor removals.

use super::collect::Collector;
use super::failure::{TaskFailure, innermost, machine, own_frame};
use super::stages::{self, Index};
use crate::model::{DriverJob, Job, JobError, JobState};
use crate::text::head;

/// Characters kept of a message.
const MAX_MESSAGE: usize = 2_000;
/// Bytes kept of a text with its stack.
const MAX_TEXT: usize = 64_000;
/// Maximum number of errors, with different messages.
const MAX_ERRORS: usize = 100;

/// Adds the errors of a failed application, the decisive one first: the text of its last job, or the task quoted in that
/// text; then other failed tasks of the job, latest first; then its stages and lost executors.
pub(super) fn add(log: &Collector, index: &Index, job: &mut Job) {
    if job.info.state != JobState::Failed {
        return;
    }
    let jobs = log.app.jobs.iter().filter(|j| j.succeeded == Some(false));
    let last = jobs.max_by_key(|j| (j.ended_ms, j.id));
    let failures = failures(log, index, last);
    let decisive = decisive(log, last);
    let mut found = Errors::default();
    let quoted = decisive.and_then(|d| quoted_task(d.text));
    let is_quoted = |f: &&&TaskFailure| quoted == Some((f.stage, f.index));
    let file_of = |f: &TaskFailure| log.parts.get(f.part).unwrap_or(&log.app.file);
    let of_task = |f: &TaskFailure| f.error(file_of(f), &stages::name(f.stage.0, f.stage.1));
    if let Some(task) = failures.iter().find(is_quoted) {
        found.push(of_task(task));
    } else if let Some(decisive) = decisive {
        found.push(of_text(log, decisive, quoted.map(|(stage, _)| stage)));
    }
    for failure in &failures {
        found.push(of_task(failure));
    }
    for (key, stage) in &log.stages {
        if let Some(text) = stage
            .failure
            .as_deref()
            .filter(|_| of_job(index, last, *key))
        {
            let part = log.parts.get(stage.part).unwrap_or(&log.app.file);
            let mut error = of_text(
                log,
                LogText {
                    text,
                    line: stage.line,
                },
                Some(*key),
            );
            error.file.clone_from(part);
            found.push(error);
        }
    }
    for executor in log.app.executors.iter().filter(|e| e.lost) {
        if let Some(text) = &executor.reason {
            let line = executor.line;
            found.push(JobError {
                component: Some("EXECUTOR".to_owned()),
                machine: Some(machine(&executor.id, &executor.host)),
                ..of_text(log, LogText { text, line }, None)
            });
        }
    }
    job.errors.extend(found.errors);
}

/// Errors with distinct messages.
#[derive(Default)]
struct Errors {
    errors: Vec<JobError>,
}

impl Errors {
    fn push(&mut self, error: JobError) {
        let known = |e: &JobError| e.message == error.message;
        if self.errors.len() < MAX_ERRORS && !self.errors.iter().any(known) {
            self.errors.push(error);
        }
    }
}

/// A text of the log, with its line.
#[derive(Clone, Copy)]
struct LogText<'a> {
    text: &'a str,
    line: u64,
}

/// The text with the reason for the application's end: of its last failed job, of its last failed execution, or
/// of a streaming query.
fn decisive<'a>(log: &'a Collector, last: Option<&'a DriverJob>) -> Option<LogText<'a>> {
    let of_job = last.and_then(|j| Some((j.ended_ms, j.error.as_deref()?, j.line)));
    let executions = log.app.executions.iter();
    let failed = executions.filter_map(|e| Some((e.ended_ms, e.error.as_deref()?, e.line)));
    let of_execution = failed.max_by_key(|(at, ..)| *at);
    // an execution repeats the text of its job, and ends a little later
    let repeats = |(_, text, _): &(Option<i64>, &str, u64)| {
        of_job.is_some_and(|(_, of_job, _)| text.contains(head(of_job, 200)))
    };
    let later = of_execution.filter(|e| of_job.is_none_or(|j| e.0 > j.0) && !repeats(e));
    let of_stream = log.streams.failure().map(|(text, line)| (None, text, line));
    let found = of_stream.or(later).or(of_job);
    found.map(|(_, text, line)| LogText { text, line })
}

/// Failures of tasks in the stages of the last failed job; tasks lost with their executor come last.
fn failures<'a>(
    log: &'a Collector,
    index: &Index,
    last: Option<&DriverJob>,
) -> Vec<&'a TaskFailure> {
    // executors that are removed after the failure take tasks with them
    let after = |f: &&TaskFailure| f.lost && last.is_some_and(|l| l.ended_ms < Some(f.finished));
    let own = |f: &&TaskFailure| of_job(index, last, f.stage);
    let mut found: Vec<&TaskFailure> = log.failures.iter().filter(own).collect();
    found.retain(|f| !after(f));
    found.sort_by_key(|f| (f.lost, std::cmp::Reverse((f.finished, f.line))));
    found
}

/// Whether a stage belongs to a job; true for any stage if no job failed.
fn of_job(index: &Index, job: Option<&DriverJob>, stage: (u32, u32)) -> bool {
    let at = index.get(stage);
    job.is_none_or(|job| at.is_some_and(|at| job.stages.contains(&at)))
}

/// The stage and task that Spark quotes: `most recent failure: Lost task 0.3 in stage 1.0 (TID 58)`.
fn quoted_task(text: &str) -> Option<((u32, u32), u32)> {
    let (_, rest) = text.split_once("Lost task ")?;
    let (task, rest) = rest.split_once(" in stage ")?;
    let (index, _) = task.split_once('.')?;
    let (stage, attempt) = rest.split_whitespace().next()?.split_once('.')?;
    let stage = (stage.parse().ok()?, attempt.parse().ok()?);
    Some((stage, index.parse().ok()?))
}

/// The failure itself, without Spark's text before and after it.
fn essence(text: &str) -> &str {
    let text = text.split("\nDriver stacktrace:").next().unwrap_or(text);
    let quoted = text.split_once("most recent failure: Lost task ");
    if let Some((_, own)) = quoted.and_then(|(_, rest)| rest.split_once("): ")) {
        return own;
    }
    let prefix = "Job aborted due to stage failure: ";
    text.strip_prefix(prefix).unwrap_or(text)
}

fn of_text(log: &Collector, said: LogText<'_>, stage: Option<(u32, u32)>) -> JobError {
    let text = head(essence(said.text), MAX_TEXT);
    let first = text.lines().next().unwrap_or_default();
    let message = innermost(text).unwrap_or(first);
    let class = message.split([':', ' ']).next();
    JobError {
        file: log.app.file.clone(),
        id: class.filter(|id| id.contains('.')).map(str::to_owned),
        message: head(message, MAX_MESSAGE).to_owned(),
        description: (first != message).then(|| head(first, MAX_MESSAGE).to_owned()),
        details: Some(text.to_owned()),
        internal: Some(format!("line {}", said.line)),
        stage: stage.map(|(id, attempt)| stages::name(id, attempt)),
        exception: class
            .filter(|id| id.contains('.'))
            .map(|_| head(message, MAX_MESSAGE).to_owned()),
        frame: own_frame(text),
        ..JobError::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{essence, quoted_task};

    #[test]
    fn the_text_of_a_job_quotes_the_task_that_failed_last() {
        let text = "Job aborted due to stage failure: Task 0 in stage 1.2 failed 4 times, most recent failure: \
            Lost task 7.3 in stage 1.2 (TID 58) (host4 executor 4): java.io.IOException: No space left on device\n\tat a.B\nDriver stacktrace:";
        assert_eq!(quoted_task(text), Some(((1, 2), 7)));
        let own = "java.io.IOException: No space left on device\n\tat a.B";
        assert_eq!(essence(text), own);
        let own = "Total size of serialized results of 9 tasks is bigger";
        let text = format!("Job aborted due to stage failure: {own}");
        assert_eq!((essence(&text), quoted_task(&text)), (own, None));
        assert_eq!(essence("Job cancelled"), "Job cancelled");
    }
}
