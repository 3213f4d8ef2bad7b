//! Event logs: real ones, and logs with truncated, lost or reordered events.

use std::path::{Path, PathBuf};

use job::Job;
use job::facts::value;
use job::model::{ExchangeKind, FileKind, JobEngine, JobState};

fn case(name: &str) -> PathBuf {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    cases.join(name)
}

fn lines(log: &str) -> Vec<&str> {
    log.split_inclusive('\n').collect()
}

fn healthy() -> String {
    let log = case("spark-star-join").join("app-20261122012010-0000");
    std::fs::read_to_string(log).expect("a plain log")
}

fn read(log: &str) -> Job {
    let files = [("log", FileKind::SparkEvents, log.as_bytes())];
    job::read_memory(&files, &job::Options::default())
}

/// All contents of a job except the line numbers.
fn shown(job: &Job) -> String {
    let all = format!(
        "{:#?}",
        (&job.info, &job.stages, &job.edges, &job.order, &job.spark)
    );
    let numbered = |line: &&str| !line.contains("line: ") && !line.contains("\"line ");
    all.lines()
        .filter(|l| numbered(l))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn every_development_log_is_read() {
    let Some(logs) = testkit::shared("spark-dev/logs") else {
        return;
    };
    for entry in std::fs::read_dir(logs).expect("logs").flatten() {
        let path = entry.path();
        let job = job::load(&path).expect("an event log");
        let name = path.display();
        assert_eq!(job.engine(), Some(JobEngine::Spark), "{name}");
        let app = job.spark.as_deref().expect("an application");
        assert!(job.info.ended_ms.is_some(), "{name}");
        for (stage, attempt) in job.stages.iter().zip(&app.stages) {
            let runs = stage.runs.as_ref().expect("tasks");
            assert!(!attempt.lost_events, "{name} {}", stage.name);
            let facts = job.stage_facts(job.stage_index(&stage.name).expect("a stage"));
            let rows = facts
                .per_vertex
                .rows_read
                .as_ref()
                .map(|r| r.value.vertices);
            assert_eq!(rows.unwrap_or(0), runs.completed, "{name} {}", stage.name);
        }
    }
}

#[test]
fn a_folder_gives_the_log_and_its_script() {
    let job = job::load(&case("spark-join-hot-key")).expect("a job");
    let app = job.spark.as_deref().expect("an application");
    assert_eq!(job.info.name.as_deref(), Some("visit_enrichment_daily"));
    assert_eq!(
        (job.info.state, job.info.tokens),
        (JobState::Succeeded, Some(4))
    );
    assert_eq!(app.scripts.len(), 1);
    let join = job.stage_index("Stage 4").expect("the join");
    let facts = job.stage_facts(join);
    let read = facts.per_vertex.rows_read.as_ref().expect("rows").value;
    assert_eq!(read.total, 380_000.0);
    assert!(read.max_over_mean > 5.0 && read.p50 < Some(read.mean));
    let operators = &job.stages[join].operators;
    let (at, merge) = operators
        .iter()
        .enumerate()
        .find(|(_, o)| o.class_name == "SortMergeJoin")
        .expect("the join");
    assert_eq!(
        (merge.keys.as_slice(), merge.right_keys.as_slice()),
        (
            ["user_id".to_owned()].as_slice(),
            ["customer_id".to_owned()].as_slice()
        )
    );
    assert_eq!(
        facts.operator(at).and_then(|o| value(&o.rows)),
        Some(260_000.0)
    );
    let position = facts.position(merge.uid).expect("its facts");
    let mut inputs = facts.rows_in(position);
    inputs.sort_by(f64::total_cmp);
    assert_eq!(inputs, [120_000.0, 260_000.0]);
    let edges = job.edges.iter().filter(|e| e.to == join);
    let edges: Vec<_> = edges
        .map(|e| (e.exchange, e.keys.join(","), e.rows_written, e.partitions))
        .collect();
    assert_eq!(
        edges,
        [
            (
                ExchangeKind::Hash,
                "user_id".to_owned(),
                Some(260_000.0),
                Some(16)
            ),
            (
                ExchangeKind::Hash,
                "customer_id".to_owned(),
                Some(120_000.0),
                Some(16)
            ),
        ]
    );
    let path = job.critical_path().expect("tasks").value;
    let path: Vec<&str> = path
        .iter()
        .map(|s| job.stages[s.stage].name.as_str())
        .collect();
    assert_eq!(
        path,
        ["Stage 0", "Stage 1", "Stage 2", "Stage 4", "Stage 5"]
    );
}

#[test]
fn the_order_of_events_does_not_matter() {
    let log = healthy();
    let expected = shown(&read(&log));
    let mut lines = lines(&log);
    lines.reverse();
    assert_eq!(shown(&read(&lines.concat())), expected);
    // every third line first
    let mixed = (0..3).flat_map(|from| lines.iter().skip(from).step_by(3));
    assert_eq!(shown(&read(&mixed.copied().collect::<String>())), expected);
}

#[test]
fn a_log_may_end_anywhere() {
    let log = healthy();
    let mut until = 0;
    for line in lines(&log) {
        for cut in [until, until + line.len() / 2] {
            let job = read(&log[..cut]);
            assert_eq!(job.info.state, JobState::Unknown, "{cut}");
            assert!(!job.spark.expect("an application").complete);
        }
        until += line.len();
    }
    assert_eq!(read(&log).info.state, JobState::Succeeded);
}

#[test]
fn lost_events_are_said_and_give_no_shares() {
    let log = healthy();
    let lost = lines(&log)
        .into_iter()
        .filter(|l| !(l.contains("SparkListenerTaskEnd\"") && l.contains("\"Index\":0,")));
    let job = read(&lost.collect::<String>());
    let app = job.spark.as_deref().expect("an application");
    assert!(app.stages.iter().any(|s| s.lost_events));
    for (at, stage) in app.stages.iter().enumerate().filter(|(_, s)| s.lost_events) {
        assert!(
            job.stage_facts(at).per_vertex.rows_read.is_none(),
            "{}",
            stage.id
        );
    }
    let notes: Vec<&str> = job
        .diagnostics
        .iter()
        .map(|d| d.message.en.as_str())
        .collect();
    assert!(
        notes.iter().any(|n| n.contains("has the end of only")),
        "{notes:?}"
    );
}

/// Spark 2.2 has no submission time, no resource profiles, no times of SQL stages' peaks.
#[test]
fn fields_that_a_version_lacks_are_unknown() {
    let log = healthy()
        .replace("\"Peak Execution Memory\":", "\"x\":")
        .replace("\"spark.app.submitTime\":", "\"x\":")
        .replace("\"Executor CPU Time\":", "\"x\":")
        .replace("\"Registration Time\":", "\"x\":");
    let without = lines(&log)
        .into_iter()
        .filter(|l| !l.contains("ResourceProfileAdded"));
    let job = read(&without.collect::<String>());
    assert_eq!(job.info.state, JobState::Succeeded);
    assert_eq!(job.stages.len(), read(&healthy()).stages.len());
    let unknown = format!(
        "{}{{\"Event\":\"SparkListenerOfTomorrow\",\"x\":{{}}}}\n",
        healthy()
    );
    let notes = read(&unknown).diagnostics;
    assert!(notes.iter().any(|n| n.message.en.contains("OfTomorrow")));
}

/// Earlier attempts ran until a later one began, so the later one did not queue.
#[test]
fn a_later_attempt_is_submitted_when_it_begins() {
    let log = healthy();
    let submitted = |attempt: &str| {
        let log = log.replace("\"App Name\":", &format!("{attempt}\"App Name\":"));
        read(&log).info.submitted_ms
    };
    let start = lines(&log)
        .into_iter()
        .find(|line| line.contains("SparkListenerApplicationStart"));
    let start = start.and_then(|line| line.split_once("\"Timestamp\":"));
    let start = start.and_then(|(_, rest)| rest.split(',').next()?.parse().ok());
    let first = submitted("\"App Attempt ID\":\"1\",");
    assert!(first < start, "{first:?} {start:?}");
    assert_eq!(submitted(""), first);
    assert_eq!(submitted("\"App Attempt ID\":\"2\","), start);
}

/// In a log pieced together, executors register years after the end of the application.
#[test]
fn a_task_shows_that_there_was_an_executor() {
    let late = |line: &str| match line.contains("SparkListenerExecutorAdded") {
        true => line.replace("\"Timestamp\":1", "\"Timestamp\":2"),
        false => line.to_owned(),
    };
    let log: String = lines(&healthy()).into_iter().map(late).collect();
    let job = read(&log);
    let app = job.spark.as_deref().expect("an application");
    let tasks = app.stages.iter().flat_map(|stage| &stage.attempts);
    let first = tasks.map(|task| task.launched_ms).min();
    assert_eq!(job.info.started_ms, first);
    assert!(job.info.elapsed_seconds.is_some());
}

/// Before Spark 1.3, a job had no submission time.
#[test]
fn a_job_without_a_time_begins_with_its_first_stage() {
    let known = read(&healthy());
    let log = |line: &str| match line.contains("SparkListenerJobStart") {
        true => line.replace("\"Submission Time\":", "\"x\":"),
        false => line.to_owned(),
    };
    let job = read(&lines(&healthy()).into_iter().map(log).collect::<String>());
    let app = |job: &Job| job.spark.as_deref().expect("an application").jobs.clone();
    let (known, jobs) = (app(&known), app(&job));
    assert_eq!(jobs.len(), known.len());
    for (job, known) in jobs.iter().zip(&known) {
        assert_eq!((job.id, &job.stages), (known.id, &known.stages));
        let late = job.submitted_ms - known.submitted_ms;
        assert!((0..1_000).contains(&late), "job {}: {late} ms", job.id);
    }
}

#[test]
fn several_applications_are_no_job() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a", "b"] {
        std::fs::write(folder.path().join(name), healthy()).expect("a log");
    }
    let error = job::load(folder.path()).expect_err("two applications");
    assert!(
        matches!(error, job::OpenError::SeveralApplications { ref logs, .. } if logs == &["a", "b"])
    );
    assert!(job::load(&folder.path().join("a")).is_ok());
}

