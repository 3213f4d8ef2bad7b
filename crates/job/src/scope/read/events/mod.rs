//! Vertex events: `profile` and the job manager's output, streamed in bounded memory.
//!
//! One `---HiPriTime` line per finished attempt, or in the older form several lines (see `older`);
//! sentences about failures, revocations, read failures and duplicates between them. The six times
//! are taken as created, queued, process started, running, ended, queued (modeled: no public file
//! states it).

mod clock;
mod collect;
mod line;
mod older;

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use super::job_info::{Rank, offer};
use crate::folder::Options;
use crate::folder::opening::RegularFile;
use crate::model::{Job, Source};
use crate::problem::Problem;
use crate::text::decode;

pub(crate) use collect::Collector;

/// Longer lines are skipped. Real ones have some 300 bytes.
const MAX_LINE: usize = 64 << 10;

/// A smaller file is read by one thread: more threads would cost as much as they save.
const MIN_PART: u64 = 16 << 20;

/// Opens the file once more: parts are read through handles of their own.
pub(crate) type Open<'a> = dyn Fn() -> std::io::Result<RegularFile> + Sync + 'a;

/// Reads a file, a large one in parts concurrently. Returns the bytes read.
pub(crate) fn read_file(
    name: &str,
    open: &Open<'_>,
    options: &Options,
    job: &mut Job,
) -> std::io::Result<u64> {
    let mut opened = open()?;
    if is_utf16(&mut opened)? {
        return read_utf16(name, opened, options, job);
    }
    let size = opened.bytes;
    let parts = super::parts_at_a_time(size, MIN_PART);
    let bounds = bounds(&mut opened, parts)?;
    let read_part = |opened: RegularFile, (from, to): (u64, u64)| {
        let mut file = opened.file;
        file.seek(SeekFrom::Start(from))?;
        // the last part also takes the lines that a running job has added since
        let length = if to == size { u64::MAX } else { to - from };
        let mut collector = Collector::new(name, options, parts as usize);
        let mut stream = BufReader::with_capacity(256 << 10, file.take(length));
        let bytes = lines(&mut stream, &mut collector)?;
        Ok((collector, bytes))
    };
    let outcomes: Vec<_> = match bounds.as_slice() {
        [only] => vec![read_part(opened, *only)],
        several => std::thread::scope(|scope| {
            let read_part = &read_part;
            let started = several.iter();
            let started = started.map(|part| scope.spawn(|| read_part(open()?, *part)));
            let started: Vec<_> = started.collect();
            let lost = || std::io::Error::other("a reading thread ended early");
            let outcomes = started.into_iter().map(|t| t.join());
            outcomes
                .map(|o| o.unwrap_or_else(|_| Err(lost())))
                .collect()
        }),
    };
    let (mut whole, mut total, mut failure): (Option<Collector>, u64, _) = (None, 0, None);
    for outcome in outcomes {
        match outcome {
            Ok((part, bytes)) => {
                total += bytes;
                match &mut whole {
                    Some(collector) => collector.absorb(part),
                    none => *none = Some(part),
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    if let Some(collector) = whole {
        finish(name, collector, job);
    }
    failure.map_or(Ok(total), Err)
}

/// Whether a file is UTF-16. The read position stays at the start.
fn is_utf16(opened: &mut RegularFile) -> std::io::Result<bool> {
    let mut mark = Vec::with_capacity(2);
    (&opened.file).take(2).read_to_end(&mut mark)?;
    opened.file.rewind()?;
    Ok(matches!(mark[..], [0xff, 0xfe] | [0xfe, 0xff]))
}

/// Reads a file in UTF-16 as a whole: it was saved again by an editor, so it is not large.
fn read_utf16(
    name: &str,
    opened: RegularFile,
    options: &Options,
    job: &mut Job,
) -> std::io::Result<u64> {
    let bytes = opened.head(options.max_file_bytes)?;
    if bytes.len() as u64 == options.max_file_bytes {
        let problem = Problem::OnlyFirstOfUtf16(options.max_file_bytes);
        job.note(name, None, &problem);
    }
    read(name, &bytes, options, job);
    Ok(bytes.len() as u64)
}

/// Cuts a file after line feeds into about equal parts.
fn bounds(opened: &mut RegularFile, parts: u64) -> std::io::Result<Vec<(u64, u64)>> {
    let (file, size) = (&mut opened.file, opened.bytes);
    let mut cuts = vec![0];
    for part in 1..parts {
        let from = size / parts * part;
        file.seek(SeekFrom::Start(from))?;
        // no line feed within the length of a line: no cut here
        let mut ahead = Vec::new();
        (&*file).take(MAX_LINE as u64).read_to_end(&mut ahead)?;
        cuts.extend(memchr::memchr(b'\n', &ahead).map(|at| from + at as u64 + 1));
    }
    cuts.push(size);
    cuts.dedup();
    Ok(cuts.windows(2).map(|pair| (pair[0], pair[1])).collect())
}

/// Reads lines that are in memory.
pub(crate) fn read(name: &str, text: &[u8], options: &Options, job: &mut Job) {
    let mut collector = Collector::new(name, options, 1);
    let decoded = matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]).then(|| decode(text).text);
    let mut text = decoded.as_deref().map_or(text, str::as_bytes);
    lines(&mut text, &mut collector).expect("memory is readable");
    finish(name, collector, job);
}

/// Feeds the collector line by line, straight from the stream's buffer where it contains the whole line.
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
        if collector.stops() {
            (carry, skipping) = (Vec::new(), false);
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
    if skipping {
        collector.skipped_line();
    } else if !carry.is_empty() {
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
    let info = &mut job.info;
    if let Some((ms, line)) = collected.graph_start {
        offer!(info.started_ms, Rank::Events, Some(ms), at(line));
    }
    if let Some((ms, line)) = collected.finish {
        offer!(info.ended_ms, Rank::Events, Some(ms), at(line));
    }
    let mut index = super::StageIndex::of(job, name);
    for (stage, runs) in collected.stages {
        if let Some(at) = index.at(job, &stage) {
            job.stages[at].runs = Some(runs);
        }
    }
    for (line, problem) in collected.complaints {
        job.note(name, Some(format!("line {line}")), &problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::Distribution;

    fn read_text(text: &[u8], buffer: usize) -> Job {
        let mut job = Job::default();
        let mut collector = Collector::new("profile", &Options::default(), 1);
        let mut stream = BufReader::with_capacity(buffer, text);
        lines(&mut stream, &mut collector).expect("memory is readable");
        finish("profile", collector, &mut job);
        job
    }

    /// Attempts completed, their times and the bytes that they read.
    fn measured(job: &Job) -> (u64, Distribution, Distribution) {
        let runs = job.stages[0].runs.as_ref().expect("runs");
        (runs.completed, runs.run_ms, runs.bytes_read)
    }

    const LINE: &str = "---HiPriTime A-B,C-D,SV1_X[3],Completed,m1,2024-06-27 15:45:06.044 PDT,2024-06-27 15:45:06.084 PDT,\
        2024-06-27 15:45:06.348 PDT,2024-06-27 15:45:07.989 PDT,2024-06-27 15:45:48.233 PDT,2024-06-27 15:45:06.084 PDT,46,45\r\n";

    fn opened(path: &std::path::Path) -> std::io::Result<RegularFile> {
        let file = std::fs::File::open(path)?;
        let bytes = file.metadata()?.len();
        Ok(RegularFile { file, bytes })
    }

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
    fn parts_of_a_file_give_the_same_as_the_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profile");
        let n = (3 * MIN_PART as usize).div_ceil(LINE.len());
        let text: String = (0..n)
            .map(|i| LINE.replace("[3]", &format!("[{i}]")))
            .collect();
        std::fs::write(&path, &text).expect("written");
        let (mut parted, mut whole) = (Job::default(), Job::default());
        let options = Options::default();
        let bytes =
            read_file("profile", &|| opened(&path), &options, &mut parted).expect("readable");
        assert_eq!(bytes, text.len() as u64);
        read("profile", text.as_bytes(), &options, &mut whole);
        assert_eq!(measured(&parted), measured(&whole));
        let runs = &parted.stages[0].runs.as_ref().expect("runs").runs;
        // line numbers count from the start of the file
        assert!(runs.iter().all(|run| run.line == u64::from(run.index) + 1));
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

    /// A stream without line ends, which repeats one buffer.
    struct Endless {
        left: u64,
        buffer: Vec<u8>,
    }

    impl Read for Endless {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            unreachable!("lines are read from the buffer")
        }
    }

    impl BufRead for Endless {
        fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
            let length = self.left.min(self.buffer.len() as u64) as usize;
            Ok(&self.buffer[..length])
        }

        fn consume(&mut self, bytes: usize) {
            self.left -= bytes as u64;
        }
    }

    #[test]
    fn a_line_of_10_gb_is_skipped_and_reported() {
        let mut collector = Collector::new("profile", &Options::default(), 1);
        let mut endless = Endless {
            left: 10_000_000_000,
            buffer: vec![b'-'; 256 << 10],
        };
        let mut stream = LINE.as_bytes().chain(&mut endless).chain(&b"\n"[..]);
        let read = lines(&mut stream, &mut collector).expect("memory is readable");
        assert_eq!(read, 10_000_000_000 + LINE.len() as u64 + 1);
        let mut job = Job::default();
        finish("profile", collector, &mut job);
        assert_eq!(job.stages[0].runs.as_ref().map(|r| r.completed), Some(1));
        let reported = &job.diagnostics[0];
        assert_eq!(reported.message.en, "a line that is too long to read");
        assert_eq!(reported.locator.as_deref(), Some("line 2"));
    }

    #[test]
    fn marks_of_encodings_are_understood() {
        let options = Options::default();
        let text = format!("\u{feff}{LINE}");
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let folder = tempfile::tempdir().expect("a folder");
        for bytes in [text.as_bytes(), &little, &big] {
            let path = folder.path().join("profile");
            std::fs::write(&path, bytes).expect("written");
            let mut job = Job::default();
            read_file("profile", &|| opened(&path), &options, &mut job).expect("readable");
            let runs = job.stages.first().and_then(|s| s.runs.as_ref());
            assert_eq!(runs.map(|r| r.completed), Some(1));
        }
    }

    #[test]
    fn a_cut_last_line_is_reported() {
        let job = read_text(&LINE.as_bytes()[..LINE.len() - 60], 4096);
        assert!(job.stages.is_empty());
        let message = &job.diagnostics[0].message.en;
        assert!(message.contains("cut"), "{message}");
    }

    #[test]
    fn the_older_form_is_read_where_there_is_no_other() {
        let older = "Process started for vertex 7 (SV1_X[3]) v.0 GUID {9D} machine m7\n\
            Timing Information 7 0 SV1_X[3] 133640000000000000 0.5 0.5 0.5 0.5 8.0\n\
            Io information 7 0 SV1_X[3] read 460 wrote 45\n";
        let job = read_text(older.as_bytes(), 4096);
        let runs = job.stages[0].runs.as_ref().expect("runs");
        assert_eq!((runs.completed, runs.run_ms.max), (1, 8_000.0));
        assert_eq!(runs.wait_ms.max, 1_500.0);
        assert_eq!((runs.bytes_read.total, runs.runs[0].line), (460.0, 2));
        assert_eq!(&*runs.machines[0], "m7");
        for text in [format!("{older}{LINE}"), format!("{LINE}{older}")] {
            let job = read_text(text.as_bytes(), 4096);
            let runs = job.stages[0].runs.as_ref().expect("runs");
            assert_eq!((runs.completed, runs.bytes_read.total), (1, 46.0));
        }
    }

    #[test]
    fn the_older_form_is_read_in_parts_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profile");
        let of = |n: usize| {
            let filler = "Process is well ".repeat(30);
            format!(
                "Timing Information {n} 0 SV1_X[{n}] 133640000000000000 0 0 0 0 {n}\n{filler}\n"
            )
        };
        let mut text: String = (0..70_000).map(of).collect();
        text += "Io information 0 0 SV1_X[0] read 460 wrote 45\n";
        assert!(text.len() > 2 * MIN_PART as usize);
        std::fs::write(&path, &text).expect("written");
        let (mut parted, mut whole) = (Job::default(), Job::default());
        let options = Options::default();
        read_file("profile", &|| opened(&path), &options, &mut parted).expect("readable");
        read("profile", text.as_bytes(), &options, &mut whole);
        assert_eq!(measured(&parted), measured(&whole));
        assert_eq!(measured(&parted).0, 70_000);
    }
}
