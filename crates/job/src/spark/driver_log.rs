//! Logs of a driver, an application master or an executor: the exception that ended the application.

use super::failure::{innermost, own_frame};
use crate::model::{FileKind, Job, JobError, JobState};
use crate::read::Input;
use crate::text::head;

/// Lines of a stack that are kept.
const MAX_LINES: usize = 200;

/// Component of an uncaught exception, which ended the application.
const UNCAUGHT: &str = "DRIVER";
/// Component of a logged error that did not end the application.
const LOGGED: &str = "LOG";

/// Keeps the last text of each kind as an error of the application, the decisive one first.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let last = last_texts(input.text);
    let end = last.uncaught.filter(|found| ends_with(input.text, found));
    let logged = [last.uncaught, last.exception, last.lost];
    let logged = logged.into_iter().flatten().map(|found| (LOGGED, found));
    let all = end.map(|found| (UNCAUGHT, found)).into_iter().chain(logged);
    let mut seen: Vec<usize> = Vec::new();
    for (component, found) in all {
        if !seen.contains(&found.line) {
            seen.push(found.line);
            job.errors.push(error(input, component, &found));
        }
    }
}

fn error(input: &Input<'_>, component: &str, found: &Found<'_>) -> JobError {
    let text = found.text;
    let message = innermost(text).unwrap_or_else(|| text.lines().next().unwrap_or_default());
    let message = without_prefix(message.trim());
    let class = message.split([':', ' ']).next();
    JobError {
        file: input.name.to_owned(),
        id: class.filter(|c| c.contains('.')).map(str::to_owned),
        component: Some(component.to_owned()),
        message: head(message, 2_000).to_owned(),
        details: Some(text.to_owned()),
        internal: Some(format!("line {}", found.line)),
        exception: Some(message.to_owned()),
        frame: own_frame(text),
        ..JobError::default()
    }
}

/// A message without time, level and thread: `Exception in thread "main" `, `26/11/22 01:10:42 ERROR X: `.
fn without_prefix(line: &str) -> &str {
    let thread = line.strip_prefix("Exception in thread ");
    let thrown = thread.and_then(|rest| rest.split_once("\" "));
    let logged = || {
        let (_, rest) = line.split_once(" ERROR ").or(line.split_once(" WARN "))?;
        rest.split_once(": ").map(|(_, message)| message)
    };
    thrown
        .map(|(_, message)| message)
        .or_else(logged)
        .unwrap_or(line)
}

/// Sorts errors of the logs behind errors of the tasks. An application that ended with an uncaught exception
/// failed, even if all its jobs succeeded. Other logged errors are dropped if it succeeded.
pub(crate) fn settle(job: &mut Job) {
    let of_log = |file: &str, job: &Job| {
        let mut files = job.files.iter();
        files.any(|f| f.name == file && f.kind == FileKind::DriverLog)
    };
    let uncaught = |e: &JobError| e.component.as_deref() == Some(UNCAUGHT);
    let ended = job
        .errors
        .iter()
        .any(|e| uncaught(e) && of_log(&e.file, job));
    match job.info.state {
        JobState::Succeeded if !ended => {
            let errors = std::mem::take(&mut job.errors);
            let kept = errors.into_iter().filter(|e| !of_log(&e.file, job));
            job.errors = kept.collect();
        }
        JobState::Succeeded | JobState::Unknown if !job.errors.is_empty() => {
            job.info.state = JobState::Failed;
        }
        _ => {}
    }
    // errors of the failed task come first
    let mut errors = std::mem::take(&mut job.errors);
    errors.sort_by_key(|e| (of_log(&e.file, job), !uncaught(e)));
    job.errors = errors;
}

/// A text of a log and its 1-based line.
#[derive(Clone, Copy)]
struct Found<'a> {
    line: usize,
    text: &'a str,
}

/// The last texts of a log about the end of the application.
#[derive(Default)]
struct Last<'a> {
    /// An exception of the main thread or of the program.
    uncaught: Option<Found<'a>>,
    /// An exception that was logged.
    exception: Option<Found<'a>>,
    /// The loss of an executor, or a signal.
    lost: Option<Found<'a>>,
}

