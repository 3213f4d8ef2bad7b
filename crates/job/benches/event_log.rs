//! Measures the reader of Spark event logs, plain and compressed with zstd, against `wc -l` and `zstd -dc | wc -l`.
//!
//! `cargo bench -p job --bench event_log [-- MEGABYTES]`, 500 MB of plain log by default: a real log with repeated
//! task ends. Prints a table in Markdown, with the peak memory of the process.

#![expect(clippy::print_stdout, reason = "a bench prints its measurements")]

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn main() {
    // `cargo bench` passes `--bench`; `cargo test` runs the binary without it, as a no-op
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|a| a == "--bench") {
        return;
    }
    let megabytes = arguments.iter().find_map(|a| a.parse().ok()).unwrap_or(500);
    let folder = tempfile::tempdir().expect("a folder for the measurements");
    let plain = folder.path().join("log");
    write(&plain, megabytes << 20);
    let packed = folder.path().join("log.zstd");
    let zstd = Command::new("zstd")
        .args(["-q", "-1"])
        .args([plain.as_os_str(), "-o".as_ref(), packed.as_os_str()])
        .status();
    println!("| log | ours | against | ratio |\n|---|---|---|---|");
    measure("plain", &plain, megabytes, "wc -l");
    if zstd.is_ok_and(|s| s.success()) {
        measure("zstd", &packed, megabytes, "zstd -dcq | wc -l");
    }
    let peak = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find(|l| l.starts_with("VmHWM"));
    println!("\npeak memory: {}", peak.unwrap_or("unknown"));
}

/// Writes a log of at least `bytes` bytes.
fn write(to: &Path, bytes: usize) {
    let case = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/cases/spark-star-join/app-20261122012010-0000");
    let log = fs::read_to_string(case).expect("a plain log");
    let is_end = |l: &&str| l.contains("\"SparkListenerTaskEnd\"");
    let ends: Vec<&str> = log.lines().filter(is_end).collect();
    let mut file = BufWriter::new(fs::File::create(to).expect("a file"));
    let (mut written, mut index) = (0, 0_u64);
    for line in log.lines() {
        writeln!(file, "{line}").expect("room on the disk");
        while is_end(&line) && written < bytes {
            let line = ends[index as usize % ends.len()]
                .replace("\"Index\":0,", &format!("\"Index\":{index},"));
            writeln!(file, "{line}").expect("room on the disk");
            written += line.len() + 1;
            index += 1;
        }
    }
}

fn measure(what: &str, log: &Path, megabytes: usize, against: &str) {
    let ours = best(|| {
        let job = job::load(log).expect("a log");
        assert!(!job.stages.is_empty());
    });
    let theirs = best(|| {
        let shell = format!("{against} < '{}'", log.display());
        let status = Command::new("sh")
            .args(["-c", &shell])
            .stdout(Stdio::null())
            .status();
        assert!(status.is_ok_and(|s| s.success()));
    });
    let rate = |time: Duration| megabytes as f64 / time.as_secs_f64();
    println!(
        "| {what} | {:.0} MB/s | `{against}` {:.0} MB/s | {:.2} |",
        rate(ours),
        rate(theirs),
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
}

/// The shortest of several runs.
fn best(mut run: impl FnMut()) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..3).map(timed).min().unwrap_or_default()
}
