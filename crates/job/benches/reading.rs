//! Measures the readers against lower bounds: `wc -l` and DuckDB for vertex events, a bare
//! quick-xml loop for counters, and a whole folder of 20,000 vertices.
//!
//! `cargo bench -p job --bench reading [-- MEGABYTES] [PART…]`; the profile has 1,000 MB
//! by default, the parts are `profile`, `statistics`, `folder` and `line`, all by default. Each measurement is
//! the best of several runs, the two sides of a ratio alternately, files in the page cache. Prints a
//! table in Markdown.

#![expect(clippy::print_stdout, reason = "a bench prints its measurements")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn main() {
    // `cargo bench` passes `--bench`; `cargo test` runs the binary without it, as a no-op
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|a| a == "--bench") {
        return;
    }
    let megabytes = arguments.iter().find_map(|a| a.parse().ok());
    let megabytes: usize = megabytes.unwrap_or(1_000);
    let parts = ["profile", "statistics", "folder", "line"];
    let asked = |part: &str| arguments.iter().any(|a| a == part);
    let all = !parts.iter().any(|part| asked(part));
    let folder = tempfile::tempdir().expect("a folder for the measurements");
    println!("| what | ours | against | ratio |\n|---|---|---|---|");
    if all || asked("profile") {
        profile(folder.path(), megabytes);
    }
    if all || asked("line") {
        long_line(folder.path());
    }
    if all || asked("statistics") {
        statistics(folder.path());
    }
    if all || asked("folder") {
        whole_folder(folder.path());
    }
}

/// Times of several runs of one command.
struct Times {
    /// The clock's time of the fastest.
    best: Duration,
    /// Mean processor time, of all threads and of the processes started.
    processor: Option<Duration>,
}