fn last_texts(text: &str) -> Last<'_> {
    let mut last = Last::default();
    let mut at = 0;
    let mut ends = 0;
    for (number, whole) in text.split_inclusive('\n').enumerate() {
        let line = after_progress(whole);
        let begin = at + whole.len() - line.len();
        at += whole.len();
        let place = match kind(line) {
            Some(Kind::Uncaught) => Some(&mut last.uncaught),
            Some(Kind::Logged) => Some(&mut last.exception),
            Some(Kind::Lost) => Some(&mut last.lost),
            None => None,
        };
        if let Some(place) = place.filter(|_| begin >= ends) {
            let rest = &text[begin..];
            let length = line.len() + stack_length(&rest[line.len()..]);
            let text = &rest[..length];
            *place = Some(Found {
                line: number + 1,
                text,
            });
            ends = begin + length;
        }
    }
    last
}

/// A line without the progress bar in front, which a carriage return clears.
fn after_progress(line: &str) -> &str {
    let begin = line.trim_end().rfind('\r').map_or(0, |at| at + 1);
    &line[begin..]
}

/// Bytes of the lines below an exception that belong to it: its message may have several lines before the stack,
/// and the log goes on with a line of its own.
fn stack_length(text: &str) -> usize {
    let of_stack = |line: &str| {
        line.starts_with(char::is_whitespace) && !line.trim().is_empty()
            || line.starts_with("Caused by")
            || is_exception(line)
    };
    let mut length = 0;
    let mut at = 0;
    let lines = text.split_inclusive('\n').take(MAX_LINES);
    for line in lines.take_while(|line| !is_logged(line)) {
        at += line.len();
        if of_stack(line) {
            length = at;
        }
    }
    length
}

/// Whether a line is one that a logger wrote: with its level near the beginning.
fn is_logged(line: &str) -> bool {
    const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];
    let begins = line.split_whitespace().take(4);
    begins
        .into_iter()
        .any(|word| LEVELS.contains(&word.trim_matches(['[', ']', ':'])))
}

/// Kind of entry that begins at a line of a log.
#[derive(Clone, Copy)]
enum Kind {
    Uncaught,
    Logged,
    Lost,
}

fn kind(line: &str) -> Option<Kind> {
    let is = |words: &[&str]| words.iter().any(|word| line.contains(word));
    let logged = is(&[" ERROR ", " WARN ", " FATAL "]);
    match () {
        () if line.starts_with("Exception in thread \"main\"")
            || line.starts_with("Traceback (most recent call last)")
            || is(&["User class threw exception", "Uncaught exception: "]) =>
        {
            Some(Kind::Uncaught)
        }
        // a thread of Spark that runs out of memory takes the application with it
        () if line.starts_with("Exception in thread") && line.contains("OutOfMemoryError") => {
            Some(Kind::Uncaught)
        }
        () if line.starts_with("Exception in thread") => Some(Kind::Logged),
        () if line.contains(" ERROR ") && is(&["xception", "OutOfMemoryError"]) => {
            Some(Kind::Logged)
        }
        () if logged && is(&["Lost executor ", "RECEIVED SIGNAL ", "Exit status: "])
            || line.trim_start().starts_with("diagnostics: ") && line.len() > 30 =>
        {
            Some(Kind::Lost)
        }
        () => None,
    }
}

/// Whether no job starts after an exception in a log: a program that continues has caught it.
fn ends_with(text: &str, found: &Found<'_>) -> bool {
    let after = text.lines().skip(found.line);
    let goes_on = ["Starting job: ", "Got job ", "Submitting application"];
    let mut later = after.filter(|l| goes_on.iter().any(|words| l.contains(words)));
    later.next().is_none()
}

/// `pyspark.errors.AnalysisException: …`, `ValueError: …`
fn is_exception(line: &str) -> bool {
    // py4j puts a colon in front of the exception of the JVM
    let line = line.strip_prefix(": ").unwrap_or(line);
    let class = line.split([':', ' ']).next().unwrap_or_default();
    let class = class.trim_end();
    class.ends_with("Exception") || class.ends_with("Error") || class.ends_with("Interrupt")
}
