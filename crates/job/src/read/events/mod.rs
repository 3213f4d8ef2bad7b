//! Vertex events: `profile` and the job manager's output, streamed in bounded memory.
//!
//! One `---HiPriTime` line per finished attempt; sentences about failures, revocations, read
//! failures and duplicates between them. The six times are taken as created, queued, process
//! started, running, ended, queued (modelled: no public file states it).

mod clock;
mod collect;
mod line;
mod sketch;

use std::io::BufRead;

use crate::folder::Options;
use crate::model::{Job, Source};

pub(crate) use collect::Collector;

/// Longer lines are skipped. Real ones have some 300 bytes.
const MAX_LINE: usize = 64 << 10;

/// Reads all lines of a stream. Returns the bytes read.
pub(crate) fn read(
    name: &str,
    stream: &mut dyn BufRead,
    options: &Options,
    job: &mut Job,
) -> std::io::Result<u64> {
    let mut collector = Collector::new(name, options);
    let outcome = lines(stream, &mut collector);
    finish(name, collector, job);
    outcome
}

/// Feeds the collector line by line, straight from the stream's buffer where a line lies in it.
fn lines(stream: &mut dyn BufRead, collector: &mut Collector) -> std::io::Result<u64> {
    let (mut total, mut carry, mut skipping) = (0_u64, Vec::new(), false);
    loop {
        let buffer = match stream.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            break;
        }
        let read = buffer.len();
        let mut rest = buffer;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (piece, after) = (&rest[..end], &rest[end + 1..]);
            match (skipping, carry.is_empty()) {
                (true, _) => collector.skipped_line(),
                (false, true) => collector.line(piece),
                (false, false) => {
                    carry.extend_from_slice(piece);
                    collector.line(&carry);
                }
            }
            carry.clear();
            (skipping, rest) = (false, after);
        }
        if carry.len() + rest.len() > MAX_LINE {
            skipping = true;
            carry.clear();
        } else if !skipping {
            carry.extend_from_slice(rest);
        }
        stream.consume(read);
        total += read as u64;
    }
    if !carry.is_empty() {
        collector.last_line(&carry);
    }
    Ok(total)
}

fn finish(name: &str, collector: Collector, job: &mut Job) {
    let collected = collector.finish();
    let at = |line: u64| Source {
        file: name.to_owned(),
        locator: Some(format!("line {line}")),
    };
    if let Some((ms, line)) = collected.graph_start {
        job.info
            .offer_time(|info| &mut info.started_ms, "started_ms", ms, at(line));
    }
    if let Some((ms, line)) = collected.finish {
        job.info
            .offer_time(|info| &mut info.ended_ms, "ended_ms", ms, at(line));
    }
    let mut index = super::StageIndex::of(job);
    for (stage, runs) in collected.stages {
        if let Some(at) = index.at(job, &stage) {
            job.stages[at].runs = Some(runs);
        }
    }
    let hint = "the numbers of these attempts are missing from the distributions";
    for (line, message) in collected.complaints {
        job.warn(name, Some(format!("line {line}")), message, hint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &[u8], buffer: usize) -> Job {
        let mut job = Job::default();
        let mut stream = std::io::BufReader::with_capacity(buffer, text);
        read("profile", &mut stream, &Options::default(), &mut job).expect("memory is readable");
        job
    }

    const LINE: &str = "---HiPriTime A-B,C-D,SV1_X[3],Completed,m1,2024-06-27 15:45:06.044 PDT,2024-06-27 15:45:06.084 PDT,\
        2024-06-27 15:45:06.348 PDT,2024-06-27 15:45:07.989 PDT,2024-06-27 15:45:48.233 PDT,2024-06-27 15:45:06.084 PDT,46,45\r\n";

    #[test]
    fn lines_across_buffers_are_whole() {
        let text = LINE.repeat(50);
        for buffer in [1, 7, 100, 1 << 16] {
            let job = read_text(text.as_bytes(), buffer);
            let runs = job.stages[0].runs.as_ref().expect("runs");
            assert_eq!(runs.completed, 50);
            assert_eq!(runs.runs[49].line, 50);
            assert_eq!(runs.run_ms.p50, 40_244.0);
            assert_eq!(runs.bytes_read.total, 46.0 * 50.0);
            assert_eq!(runs.runs[0].created_ms, 1_719_528_306_044);
        }
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut text = LINE.as_bytes().to_vec();
        text.extend(std::iter::repeat_n(b'x', 1 << 20));
        text.push(b'\n');
        text.extend(LINE.as_bytes());
        let job = read_text(&text, 4096);
        assert_eq!(job.stages[0].runs.as_ref().map(|r| r.completed), Some(2));
        assert_eq!(job.diagnostics.len(), 1);
    }

    #[test]
    fn a_cut_last_line_is_told() {
        let job = read_text(&LINE.as_bytes()[..LINE.len() - 60], 4096);
        assert!(job.stages.is_empty());
        assert!(
            job.diagnostics[0].message.contains("cut"),
            "{:?}",
            job.diagnostics
        );
    }
}