/// Times of several runs of two functions, alternating.
fn best(rounds: u32, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (Times, Times) {
    let new = || Times {
        best: Duration::MAX,
        processor: Some(Duration::ZERO),
    };
    let (mut one, mut other) = (new(), new());
    let run = |times: &mut Times, thing: &mut dyn FnMut()| {
        let (start, before) = (Instant::now(), cpu());
        thing();
        times.best = times.best.min(start.elapsed());
        let used = cpu().zip(before).map(|(after, before)| after - before);
        times.processor = times.processor.zip(used).map(|(sum, used)| sum + used);
    };
    for _ in 0..rounds {
        run(&mut one, &mut ours);
        run(&mut other, &mut theirs);
    }
    for times in [&mut one, &mut other] {
        times.processor = times.processor.map(|sum| sum / rounds);
    }
    (one, other)
}

fn row(what: &str, name: &str, (ours, theirs): (Times, Times)) {
    let line = |what: &str, name: &str, ours: Duration, theirs: Duration| {
        let (ours, theirs) = (ours.as_secs_f64(), theirs.as_secs_f64());
        let ratio = ours / theirs;
        println!("| {what} | {ours:.3} s | {name} {theirs:.3} s | {ratio:.2} |");
    };
    line(what, name, ours.best, theirs.best);
    if let (Some(ours), Some(theirs)) = (ours.processor, theirs.processor) {
        line("the same, processor time", name, ours, theirs);
    }
}

/// Lines of attempts, as the job manager writes them, one in thirty of another kind.
fn write_profile(path: &Path, megabytes: usize, stages: usize) -> usize {
    let mut out = std::io::BufWriter::new(fs::File::create(path).expect("a file"));
    let (mut written, mut lines, mut line) = (0, 0_usize, String::new());
    let mut seed = 42_u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    while written < megabytes * 1_000_000 {
        line.clear();
        let (stage, vertex) = (
            lines * stages / (megabytes * 3_000).max(1) % stages + 1,
            lines % 9_973,
        );
        let machine = random() % 4_000;
        if lines % 30 == 29 {
            let _ = writeln!(
                line,
                "Process started for vertex {vertex} (SV{stage}_Extract_Split[{vertex}]) v.0 GUID {{{:016X}}} machine m{machine}",
                random()
            );
        } else {
            let (hour, minute) = (lines / 60_000 % 24, lines / 1_000 % 60);
            let mut time = |seconds: usize| {
                format!(
                    "2024-06-27 {hour:02}:{minute:02}:{seconds:02}.{:03} PDT",
                    random() % 1_000
                )
            };
            let (created, queued, started, running, ended) =
                (time(1), time(2), time(4), time(6), time(9 + lines % 50));
            let _ = writeln!(
                line,
                "---HiPriTime D7D51A1F-6693-4378-95FD-FC778A67C632,F52CA694-0202-411E-85E9-{:012X},SV{stage}_Extract_Split[{vertex}],Completed,ch1sch{machine:09},\
                 {created},{queued},{started},{running},{ended},{queued},{},{}",
                random(),
                random() % 1_000_000_000,
                random() % 100_000_000
            );
        }
        written += line.len();
        lines += 1;
        out.write_all(line.as_bytes()).expect("written");
    }
    out.flush().expect("written");
    lines
}

fn profile(folder: &Path, megabytes: usize) {
    let job = folder.join("profile-job");
    fs::create_dir(&job).expect("a folder");
    let path = job.join("profile");
    let lines = write_profile(&path, megabytes, 40);
    let read = || {
        let found = job::load(&job).expect("a job");
        assert_eq!(found.stages.len(), 40);
    };
    let count = || {
        let counted = Command::new("wc").arg("-l").arg(&path).output();
        assert!(counted.expect("wc runs").status.success());
    };
    let before = peak_memory();
    let times = best(5, read, count);
    let what = format!("profile, {megabytes} MB, {lines} lines");
    row(&what, "`wc -l`", times);
    if let Some(bytes) = peak_memory().filter(|_| before.is_some()) {
        println!(
            "| peak memory of the process meanwhile | {} MiB | bound 64 MiB | |",
            bytes >> 20
        );
    }
    let query = format!(
        "import duckdb; duckdb.sql(\"SET threads=2; SELECT regexp_extract(column02, '^[^\\\\[]*') s, count(*), sum(column11), max(column11) \
         FROM read_csv('{}', header=false, delim=',', ignore_errors=true, null_padding=true, columns={{'column00':'VARCHAR','column01':'VARCHAR',\
         'column02':'VARCHAR','column03':'VARCHAR','column04':'VARCHAR','column05':'VARCHAR','column06':'VARCHAR','column07':'VARCHAR','column08':'VARCHAR',\
         'column09':'VARCHAR','column10':'VARCHAR','column11':'BIGINT','column12':'BIGINT'}}) GROUP BY 1\").fetchall()",
        path.display()
    );
    let python = std::env::var("DUCKDB_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let duckdb = || {
        let output = Command::new(&python).args(["-c", &query]).output();
        output.is_ok_and(|o| o.status.success())
    };
    if duckdb() {
        let times = best(3, read, || assert!(duckdb()));
        row("the same profile", "DuckDB, read and group by", times);
    } else {
        println!("| the same profile | | DuckDB is not there (set DUCKDB_PYTHON) | |");
    }
    fs::remove_dir_all(&job).expect("removed");
}

/// A profile with a last line of 10 GB; sparse, so that only reading it takes time.
fn long_line(folder: &Path) {
    let job = folder.join("line-job");
    fs::create_dir(&job).expect("a folder");
    let path = job.join("profile");
    write_profile(&path, 1, 1);
    let file = fs::OpenOptions::new().append(true).open(&path);
    file.and_then(|f| f.set_len(10_000_000_000))
        .expect("a sparse file");
    let before = peak_memory();
    let start = Instant::now();
    let found = job::load(&job).expect("a job");
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(found.diagnostics.len(), 1, "{:?}", found.diagnostics);
    let more = peak_memory()
        .zip(before)
        .map_or(0, |(after, before)| after - before);
    println!(
        "| a line of 10 GB | {seconds:.3} s | {} KiB more peak memory | |",
        more >> 10
    );
    fs::remove_dir_all(&job).expect("removed");
}

/// Processor time of this process and of its finished children so far; on a shared machine
/// it is steadier than the clock. `None` if the system does not report it.
fn cpu() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    // fields 14 to 17 of the whole line, in ticks of 10 ms
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let time = |ticks: u64| Duration::from_millis(ticks * 10);
    Some(time(ticks(11)? + ticks(12)? + ticks(13)? + ticks(14)?))
}

/// Largest resident size of this process so far, in bytes; `None` if the system does not report it.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

const NODES: &str = "Output LocalHashAggregatorV2 ScopeProcess MergeJoin Sort Extractor";

