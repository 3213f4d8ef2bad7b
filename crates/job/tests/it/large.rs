//! Large logs, parts of logs, and the limits of reading them.

use std::path::Path;
use std::time::Instant;

use job::Job;
use job::facts::value;
use job::model::FileKind;

use crate::generated::{self, START};

fn options() -> job::Options {
    job::Options::default()
}

fn read(log: &[u8]) -> Job {
    job::read_memory(&[("log", FileKind::SparkEvents, log)], &options())
}

fn chain(stages: u32, tasks: u32) -> Vec<u8> {
    let mut log = Vec::new();
    generated::stages(&mut log, stages, tasks, |s| {
        s.checked_sub(1).into_iter().collect()
    })
    .expect("written to memory");
    log
}

fn messages(job: &Job) -> String {
    let messages = job.diagnostics.iter().map(|d| d.message.en.as_str());
    messages.collect::<Vec<_>>().join("\n")
}

/// Dropping details leaves totals exact; the kept details belong to the costliest stages.
#[test]
fn a_large_log_keeps_all_totals_and_details_of_the_costliest() {
    const STAGES: u32 = 12_000;
    let log = String::from_utf8(chain(STAGES, 2)).expect("text");
    // the tasks of one early stage take a minute
    let (from, to) = (START + 2_000 + 700 * 100 + 80, START + 62_000 + 700 * 100);
    let log = log.replace(
        &format!("\"Finish Time\":{from},"),
        &format!("\"Finish Time\":{to},"),
    );
    let job = read(log.as_bytes());
    assert!(
        messages(&job).contains("totals of all others"),
        "{}",
        messages(&job)
    );
    assert_eq!(job.stages.len() as u32, STAGES);
    let facts = job.facts();
    let run_ms = facts
        .iter()
        .filter_map(|f| value(&f.counted.as_ref()?.run_ms));
    assert_eq!(run_ms.sum::<f64>(), f64::from(STAGES) * 2.0 * 70.0);
    let read = facts
        .iter()
        .filter_map(|f| value(&f.counted.as_ref()?.bytes_read));
    assert_eq!(read.sum::<f64>(), f64::from(STAGES) * 2.0 * 1_000.0);
    let detailed = facts
        .iter()
        .filter(|f| f.per_vertex.task_ms.is_some())
        .count();
    assert!(
        (1_000..10_000).contains(&detailed),
        "{detailed} stages have details"
    );
    assert!(facts[700].per_vertex.task_ms.is_some());
    assert_eq!(job.edges.len() as u32, STAGES - 1);
}

#[test]
fn a_small_log_keeps_all_details() {
    let job = read(&chain(500, 3));
    assert_eq!(messages(&job), "");
    assert!(job.facts().iter().all(|f| f.per_vertex.task_ms.is_some()));
}

#[test]
fn plans_of_many_executions_are_kept_for_the_costliest() {
    const EXECUTIONS: u32 = 9_000;
    let mut log = Vec::new();
    generated::executions(&mut log, EXECUTIONS).expect("written to memory");
    let job = read(&log);
    let app = job.spark.as_ref().expect("an application");
    assert_eq!(app.executions.len() as u32, EXECUTIONS);
    assert!(app.executions.iter().all(|e| e.ended_ms.is_some()));
    let planned = app.executions.iter().filter(|e| !e.plan.is_empty()).count();
    assert!(
        (500..9_000).contains(&planned),
        "{planned} executions have plans"
    );
}

#[test]
fn a_log_that_expands_without_end_is_cut() {
    let mut text = chain(2, 1);
    text.resize(20 << 20, b'\n');
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let packed = ruzstd::encoding::compress_to_vec(text.as_slice(), level);
    assert!(packed.len() < 1 << 20, "{}", packed.len());
    let job = read(&packed);
    assert_eq!(job.stages.len(), 2);
    let said = messages(&job);
    assert!(
        said.contains("are not events") || said.contains("expand to more than"),
        "{said}"
    );
}

#[test]
fn a_window_that_is_too_large_is_named() {
    // magic number, no flags, a window of 2^31 bytes
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0, 0, 0, 0];
    assert_eq!(job::kind_of(&head), FileKind::SparkEvents);
    let said = messages(&read(&head));
    assert!(
        said.contains("its zstd window of 2048 MiB exceeds 128 MiB"),
        "{said}"
    );
}

