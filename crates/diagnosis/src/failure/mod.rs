//! Why a job failed, by its errors and its vertex events.

pub(crate) mod class;
mod patterns;
#[cfg(test)]
mod tests;

use job::Job;
use job::model::{JobError, JobState};

pub(crate) use class::Class;
use class::Weight;
use patterns::{GROUPS, Group, WRAPPERS};
use report::Cause;

/// Bytes of an error that are searched for patterns.
const MAX_SEARCHED: usize = 48 << 10;

/// Class of an error, and the pattern that matched.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recognized {
    pub(crate) class: Class,
    /// The line that has the pattern.
    pub(crate) line: String,
    /// The program that writes such a line; `None` if the error itself names its class.
    pub(crate) source: Option<&'static str>,
    /// Whether the text only wraps the failure.
    wraps: bool,
}

impl Recognized {
    /// Whether the text names the failure itself, so that no other error has to be read.
    fn is_reason(&self) -> bool {
        self.class.weight() == Weight::Reason && self.class != Class::Unknown && !self.wraps
    }
}

/// The failure of a job: its class, and the decisive error.
#[derive(Debug, Clone)]
pub(crate) struct Failure<'a> {
    pub(crate) class: Class,
    /// `None` if only the vertex events show the failure.
    pub(crate) error: Option<&'a JobError>,
    pub(crate) recognized: Recognized,
}

/// The failure that ended a job; `None` if it succeeded, or without any reason in the files. The first error decides, unless
/// it may follow from another one.
pub(crate) fn deciding(job: &Job) -> Option<Failure<'_>> {
    if job.info.state != JobState::Failed {
        return None;
    }
    let errors = job.errors.iter();
    let mut all = errors.filter_map(|e| Some((recognize(e)?, e)));
    let first = all.next();
    let found = match first {
        Some((r, e)) if r.is_reason() => Some((r, e)),
        Some((r, e)) => {
            // a lost executor's reason does not explain an exception of unknown class
            let effect = r.class.weight() == Weight::Effect;
            let of_task = |e: &JobError| effect || e.component.as_deref() != Some("EXECUTOR");
            let better = all.find(|(r, e)| r.is_reason() && of_task(e));
            better.or(Some((r, e)))
        }
        None => None,
    };
    let of_errors = found.map(|(recognized, error)| Failure {
        class: recognized.class,
        error: Some(error),
        recognized,
    });
    of_errors.or_else(|| of_events(job))
}

/// The failure in the vertex events of a job without errors: the most frequent message with a known class.
fn of_events(job: &Job) -> Option<Failure<'_>> {
    let stages = job.stages.iter();
    let events = stages
        .filter_map(|s| s.runs.as_ref())
        .flat_map(|r| &r.events);
    let mut found: Vec<(u64, Recognized)> = Vec::new();
    for (message, times) in events {
        if let Some(recognized) = search(&[message], GROUPS) {
            found.push((*times, recognized));
        }
    }
    found.sort_by_key(|(times, r)| {
        let user = r.class.cause() == Cause::UserCodeFailure;
        (std::cmp::Reverse(user), std::cmp::Reverse(*times))
    });
    let recognized = found.into_iter().next()?.1;
    Some(Failure {
        class: recognized.class,
        error: None,
        recognized,
    })
}

/// Class of an error; `None` for an error without text.
pub(crate) fn recognize(error: &JobError) -> Option<Recognized> {
    let lines = lines(error);
    let quoted = lines
        .iter()
        .find(|line| line.contains(' '))
        .or(lines.first())?;
    let of = |class| Recognized {
        class,
        line: (*quoted).to_owned(),
        source: None,
        wraps: false,
    };
    let upper = |text: &Option<String>| text.as_deref().unwrap_or_default().to_uppercase();
    let (component, origin) = (upper(&error.component), upper(&error.origin));
    let found = search(&lines, GROUPS).map(|found| of_driver(found, error));
    let in_compiler = component.contains("COMPIL") || component.contains("CSC");
    if in_compiler {
        let classes = [
            Class::InputMissing,
            Class::InputForbidden,
            Class::System,
            Class::Time,
        ];
        let of_input = found.filter(|f| classes.contains(&f.class));
        return Some(of_input.unwrap_or_else(|| of(Class::Compile)));
    }
    let threw = error.expression.is_some() || error.class_name.is_some();
    let is_users = threw || origin == "USER";
    if let Some(found) = found {
        return Some(found);
    }
    if is_users || error.frame.is_some() {
        return Some(of(Class::UserCode));
    }
    let wrapped = search(&lines, WRAPPERS).map(|found| Recognized {
        wraps: true,
        ..found
    });
    Some(wrapped.unwrap_or_else(|| match origin.as_str() {
        "SYSTEM" => of(Class::System),
        _ => of(Class::Unknown),
    }))
}