/// Counters of `stages` stages with a tree of eight nodes each.
fn write_statistics(stages: usize) -> String {
    let mut out = String::from("<AggregatedStats>\n");
    for stage in 0..stages {
        let _ = writeln!(
            out,
            "  <SV{stage}_Combine avgExecutionMemoryPeakSize=\"491609018\" avgIOMemoryPeakSize=\"41943040\" maxPrivateMemoryPeakSize=\"817608513\" maxWorkingSetPeakSize=\"768552002\">"
        );
        let rows = stage * 7_919 + 100;
        for (depth, name) in NODES.split(' ').enumerate() {
            let _ = writeln!(
                out,
                "{:width$}<{name} opId=\"{depth}\" rowCount=\"{rows}\" maxRowCount=\"{}\" bytes=\"{}\" operations=\"892\" avgIoTime=\"292\" maxIoTime=\"909\" minIoTime=\"0\" maxIoTimeSize=\"4194304\" minIoTimeSize=\"65536\" totalIoTime=\"261318\" totalWaitTime=\"78395\" totalThrottlingTime=\"0\" IoStreamInclusiveTime=\"261318\" OperatorWaitOnIOTime=\"209054\" openTime=\"225\" closeTime=\"150\" exclusiveTime=\"270809\" inclusiveTime=\"3374187\">",
                "",
                rows / 3,
                rows * 53,
                width = depth * 2 + 4
            );
        }
        for name in NODES.rsplit(' ') {
            let _ = writeln!(out, "    </{name}>");
        }
        let _ = writeln!(
            out,
            "    <Time inclusiveTime=\"10396225\" elapsedTime=\"11394875\" executeTotalCpuTime=\"4269673\" />\n  </SV{stage}_Combine>"
        );
    }
    out + "</AggregatedStats>\n"
}

fn statistics(folder: &Path) {
    let job = folder.join("statistics-job");
    fs::create_dir(&job).expect("a folder");
    let path = job.join("__ScopeRuntimeStatistics__.xml");
    fs::write(&path, write_statistics(20_000)).expect("written");
    let megabytes = fs::metadata(&path).expect("there").len() / 1_000_000;
    let read = || assert_eq!(job::load(&job).expect("a job").stages.len(), 20_000);
    let bare = |attributes: bool| {
        let path = &path;
        move || {
            let text = fs::read_to_string(path).expect("there");
            let mut reader = quick_xml::Reader::from_str(&text);
            let mut found = 0_usize;
            loop {
                use quick_xml::events::Event;
                match reader.read_event().expect("well formed") {
                    Event::Start(tag) | Event::Empty(tag) if attributes => {
                        let values = tag.attributes().flatten();
                        found += values.map(|a| a.value.len()).sum::<usize>();
                    }
                    Event::Eof => break,
                    _ => found += 1,
                }
            }
            assert!(std::hint::black_box(found) > 0);
        }
    };
    let (what, name) = (
        format!("runtime statistics, {megabytes} MB"),
        "bare quick-xml loop over events",
    );
    row(
        &what,
        &format!("{name} and attributes"),
        best(5, read, bare(true)),
    );
    row(
        "the same file",
        &format!("{name} only"),
        best(5, read, bare(false)),
    );
    fs::remove_dir_all(&job).expect("removed");
}

/// A folder with 20,000 vertices in 200 stages: definition, counters, profile, command line.
fn whole_folder(folder: &Path) {
    let job = folder.join("large-job");
    fs::create_dir(&job).expect("a folder");
    let mut definition = String::from("<ScopeVertices>\n");
    for stage in 0..200 {
        let _ = writeln!(definition, "<ScopeVertex id=\"SV{stage}_Combine\">");
        for op in 0..6 {
            let _ = writeln!(
                definition,
                "<operator id=\"Process_{op}\" uid=\"{op}\" className=\"ScopeSorter_{op}\" args=\"-keys A,B\"><input id=\"SV{}_out0\" uid=\"{op}\" schema=\"A:string,B:long?,C:int\"/><output id=\"SV{stage}_out{op}\" uid=\"{op}\" schema=\"A:string,B:long?,C:int\"/></operator>",
                stage.max(1) - 1
            );
        }
        definition.push_str("</ScopeVertex>\n");
    }
    for (name, text) in [
        ("ScopeVertexDef.xml", definition + "</ScopeVertices>"),
        ("__ScopeRuntimeStatistics__.xml", write_statistics(200)),
    ] {
        fs::write(job.join(name), text).expect("written");
    }
    let lines = write_profile(&job.join("profile"), 8, 200);
    let mut ours = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let found = job::load(&job).expect("a job");
        ours = ours.min(start.elapsed());
        assert!(found.stages.len() >= 200);
    }
    let seconds = ours.as_secs_f64();
    println!(
        "| folder of {lines} vertex events, 200 stages | {seconds:.3} s | bound 1 s | {seconds:.2} |"
    );
}