#[test]
fn a_part_of_a_log_is_read_as_one() {
    let log = String::from_utf8(chain(100, 2)).expect("text");
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let job = read(lines[60..180].concat().as_bytes());
    assert!(
        messages(&job).contains("this is a part of a log, from 2026-11-27T"),
        "{}",
        messages(&job)
    );
    assert!(
        job.info.elapsed_seconds.is_some_and(|s| s > 1.0),
        "{:?}",
        job.info.elapsed_seconds
    );
}

#[test]
fn impossible_times_are_reported_and_not_used() {
    let log = String::from_utf8(chain(20, 2)).expect("text");
    let end = START + 2_000 + 2_000;
    let at = |ms: i64| {
        log.replace(
            &format!("Timestamp\":{end}}}"),
            &format!("Timestamp\":{ms}}}"),
        )
    };
    let year_9999 = read(at(253_402_300_799_000).as_bytes());
    assert!(
        messages(&year_9999).contains("impossible times"),
        "{}",
        messages(&year_9999)
    );
    let long = read(at(START + 46_034 * 3_600_000).as_bytes());
    assert!(
        messages(&long).contains("ran for 46033 h"),
        "{}",
        messages(&long)
    );
    let set_back = read(at(1_000).as_bytes());
    assert!(
        messages(&set_back).contains("impossible times"),
        "{}",
        messages(&set_back)
    );
    let elapsed = set_back.info.elapsed_seconds;
    assert!(elapsed.is_some_and(|s| s > 1.0), "{elapsed:?}");
    for job in [year_9999, long, set_back] {
        let elapsed = job.info.elapsed_seconds;
        assert!(elapsed.is_none_or(|s| s < 60.0), "{elapsed:?}");
    }
}

#[test]
fn reading_ends_at_its_time() {
    let log = chain(50, 2);
    let over = job::Until::deadline(Some(Instant::now()));
    let cancelled = job::Until::default().or_when(|| true);
    for (until, reason) in [
        (over, "the time limit was reached"),
        (cancelled, "the analysis was interrupted"),
    ] {
        let options = job::Options { until, ..options() };
        let job = job::read_memory(&[("log", FileKind::SparkEvents, &log)], &options);
        let messages = messages(&job);
        assert!(messages.contains(reason), "{messages}");
        assert!(!messages.contains("still running"), "{messages}");
    }
}

/// An application with its rolled log in a folder, a script next to it, and the extra files of macOS.
#[test]
fn a_rolled_log_next_to_scripts_is_an_application() {
    let root = tempfile::tempdir().expect("a folder");
    let log = String::from_utf8(chain(40, 2)).expect("text");
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let put = |name: &str, text: &[u8]| {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    put(
        "etl.py",
        b"from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n",
    );
    put("._etl.py", &[0, 5, 22, 7, 0]);
    put("__MACOSX/._app", &[0, 5, 22, 7, 0]);
    put(
        "eventlog_v2_app-1/events_1_app-1",
        lines[..60].concat().as_bytes(),
    );
    put(
        "eventlog_v2_app-1/events_2_app-1",
        lines[60..].concat().as_bytes(),
    );
    put("eventlog_v2_app-1/appstatus_app-1", b"");
    let job = job::load(root.path()).expect("an application");
    assert_eq!((job.stages.len(), messages(&job)), (40, String::new()));
    assert_eq!(job.spark.as_ref().map_or(0, |app| app.scripts.len()), 1);
    assert!(
        !job.files
            .iter()
            .any(|f| Path::new(&f.name).ends_with("._etl.py"))
    );
}

/// Stages that all read each other, and a script of more statements than stages.
#[test]
fn a_complete_dag_of_scope_stages_has_all_its_edges() {
    let definition = generated::definition(60, |s| (0..s).collect());
    let script = generated::script(200);
    let files = [
        (
            "ScopeVertexDef.xml",
            FileKind::VertexDef,
            definition.as_bytes(),
        ),
        ("scope.script", FileKind::Script, script.as_bytes()),
    ];
    let job = job::read_memory(&files, &options());
    assert_eq!((job.stages.len(), job.edges.len()), (60, 60 * 59 / 2));
    assert_eq!(messages(&job), "");
    assert!(job.line_of(30, 0).is_some());
}
