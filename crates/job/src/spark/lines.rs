//! Feeds the collector line by line in bounded memory.

use std::io::{self, BufRead, Read};

use super::codec::{Unpacked, unpack};
use super::collect::Collector;
use crate::problem::Problem;
use crate::until::Until;

/// Longer lines are skipped: the update of a plan takes some hundred KiB, the start of a job of
/// ten thousand stages some ten MiB.
const MAX_LINE: usize = 32 << 20;

/// Lines without an event that are read from a part with fewer events than such lines.
const MAX_WITHOUT_EVENT: u64 = 1_000_000;

/// Reads a part of a log, until a deadline if there is one. Returns the problem that ended the reading early, if any.
pub(crate) fn read(
    name: &str,
    stream: impl Read,
    collector: &mut Collector,
    until: &Until,
) -> io::Result<Option<Problem>> {
    let mut stream = unpack(stream)?;
    collector.part(name);
    let stopped = lines(&mut stream, collector, until)?;
    let cut = stream.cut.map(|error| match error.kind() {
        io::ErrorKind::Unsupported => Problem::TooDemanding(error.to_string()),
        _ => Problem::CutLog(error.to_string()),
    });
    Ok(stopped.or(cut))
}

fn lines(
    stream: &mut Unpacked<'_>,
    collector: &mut Collector,
    until: &Until,
) -> io::Result<Option<Problem>> {
    let (mut carry, mut skipping) = (Vec::new(), false);
    loop {
        let line = collector.line;
        if let Some(early) = until.reached() {
            return Ok(Some(Problem::stopped(early, line)));
        }
        if collector.without_event > MAX_WITHOUT_EVENT.max(line / 2) {
            return Ok(Some(Problem::NoEvents(line)));
        }
        let buffer = stream.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        let mut rest = buffer;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, next) = (&rest[..end], &rest[end + 1..]);
            match (skipping, carry.is_empty()) {
                (true, _) => collector.line(b"?", false),
                (false, true) => collector.line(line, false),
                (false, false) => {
                    carry.extend_from_slice(line);
                    collector.line(&carry, false);
                }
            }
            carry.clear();
            skipping = false;
            rest = next;
        }
        if carry.len() + rest.len() > MAX_LINE {
            skipping = true;
            carry = Vec::new();
        } else if !skipping {
            carry.extend_from_slice(rest);
        }
        let read = buffer.len();
        stream.consume(read);
    }
    if !carry.is_empty() || skipping {
        collector.line(&carry, true);
    }
    Ok(None)
}
