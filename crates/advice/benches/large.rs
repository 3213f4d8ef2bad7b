//! Reads and diagnoses jobs of one and ten times a size, in each dimension that grows in real jobs. The target is 13 times the time at most.
//!
//! `cargo bench -p advice --bench large`. Prints a table in Markdown with user CPU time, which other processes hardly change.

#![expect(clippy::print_stdout, reason = "a bench prints its measurements")]

#[path = "../../job/tests/generated/mod.rs"]
mod generated;

use std::fs;
use std::path::Path;

use advice::diagnose;
use diagnosis::Settings;
use job::Catalogue;
use report::Language;

type Write = fn(&Path, u32);

const DIMENSIONS: [(&str, u32, Write); 9] = [
    ("stages in a chain", 10_000, |to, n| {
        log(to, n, 2, |s| s.checked_sub(1).into_iter().collect())
    }),
    ("edges of a complete DAG", 316, |to, n| {
        log(to, n, 2, |s| (0..s).collect())
    }),
    ("stages of 100 parents", 200, |to, n| {
        log(to, n, 2, |s| (s.saturating_sub(100)..s).collect())
    }),
    ("tasks of four stages", 25_000, |to, n| {
        log(to, 4, n, |s| s.checked_sub(1).into_iter().collect())
    }),
    ("SQL executions", 10_000, executions),
    ("SCOPE: edges of a complete DAG", 221, |to, n| {
        folder(to, n, 20, |s| (0..s).collect())
    }),
    ("SCOPE: stages in a chain", 2_000, |to, n| {
        folder(to, n, 20, |s| s.checked_sub(1).into_iter().collect())
    }),
    ("SCOPE: statements", 1_000, |to, n| {
        folder(to, 20, n, |s| s.checked_sub(1).into_iter().collect())
    }),
    ("SCOPE: files", 900, files),
];

fn main() {
    // `cargo bench` passes `--bench`; `cargo test` runs the binary without it, as a no-op
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    println!("| dimension | 1x | time | 10x | time | ratio |\n|---|---|---|---|---|---|");
    for (what, n, write) in DIMENSIONS {
        // a complete DAG with sqrt(10) times the stages has ten times the edges
        let more = match what.contains("complete") {
            true => (f64::from(n) * 10_f64.sqrt()) as u32,
            false => n * 10,
        };
        let [one, ten] = [n, more].map(|n| seconds(write, n));
        println!(
            "| {what} | {n} | {one:.2} s | {more} | {ten:.2} s | {:.1} |",
            ten / one
        );
    }
}

fn seconds(write: Write, n: u32) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("job");
    write(&path, n);
    let before = user_seconds();
    let job = job::load(&path).expect("a job");
    diagnose(
        &job,
        &Catalogue::builtin(),
        &Settings::default(),
        Language::En,
    );
    user_seconds() - before
}

/// User CPU time of this process, on Linux.
fn user_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks = fields
        .skip(11)
        .take(1)
        .filter_map(|n| n.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn log(to: &Path, stages: u32, tasks: u32, parents: impl Fn(u32) -> Vec<u32>) {
    let mut file = std::io::BufWriter::new(fs::File::create(to).expect("a file"));
    generated::stages(&mut file, stages, tasks, parents).expect("room on the disk");
}

fn executions(to: &Path, n: u32) {
    let mut file = std::io::BufWriter::new(fs::File::create(to).expect("a file"));
    generated::executions(&mut file, n).expect("room on the disk");
}

fn folder(to: &Path, stages: u32, statements: u32, parents: impl Fn(u32) -> Vec<u32>) {
    fs::create_dir(to).expect("a folder");
    let put = |name: &str, text: String| fs::write(to.join(name), text).expect("room on the disk");
    put("ScopeVertexDef.xml", generated::definition(stages, parents));
    put("scope.script", generated::script(statements));
}

fn files(to: &Path, n: u32) {
    folder(to, 20, 20, |s| s.checked_sub(1).into_iter().collect());
    for file in 0..n {
        fs::write(
            to.join(format!("Error{file}.txt")),
            "E_CSC_USER_FAILED: it failed\n",
        )
        .expect("room");
    }
}