#[test]
fn files_of_a_scope_job_are_left_out_of_an_application() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("log"), healthy()).expect("a log");
    let scope = case("join-hot-key-skew/job");
    let mut added = 0;
    for file in std::fs::read_dir(scope).expect("a job").flatten() {
        let name = file.file_name();
        std::fs::copy(file.path(), folder.path().join(&name)).expect("a copy");
        added += usize::from(name != "scope.script");
    }
    let job = job::load(folder.path()).expect("a job");
    assert_eq!(job.engine(), Some(JobEngine::Spark));
    let app = job.spark.as_deref().expect("an application");
    assert_eq!(job.stages.len(), app.stages.len());
    assert_eq!(job.stages.len(), read(&healthy()).stages.len());
    let left_out = job.diagnostics.iter();
    let left_out = left_out.filter(|d| {
        d.message
            .en
            .contains("the folder belongs to a Spark application")
    });
    assert_eq!(left_out.count(), added);
}

/// The parts of a rolling log; a compacted one replaces all parts before it.
#[test]
fn parts_of_a_rolling_log_are_one() {
    let log = healthy();
    let all = lines(&log);
    let folder = tempfile::tempdir().expect("a folder");
    let (first, rest) = all.split_at(all.len() / 3);
    let (second, third) = rest.split_at(rest.len() / 2);
    let write = |name: &str, lines: &[&str]| {
        std::fs::write(folder.path().join(name), lines.concat()).expect("a part");
    };
    write("events_1_app", first);
    write("events_2_app", second);
    write("events_10_app", third);
    write("appstatus_app", &[]);
    let expected = shown(&read(&log)).replace("\"log\"", "\"events_1_app\"");
    let name = |text: &str| {
        text.replace("events_2_app", "events_1_app")
            .replace("events_10_app", "events_1_app")
    };
    let read = job::load(folder.path()).expect("a rolling log");
    assert_eq!(name(&shown(&read)), expected);
    write("events_2_app.compact", &[first, second].concat());
    let read = job::load(folder.path()).expect("a compacted log");
    assert_eq!(read.spark.map(|app| app.stages.len()), Some(5));
    assert_eq!(read.info.state, JobState::Succeeded);
}

#[test]
fn a_program_without_the_names_of_the_plans_is_not_the_one_that_ran() {
    let case = case("spark-join-hot-key");
    let log = "app-20261122005702-0000.zstd";
    let own = std::fs::read_to_string(case.join("visit_enrichment.py")).expect("the program");
    let other = "from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
zebras = spark.read.parquet('/x/zebras')
zebras.groupBy('stripe').count().show()
";
    for (text, is_own) in [(own.as_str(), true), (other, false)] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::copy(case.join(log), folder.path().join(log)).expect("a copy");
        std::fs::write(folder.path().join("job.py"), text).expect("written");
        let job = job::load(folder.path()).expect("a job");
        assert_eq!(job.program().is_some(), is_own);
        let said = job.diagnostics.iter();
        let said = said.filter(|d| {
            d.message
                .en
                .contains("not the program that the application ran")
        });
        assert_eq!(said.count(), usize::from(!is_own), "{:?}", job.diagnostics);
    }
}
