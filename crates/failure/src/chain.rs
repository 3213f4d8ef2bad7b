//! The exceptions of an error, the innermost first.

use job::model::JobError;
use report::format::cut;

/// Bytes of an error that are read.
const MAX_READ: usize = 48 << 10;
/// Exceptions of a chain that are read.
const MAX_THROWN: usize = 40;
/// Frames of an exception that are read.
const MAX_FRAMES: usize = 16;

/// One exception, or a text that names none.
#[derive(Debug, Default)]
pub(super) struct Thrown<'a> {
    /// What it says, without frames and source code.
    pub(super) lines: Vec<&'a str>,
    /// The frames that threw it, the innermost first.
    pub(super) frames: Vec<&'a str>,
}

impl<'a> Thrown<'a> {
    fn of(text: &'a str) -> Thrown<'a> {
        let frames = text.lines().filter_map(|l| l.trim().strip_prefix("at "));
        Thrown {
            lines: statements(text).collect(),
            frames: frames.take(MAX_FRAMES).collect(),
        }
    }

    /// The type of the exception, with its package; `None` if the text names none.
    pub(super) fn kind(&self) -> Option<&'a str> {
        kinds(self.lines.first()?).next()
    }

    /// Whether the text begins with the type of the exception.
    pub(super) fn begins_with_kind(&self) -> bool {
        let first = self.lines.first().copied().unwrap_or_default();
        self.kind().is_some_and(|kind| first.starts_with(kind))
    }
}

/// The exceptions of an error without repetition: first the stack, then the rest of the text.
pub(super) fn chain(error: &JobError) -> Vec<Thrown<'_>> {
    let is_code = |id: &&String| !id.contains('.');
    let code = error.id.as_ref().filter(is_code);
    let texts = [
        error.exception.as_ref(),
        code,
        error.details.as_ref(),
        Some(&error.message),
        error.description.as_ref(),
        error.id.as_ref(),
        error.internal.as_ref(),
    ];
    let mut left = MAX_READ;
    let mut seen: Vec<&str> = Vec::new();
    let mut found: Vec<Thrown<'_>> = Vec::new();
    for text in texts.into_iter().flatten() {
        let text = cut(text, left);
        left -= text.len();
        for thrown in causes(text).into_iter().rev() {
            let known = thrown.lines.first().and_then(|first| {
                let same = |t: &&mut Thrown<'_>| t.lines.first() == Some(first);
                found.iter_mut().find(same)
            });
            if let Some(known) = known.filter(|known| known.frames.is_empty()) {
                known.frames.clone_from(&thrown.frames);
            }
            let new = |line: &&str| !seen.contains(line);
            let lines: Vec<&str> = thrown.lines.into_iter().filter(new).collect();
            if lines.is_empty() || found.len() == MAX_THROWN {
                continue;
            }
            seen.extend(&lines);
            let frames = thrown.frames;
            found.push(Thrown { lines, frames });
        }
    }
    found
}

/// The exceptions of a stack in its order, the outermost first.
fn causes(text: &str) -> Vec<Thrown<'_>> {
    const CAUSED: &str = "Caused by: ";
    const TRACEBACK: &str = "Traceback (most recent call last):";
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.trim_start().strip_prefix(CAUSED) {
            starts.push(at + line.len() - rest.len());
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut found = Vec::new();
    for (from, to) in starts.iter().copied().zip(ends) {
        let part = text[from..to].trim_end().trim_end_matches(CAUSED.trim());
        match part.split_once(TRACEBACK) {
            Some((before, traceback)) => {
                found.push(Thrown::of(before));
                // the first traceback shows the exception that the later ones wrap
                found.extend(raised(traceback).map(Thrown::of));
            }
            None => found.push(Thrown::of(part)),
        }
    }
    found
}

/// Last line of the first traceback of a text: `ValueError: could not convert`.
fn raised(traceback: &str) -> Option<&str> {
    let mut at = 0;
    let mut from = None;
    for line in traceback.split_inclusive('\n').skip(1) {
        let is_frame = line.starts_with([' ', '\t']) || line.trim().is_empty();
        match (from, is_frame) {
            (None, false) => from = Some(at),
            (Some(_), true) => break,
            _ => {}
        }
        at += line.len();
    }
    let first = traceback.split_inclusive('\n').next().map_or(0, str::len);
    from.map(|from| traceback[first + from..first + at].trim_end())
}

/// The lines that state something: neither frames of stacks nor source code.
pub(super) fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|l| is_statement(l)).map(str::trim)
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
        || text == "Driver stacktrace:"
        || is_code
        || is_number)
}

/// The types of exceptions that a line names: words that end like one, or the first word with a package and a
/// colon behind it.
pub(super) fn kinds(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '$');
    let words = line.split(move |c: char| !is_part(c));
    let ends = [
        "Exception",
        "Error",
        "Interrupt",
        "Failure",
        "Exit",
        "Warning",
    ];
    let named = move |word: &&str| {
        let word = word.trim_end_matches('.');
        let simple = word.rsplit(['.', '$']).next().unwrap_or(word);
        simple.len() > 4
            && simple.starts_with(|c: char| c.is_ascii_uppercase())
            && ends.iter().any(|end| simple.ends_with(end))
            && simple.contains(|c: char| c.is_ascii_lowercase())
    };
    words.filter(named).map(|word| word.trim_end_matches('.'))
}
