//! The driver's own log: the exception that ended it.

use super::failure::{innermost, own_frame};
use crate::model::{FileKind, Job, JobError, JobState};
use crate::read::Input;
use crate::text::head;

/// Lines of a stack that are kept.
const MAX_LINES: usize = 200;

/// Keeps the last exception of the log as the error of an application that failed without
/// recording why, or whose end is unknown.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let Some((line, text)) = last_exception(input.text) else {
        return;
    };
    let message = innermost(text).unwrap_or_else(|| text.lines().next().unwrap_or_default());
    let class = message.split([':', ' ']).next().filter(|c| !c.is_empty());
    job.errors.push(JobError {
        file: input.name.to_owned(),
        id: class.map(str::to_owned),
        component: Some("DRIVER".to_owned()),
        message: head(message.trim(), 2_000).to_owned(),
        details: Some(text.to_owned()),
        internal: Some(format!("line {line}")),
        exception: Some(message.trim().to_owned()),
        frame: own_frame(text),
        ..JobError::default()
    });
}

/// Drops what the driver's log says of an application that succeeded; otherwise the application
/// failed with it.
pub(crate) fn settle(job: &mut Job) {
    let of_driver = |file: &str, job: &Job| {
        let mut files = job.files.iter();
        files.any(|f| f.name == file && f.kind == FileKind::DriverLog)
    };
    if job.info.state == JobState::Succeeded {
        let errors = std::mem::take(&mut job.errors);
        let kept = errors.into_iter().filter(|e| !of_driver(&e.file, job));
        job.errors = kept.collect();
    } else if job.info.state == JobState::Unknown && !job.errors.is_empty() {
        job.info.state = JobState::Failed;
    }
    // what the failed task says comes first
    let mut errors = std::mem::take(&mut job.errors);
    errors.sort_by_key(|e| of_driver(&e.file, job));
    job.errors = errors;
}

/// The 1-based line and text of the last exception with its stack.
fn last_exception(text: &str) -> Option<(usize, &str)> {
    let mut found = None;
    let mut at = 0;
    let mut ends = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let starts = line.starts_with("Exception in thread")
            || line.starts_with("Traceback (most recent call last)")
            || (line.contains(" ERROR ") && line.contains("xception"));
        if starts && at >= ends {
            let rest = &text[at..];
            let stack = rest.split_inclusive('\n').skip(1).take(MAX_LINES);
            let stack = stack.take_while(|l| {
                l.starts_with(char::is_whitespace) || l.starts_with("Caused by") || is_exception(l)
            });
            let length = line.len() + stack.map(str::len).sum::<usize>();
            found = Some((number + 1, &rest[..length]));
            ends = at + length;
        }
        at += line.len();
    }
    found
}

/// `pyspark.errors.AnalysisException: …`
fn is_exception(line: &str) -> bool {
    let class = line.split([':', ' ']).next().unwrap_or_default();
    class.contains('.') && (class.ends_with("Exception") || class.ends_with("Error"))
}