/// The class of a single text; `None` without a matching pattern.
pub(crate) fn class_of(text: &str) -> Option<Class> {
    let lines: Vec<&str> = text.lines().filter(|l| is_statement(l)).collect();
    search(&lines, GROUPS).map(|found| found.class)
}

/// A full heap is the driver's, unless a task or an executor reports it.
fn of_driver(found: Recognized, error: &JobError) -> Recognized {
    let of_executor = error.vertex.is_some() || error.machine.is_some();
    let is_task = error
        .details
        .as_deref()
        .is_some_and(|d| d.contains("Executor$TaskRunner"));
    match found.class {
        Class::HeapFull if !of_executor && !is_task => Recognized {
            class: Class::DriverHeap,
            ..found
        },
        _ => found,
    }
}

/// The statements of an error, the innermost first, without stack frames and source code.
fn lines(error: &JobError) -> Vec<&str> {
    let said = [
        error.exception.as_ref(),
        Some(&error.message),
        error.id.as_ref(),
        error.description.as_ref(),
        error.details.as_ref(),
        error.internal.as_ref(),
    ];
    let mut left = MAX_SEARCHED;
    let mut found: Vec<&str> = Vec::new();
    for text in said.into_iter().flatten() {
        for line in text.lines().filter(|l| is_statement(l)) {
            let line = line.trim();
            if left < line.len() {
                break;
            }
            if !found.contains(&line) {
                left -= line.len();
                found.push(line);
            }
        }
    }
    found
}

fn is_statement(line: &str) -> bool {
    let text = line.trim_start();
    let is_code = line.starts_with("    ") && !text.contains(": ");
    let is_number = text
        .strip_prefix("line ")
        .is_some_and(|n| n.parse::<u64>().is_ok());
    !(text.is_empty()
        || text.starts_with("at ")
        || text.starts_with("File \"")
        || text.starts_with("... ")
        || is_code
        || is_number)
}

/// The first pattern of the table that a line has.
fn search(lines: &[&str], groups: &[Group]) -> Option<Recognized> {
    let plain: Vec<String> = lines.iter().map(|line| without_paths(line)).collect();
    groups.iter().find_map(|group| {
        let has = |line: &&String| group.patterns().any(|pattern| fits(line, pattern));
        let at = plain.iter().position(|line| has(&line))?;
        Some(Recognized {
            class: group.class,
            line: lines[at].to_owned(),
            source: Some(group.source),
            wraps: false,
        })
    })
}

/// A line in lower case without paths, except for shuffle files: other path names are unrelated to the failure.
fn without_paths(line: &str) -> String {
    let is_path = |word: &&str| {
        let of_shuffle = word.contains("blockmgr") || word.contains("shuffle_");
        (word.starts_with('/') || word.contains("://") || word.matches('/').count() > 1)
            && !of_shuffle
    };
    let words = line.split(' ').filter(|word| !is_path(word));
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether the parts of a pattern are in a line, in their order; `^` anchors it at the beginning.
fn fits(line: &str, pattern: &str) -> bool {
    if let Some(begin) = pattern.strip_prefix('^') {
        return line.starts_with(begin);
    }
    let mut rest = line;
    pattern.split('*').all(|part| {
        let at = rest.find(part);
        rest = at.map_or("", |at| &rest[at + part.len()..]);
        at.is_some()
    })
}
