//! Feeds the collector line by line in bounded memory.

use std::io::{self, BufRead, Read};

use super::codec::{Unpacked, unpack};
use super::collect::Collector;

/// Longer lines are skipped: a plan that was updated takes some hundred KiB, the start of a job of
/// ten thousand stages some ten MiB.
const MAX_LINE: usize = 64 << 20;

/// Reads a part of a log. Returns why decompression stopped before its end; `None` if it did not.
pub(crate) fn read(
    name: &str,
    stream: impl Read,
    collector: &mut Collector,
) -> io::Result<Option<String>> {
    let mut stream = unpack(stream)?;
    collector.part(name);
    lines(&mut stream, collector)?;
    Ok(stream.cut.map(|error| error.to_string()))
}

fn lines(stream: &mut Unpacked<'_>, collector: &mut Collector) -> io::Result<()> {
    let (mut carry, mut skipping) = (Vec::new(), false);
    loop {
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
    Ok(())
}
