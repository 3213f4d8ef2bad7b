//! Failures of tasks and executors.

use std::str::Lines;

use super::event::TaskEnd;
use crate::model::{Executor, JobError};
use crate::runs::RunState;
use crate::text::head;

/// Characters kept of a message and of a stack.
const MAX_MESSAGE: usize = 2_000;
const MAX_NAME: usize = 300;
const MAX_STACK: usize = 16_000;

/// An unsuccessful task.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TaskFailure {
    /// Stage and its attempt.
    pub(super) stage: (u32, u32),
    pub(super) index: u32,
    pub(super) attempt: u32,
    pub(super) executor: String,
    pub(super) host: String,
    pub(super) finished: i64,
    pub(super) lost: bool,
    reason: String,
    class: String,
    description: String,
    stack: String,
    pub(super) line: u64,
    pub(super) part: usize,
}

impl TaskFailure {
    pub(super) fn of(
        event: &TaskEnd<'_>,
        stage: (u32, u32),
        state: RunState,
        line: u64,
        part: usize,
    ) -> TaskFailure {
        let (reason, info) = (&event.reason, &event.info);
        let said = [
            &reason.description,
            &reason.message,
            &reason.loss,
            &reason.killed,
        ];
        let said = said.into_iter().find(|s| !s.0.is_empty());
        let kept = |text: &str, most| head(text, most).to_owned();
        TaskFailure {
            stage,
            index: info.index.id(),
            attempt: info.attempt.id(),
            executor: kept(&info.executor.0, MAX_NAME),
            host: kept(&info.host.0, MAX_NAME),
            finished: info.finished.time().unwrap_or(0),
            lost: state == RunState::Revoked,
            reason: kept(&reason.reason.0, MAX_NAME),
            class: kept(&reason.class.0, MAX_NAME),
            description: said.map_or_else(String::new, |s| kept(s.0.trim(), MAX_MESSAGE)),
            stack: kept(&reason.stack.0, MAX_STACK),
            line,
            part,
        }
    }

    /// The kind of failure and the first line of its message, with the line of Python that raised it.
    pub(super) fn message(&self) -> String {
        let kind = match self.class.as_str() {
            "" => self.reason.as_str(),
            class => class,
        };
        match self.innermost().or_else(|| self.description.lines().next()) {
            Some(said) if !said.is_empty() => {
                let place = python_frame(&self.description);
                let place = place.map_or(String::new(), |place| format!(" ({place})"));
                format!("{kind}: {}{place}", head(said, 300))
            }
            _ => kind.to_owned(),
        }
    }

    /// The innermost exception.
    fn innermost(&self) -> Option<&str> {
        python_error(&self.description).or_else(|| innermost(&self.stack))
    }

    fn frame(&self) -> Option<String> {
        own_frame(&self.stack).or_else(|| python_frame(&self.description))
    }

    /// Whether user code threw it: by a user frame, Python, or an expression of a query that
    /// cannot be computed for a row.
    fn is_users(&self) -> bool {
        self.class.ends_with("PythonException")
            || self.frame().is_some()
            || of_expression(&self.class, &self.description)
            || of_value(&self.stack)
    }

    /// Whether the executor ran out of memory.
    fn out_of_memory(&self) -> bool {
        let said = [&self.stack, &self.description];
        let mut said = said.into_iter().map(String::as_str);
        said.any(|s| s.contains("OutOfMemoryError") || is_denied(s))
    }

    pub(super) fn error(&self, file: &str, stage: &str) -> JobError {
        let exception = self
            .innermost()
            .map(|text| head(text, MAX_MESSAGE).to_owned());
        let out_of_memory = self.out_of_memory();
        let id = match (out_of_memory, self.class.as_str()) {
            (true, _) => "java.lang.OutOfMemoryError",
            (false, "") => &self.reason,
            (false, class) => class,
        };
        let users = self.is_users() && !out_of_memory;
        JobError {
            file: file.to_owned(),
            id: Some(id.to_owned()),
            origin: users.then(|| "User".to_owned()),
            component: Some("RUNTIME".to_owned()),
            message: exception.clone().unwrap_or_else(|| self.message()),
            description: (!self.description.is_empty()).then(|| self.description.clone()),
            details: (!self.stack.is_empty()).then(|| self.stack.clone()),
            stage: Some(stage.to_owned()),
            vertex: Some(format!("{stage}[{}] attempt {}", self.index, self.attempt)),
            machine: Some(machine(&self.executor, &self.host)),
            exception,
            frame: self.frame(),
            ..JobError::default()
        }
    }
}

/// Whether an expression of a query threw an exception: Spark has separate classes for invalid values of
/// expressions, and one error condition for `raise_error`.
fn of_expression(class: &str, description: &str) -> bool {
    const KINDS: [&str; 5] = [
        "SparkArithmeticException",
        "SparkNumberFormatException",
        "SparkDateTimeException",
        "SparkArrayIndexOutOfBoundsException",
        "SparkNoSuchElementException",
    ];
    let class = class.rsplit('.').next().unwrap_or(class);
    KINDS.contains(&class) || description.starts_with("[USER_RAISED_EXCEPTION]")
}

/// Whether an exception comes from a value in an expression or a parser: its innermost cause was thrown
/// below one of them.
fn of_value(stack: &str) -> bool {
    const WORKS: [&str; 5] = ["expressions.", "csv.", "json.", "xml.", "util."];
    let innermost = stack.rsplit("Caused by: ").next().unwrap_or_default();
    let mut lines = innermost.lines();
    let class = lines.next().and_then(|l| l.split(':').next());
    let mut engine = frames(lines).filter_map(|f| f.strip_prefix("org.apache.spark."));
    let thrower = engine.find(|f| !f.starts_with("sql.errors."));
    let thrower = thrower.and_then(|f| f.strip_prefix("sql.catalyst."));
    thrower.is_some_and(|f| WORKS.iter().any(|w| f.starts_with(w)))
        && !class.is_some_and(|c| c.ends_with("Error") || c.ends_with("IOException"))
}

