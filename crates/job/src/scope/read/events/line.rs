//! Parses single lines of vertex events.

use super::clock::Clock;
use crate::bounds;
use crate::runs::RunState;

pub(super) struct Attempt<'a> {
    pub(super) stage: &'a [u8],
    pub(super) index: u32,
    pub(super) state: RunState,
    pub(super) machine: &'a [u8],
    /// Created, queued, process started, running, ended.
    pub(super) times: [i64; 5],
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
}

/// Reads the text after `---HiPriTime `; `None` if it has another shape.
pub(super) fn attempt<'a>(text: &'a [u8], clock: &mut Clock) -> Option<Attempt<'a>> {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let mut fields = Fields { rest: text };
    let (_job, _vertex) = (fields.next(GUID), fields.next(GUID));
    let (name, state, machine) = (fields.next(0), fields.next(COMPLETED), fields.next(0));
    let mut times = [0; 5];
    for time in &mut times {
        *time = clock.parse(fields.next(TIME))?;
    }
    let _queued_again = fields.next(TIME);
    let mut bytes = || whole(fields.next(0)).and_then(bounds::count);
    let (bytes_read, bytes_written) = (bytes()?, bytes()?);
    let (stage, index) = vertex_name(name)?;
    let state = state_of(state)?;
    Some(Attempt {
        stage,
        index,
        state,
        machine,
        times,
        bytes_read,
        bytes_written,
    })
}

/// Usual lengths of fields: a comma is looked for there first.
const GUID: usize = 36;
const COMPLETED: usize = 9;
const TIME: usize = 27;

struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The next field, empty at the end. `usual` is a length to try before searching; 0 for none.
    fn next(&mut self, usual: usize) -> &'a [u8] {
        let guessed = usual > 0 && self.rest.get(usual) == Some(&b',');
        let end = match guessed {
            true => usual,
            false => memchr::memchr(b',', self.rest).unwrap_or(self.rest.len()),
        };
        let field = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        field
    }
}

/// Stage and index of `SV4_Extract_Split[0]`, `SV1_Extract[12][0]` or a name alone; `None` if the
/// index is too large for a stage.
pub(super) fn vertex_name(name: &[u8]) -> Option<(&[u8], u32)> {
    let Some(open) = memchr::memchr(b'[', name) else {
        return Some((name, 0));
    };
    let digits = name[open + 1..].split(|b| !b.is_ascii_digit()).next();
    let index = match digits.unwrap_or_default() {
        b"" => 0,
        digits => whole(digits).and_then(bounds::parts)?,
    };
    Some((&name[..open], index))
}

fn state_of(text: &[u8]) -> Option<RunState> {
    Some(match text {
        b"Completed" | b"Successful" | b"Succeeded" => RunState::Completed,
        b"Failed" => RunState::Failed,
        b"Revoked" | b"Invalidated" => RunState::Revoked,
        b"Abandoned" => RunState::Abandoned,
        b"Cancelled" | b"Canceled" => RunState::Cancelled,
        _ => return None,
    })
}

/// A whole number of at most 19 digits.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let short = !text.is_empty() && text.len() <= 19;
    let mut total = 0_u64;
    for digit in text {
        if !digit.is_ascii_digit() {
            return None;
        }
        total = total.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
    }
    short.then_some(total)
}

/// Event in a sentence of the job manager.
#[derive(Debug, PartialEq)]
pub(super) enum Event<'a> {
    /// FILETIME at which the job manager began.
    GraphStart(i64),
    /// FILETIME at which it ended.
    Finish(i64),
    /// An event of a vertex: the stage, and the message without the parts that differ from vertex to
    /// vertex.
    Vertex(&'a str, String),
}

/// Reads a line other than `---HiPriTime`; `None` if it has no relevant event.
pub(super) fn event(line: &[u8]) -> Option<Event<'_>> {
    // nearly all other lines report ordinary progress
    match line.first()? {
        b'T' | b'J' | b'P' | b'A' | b'C' | b'I' => {}
        _ => return None,
    }
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let number = |rest: &str| rest.split_whitespace().next()?.parse().ok();
    if let Some(rest) = text.strip_prefix("Timing Information Graph Start Time ") {
        return number(rest).map(Event::GraphStart);
    }
    if let Some(rest) = text.strip_prefix("JM Finish time: ") {
        return number(rest).map(Event::Finish);
    }
    let message = message(text)?;
    Some(Event::Vertex(stage_named(text)?, message))
}

/// The message of a counted event, with the status or reason at the end of the line.
fn message(text: &str) -> Option<String> {
    let after = |mark: &str| text.split_once(mark).map(|(_, rest)| rest.trim());
    let with = |kind: &str, detail: Option<&str>| match detail.filter(|d| !d.is_empty()) {
        // bounded: a status may be a whole stack
        Some(detail) => Some(format!("{kind}: {}", crate::text::head(detail, 200))),
        None => Some(kind.to_owned()),
    };
    match () {
        () if text.starts_with("Process has failed") => with("failed", after(" status ")),
        () if text.starts_with("Process was terminated") => with("terminated", after(" status ")),
        () if text.starts_with("Process was revoked") => with("revoked", None),
        () if text.starts_with("Abandoning duplicate") => with("duplicate abandoned", None),
        () if text.starts_with("Canceling vertex") => with("cancelled", after(" due to ")),
        () if text.starts_with("Input vertex") && text.contains("read failure") => {
            with("read failure of an input", None)
        }
        () => None,
    }
}

/// Stage of the vertex that a line names in brackets: `Vertex 15.0 (SV1_Extract_Split[14]) …`.
fn stage_named(text: &str) -> Option<&str> {
    let open = text.find('(')?;
    let name = &text[open + 1..open + text[open..].find(')')?];
    let stage = name.split('[').next()?.trim();
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    (!stage.is_empty() && stage.chars().all(plain)).then_some(stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertex_names() {
        for (rest, index) in [
            ("[12]", Some(12)),
            ("[3][1]", Some(3)),
            ("", Some(0)),
            ("[", Some(0)),
            ("[4294967295]", None),
            ("[99999999999999999999]", None),
        ] {
            let name = format!("SV4_X{rest}");
            let expected = index.map(|index| (&b"SV4_X"[..], index));
            assert_eq!(vertex_name(name.as_bytes()), expected);
        }
    }

    #[test]
    fn sentences() {
        let vertex = |stage, message: &str| Some(Event::Vertex(stage, message.to_owned()));
        for (text, expected) in [
            (
                "Process has failed Vertex 15.0 (SV1_X[14]) GUID {A} machine m Exitcode 0x8 status E_BAD\r",
                vertex("SV1_X", "failed: E_BAD"),
            ),
            (
                "Process was revoked by remote scheduler Old GUID {A} New GUID {B} vertex 3.0 (SV2_Y[1])",
                vertex("SV2_Y", "revoked"),
            ),
            (
                "Timing Information Graph Start Time 12",
                Some(Event::GraphStart(12)),
            ),
            (
                "JM Finish time: 13 2010-03-25T22:25:49Z",
                Some(Event::Finish(13)),
            ),
            ("Process started for vertex 4 (Super__0[0]) v.0", None),
            ("Setting vertex 1461.0 (Merge__13[258]) to failed", None),
        ] {
            assert_eq!(event(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(event(b"\xff\xfe"), None);
    }
}
