//! Why a job failed, by its errors and its vertex events.

mod chain;
mod class;
mod codes;
mod kinds;
mod patterns;
#[cfg(test)]
mod tests;

use job::Job;
use job::model::{JobError, JobState};

use chain::Thrown;
pub use class::Class;
use class::Weight;
use patterns::{GENERAL, GROUPS, Group, NAMED, WRAPPERS};
use report::Cause;

/// The text by which an error was recognized.
#[derive(Debug, Clone, PartialEq)]
pub struct Recognized {
    pub class: Class,
    /// The line that has the pattern.
    pub line: String,
    /// The program that writes such a line; `None` if the error itself names its class.
    pub source: Option<&'static str>,
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
pub struct Failure<'a> {
    pub class: Class,
    /// `None` if only the vertex events show the failure.
    pub error: Option<&'a JobError>,
    pub recognized: Recognized,
}

/// The failure that ended a job; `None` if it succeeded, or without any reason in the files. The first error decides, unless
/// it may follow from another one.
pub fn deciding(job: &Job) -> Option<Failure<'_>> {
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
        if let Some(recognized) = reason(&of_text(message)) {
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

fn of_text(text: &str) -> JobError {
    JobError {
        details: Some(text.to_owned()),
        ..JobError::default()
    }
}

/// The kind of failure of an error; `None` if its text is empty.
pub fn recognize(error: &JobError) -> Option<Recognized> {
    let chain = chain::chain(error);
    let mut lines = chain.iter().flat_map(|thrown| &thrown.lines);
    let first = lines.clone().next()?;
    let quoted = lines.find(|line| line.contains(' ')).unwrap_or(first);
    let of = |class| said(class, quoted);
    let upper = |text: &Option<String>| text.as_deref().unwrap_or_default().to_uppercase();
    let (component, origin) = (upper(&error.component), upper(&error.origin));
    let found = reason(error).map(|found| of_driver(found, error));
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
    if let Some(found) = found {
        return Some(found);
    }
    let threw = error.expression.is_some() || error.class_name.is_some();
    if threw || origin == "USER" || error.frame.is_some() {
        return Some(of(Class::UserCode));
    }
    let wrapped = search(&chain, WRAPPERS).map(|found| Recognized {
        wraps: true,
        ..found
    });
    Some(wrapped.unwrap_or_else(|| match origin.as_str() {
        "SYSTEM" => of(Class::System),
        _ => of(Class::Unknown),
    }))
}

/// The class of a single text; `None` if no pattern fits.
pub fn class_of(text: &str) -> Option<Class> {
    reason(&of_text(text)).map(|found| found.class)
}

/// The reason that an error gives: by the type of its innermost exception if that decides, by a text that
/// names its own class, else by its exceptions, the innermost first. An exception that may follow from another
/// one counts if no exception around it says more.
fn reason(error: &JobError) -> Option<Recognized> {
    let chain = chain::chain(error);
    let code = chain.iter().find(|t| is_scope_code(t));
    let named = |t: &Thrown<'_>| search(std::slice::from_ref(t), NAMED).or_else(|| certain(t));
    code.and_then(named)
        .or_else(|| by_type(error, chain.first()?))
        .or_else(|| search(&chain, NAMED))
        .or_else(|| ended_with(&chain))
        .or_else(|| chain.iter().find_map(certain))
        .or_else(|| chain.iter().find_map(|thrown| likely(thrown, error)))
}

/// Whether a text begins with an error id of SCOPE or U-SQL.
fn is_scope_code(thrown: &Thrown<'_>) -> bool {
    thrown.lines.first().is_some_and(|l| l.starts_with("E_"))
}

/// Missing code, or a fault in code of the user, by the type of the exception alone.
fn by_type(error: &JobError, thrown: &Thrown<'_>) -> Option<Recognized> {
    let kind = thrown.kind().filter(|_| thrown.begins_with_kind())?;
    let class = kinds::deciding(kind)?;
    let is_users = !kind.contains('.')
        || error.frame.is_some()
        || error.class_name.is_some()
        || error.origin.as_deref() == Some("User");
    let decides = is_users || class != Class::UserCode;
    decides.then(|| said(class, thrown.lines[0]))
}

fn said(class: Class, line: &str) -> Recognized {
    Recognized {
        class,
        line: line.to_owned(),
        source: None,
        wraps: false,
    }
}

/// The class of the exit code of a process, if nothing else of the error names a reason.
fn ended_with(chain: &[Thrown<'_>]) -> Option<Recognized> {
    const ENDED: [&str; 6] = ["ontainer", "xecutor", "ommand", "orker", "xited", "rocess"];
    let mut lines = chain.iter().flat_map(|thrown| &thrown.lines);
    lines.find_map(|line| {
        let is_end = ENDED.iter().any(|word| line.contains(word));
        let class = codes::exit(line).filter(|_| is_end)?;
        Some(said(class, line))
    })
}

/// The first line that says something to `of`.
fn by(lines: &[&str], of: impl Fn(&str) -> Option<Class>) -> Option<Recognized> {
    lines.iter().find_map(|line| Some(said(of(line)?, line)))
}

/// A class that is the reason itself.
fn decided((class, decides): codes::Said) -> Option<Class> {
    decides.then_some(class)
}

/// The reason that an exception gives by its own text, code or type.
fn certain(thrown: &Thrown<'_>) -> Option<Recognized> {
    let lines = &thrown.lines;
    search(std::slice::from_ref(thrown), GROUPS)
        .or_else(|| by(lines, |line| codes::sqlstate(line).and_then(decided)))
        .or_else(|| by(lines, |line| codes::condition(line).and_then(decided)))
        .or_else(|| by(lines, codes::http))
        .or_else(|| {
            // a type without a message says less than another text
            let says = |line: &str| line.contains(": ");
            by(lines, |line| {
                let mut kinds = kinds_of(line).filter(|_| says(line));
                kinds.find_map(decided)
            })
        })
}

/// The message of an exception that may follow from another one.
fn likely(thrown: &Thrown<'_>, error: &JobError) -> Option<Recognized> {
    let lines = &thrown.lines;
    let class = |(class, _): codes::Said| class;
    let found = by(lines, |line| codes::sqlstate(line).map(class))
        .or_else(|| by(lines, |line| codes::condition(line).map(class)))
        .or_else(|| by(lines, |line| kinds_of(line).next().map(class)))
        .or_else(|| search(std::slice::from_ref(thrown), GENERAL))?;
    let internal = thrown.kind().is_some_and(kinds::is_internal)
        && thrown
            .frames
            .first()
            .is_some_and(|f| kinds::is_of_engine(f))
        && error.frame.is_none()
        && error.origin.is_none();
    let class = match found.class {
        Class::UserCode if internal => Class::System,
        Class::Service => kinds::of_waiting(&thrown.frames).unwrap_or(Class::Service),
        class => class,
    };
    Some(Recognized { class, ..found })
}

/// Classes of the types that a line names, the innermost first.
fn kinds_of(line: &str) -> impl Iterator<Item = codes::Said> {
    let mut kinds: Vec<&str> = chain::kinds(line).collect();
    kinds.reverse();
    kinds.into_iter().filter_map(kinds::class)
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

/// The first group that has a pattern in a line of one of these exceptions.
fn search(chain: &[Thrown<'_>], groups: &[Group]) -> Option<Recognized> {
    let lines: Vec<&str> = chain.iter().flat_map(|t| t.lines.iter().copied()).collect();
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