/// Whether Spark reports that a task got less memory than requested.
fn is_denied(text: &str) -> bool {
    let denied = ["Can't acquire ", "Unable to acquire "];
    let asked = denied.iter().find_map(|d| text.split(d).nth(1));
    let bytes = asked.and_then(|asked| asked.split(" bytes").next());
    bytes.is_some_and(|bytes| bytes.parse::<u64>().is_ok())
}

/// The frames among the lines of a stack.
fn frames(lines: Lines<'_>) -> impl Iterator<Item = &str> {
    lines.filter_map(|l| l.trim().strip_prefix("at "))
}

/// The innermost exception of a stack: its last cause; for Python, the last line of the traceback.
pub(super) fn innermost(stack: &str) -> Option<&str> {
    let mut causes = stack
        .lines()
        .filter_map(|l| l.trim().strip_prefix("Caused by: "));
    let first = stack.lines().next().filter(|l| !l.trim().is_empty());
    python_error(stack)
        .or(causes.next_back())
        .or(first)
        .map(str::trim)
}

/// The innermost frame outside Spark and the platform.
pub(super) fn own_frame(stack: &str) -> Option<String> {
    const PLATFORM: [&str; 22] = [
        "com.amazonaws.",
        "com.azure.",
        "com.codahale.",
        "com.databricks.",
        "com.esotericsoftware.",
        "com.fasterxml.",
        "com.github.luben.",
        "com.google.",
        "com.microsoft.",
        "com.univocity.",
        "io.delta.",
        "org.codehaus.",
        "org.xerial.",
        "software.amazon.",
        "org.apache.",
        "java.",
        "javax.",
        "jdk.",
        "sun.",
        "scala.",
        "py4j.",
        "io.netty.",
    ];
    let own = |frame: &&str| !PLATFORM.iter().any(|p| frame.starts_with(p));
    // the innermost cause comes last
    let causes = stack.rsplit("Caused by: ");
    let frames = causes.flat_map(|c| frames(c.lines()));
    let mut frames = frames.map(|f| f.rsplit('/').next().unwrap_or(f));
    python_frame(stack).or_else(|| frames.find(own).map(str::to_owned))
}

/// Name of an executor in the lists of machines.
pub(super) fn machine(executor: &str, host: &str) -> String {
    match host {
        "" => format!("executor {executor}"),
        host => format!("executor {executor} ({host})"),
    }
}

/// The last line of the first traceback: `ValueError: could not convert`.
fn python_error(text: &str) -> Option<&str> {
    let (_, traceback) = text.split_once("Traceback (most recent call last):")?;
    let mut lines = traceback.lines().skip(1);
    lines
        .find(|l| !l.starts_with(' ') && !l.trim().is_empty())
        .map(str::trim)
}

/// The innermost frame of the traceback outside Spark: `/app/job.py:39 in parse`.
fn python_frame(text: &str) -> Option<String> {
    const LIBRARY: [&str; 4] = ["/pyspark/", "pyspark.zip", "/py4j/", "py4j-"];
    let (_, traceback) = text.split_once("Traceback (most recent call last):")?;
    let end = traceback.find("\n\n").unwrap_or(traceback.len());
    let frames = traceback[..end]
        .lines()
        .filter_map(|l| l.trim().strip_prefix("File \""));
    let mut own = frames.filter(|f| !LIBRARY.iter().any(|part| f.contains(part)));
    let (file, rest) = own.next_back()?.split_once("\", line ")?;
    let (line, function) = rest.split_once(", in ").unwrap_or((rest, "?"));
    Some(format!("{file}:{line} in {function}"))
}

/// Exit code in the reason of a removal: `Command exited with code 137`.
pub fn exit_code(reason: &str) -> Option<i32> {
    let lower = reason.to_ascii_lowercase();
    let after = [
        "exited with code ",
        "exit code ",
        "exit status: ",
        "exit status ",
        "exitcode: ",
    ]
    .iter()
    .find_map(|said| Some(lower.find(said)? + said.len()))?;
    let digits: String = lower[after..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '-')
        .collect();
    digits.parse().ok()
}

/// Exit codes of crashes: uncaught exceptions, no memory, aborts, kills and faults.
const CRASHES: [i32; 7] = [50, 51, 52, 53, 134, 137, 139];

/// Whether an executor was lost, rather than removed on purpose.
pub(super) fn is_lost(executor: &Executor, ended: Option<i64>) -> bool {
    /// Time for removing all executors at the end of the application.
    const SHUTDOWN_MS: i64 = 2_000;
    let Some((at, reason)) = executor.removed_ms.zip(executor.reason.as_deref()) else {
        return false;
    };
    let reason = reason.to_ascii_lowercase();
    let wanted = [
        "idle",
        "executor killed by driver",
        "requested by driver",
        "decommission",
        "shutdown",
    ];
    // a kill for memory or a crash is no shutdown, even right before the end
    let is_killed = reason.contains("exceed")
        || reason.contains("oom")
        || exit_code(&reason).is_some_and(|code| CRASHES.contains(&code));
    let at_end = !is_killed && ended.is_some_and(|end| at + SHUTDOWN_MS >= end);
    executor.added_ms.is_some() && !at_end && !wanted.iter().any(|w| reason.contains(w))
}
