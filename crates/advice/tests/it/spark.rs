//! Event logs of Spark applications: where their time went.

use advice::diagnose;
use diagnosis::{Diagnosis, Settings};
use job::{Catalogue, Job};
use report::{Language, SegmentKind, Verdict};

fn diagnosed(job: &Job) -> Diagnosis {
    let catalogue = Catalogue::builtin();
    diagnose(job, &catalogue, &Settings::default(), Language::En)
}

/// Every second from submission to end is in one segment, and the driver's are not unexplained.
#[test]
fn the_time_of_an_application_adds_up() {
    let Some(logs) = testkit::shared("spark-dev/logs") else {
        return;
    };
    for log in std::fs::read_dir(logs).expect("logs").flatten() {
        let job = job::load(&log.path()).expect("a log");
        let Some(total) = job.info.total_seconds() else {
            continue;
        };
        let name = log.file_name();
        let time = diagnosed(&job).time.expect("a time account");
        let sum: f64 = time.segments.iter().map(|s| s.seconds).sum();
        assert!(
            (sum - total).abs() < 0.01 * total,
            "{}: {sum} of {total}",
            name.display()
        );
        assert!(
            time.explained_share > 0.95,
            "{}: {}",
            name.display(),
            time.explained_share
        );
    }
}

#[test]
fn late_executors_are_waiting_and_not_the_driver() {
    let case = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/cases/spark-star-join/app-20261122012010-0000");
    let log = std::fs::read_to_string(case).expect("a log");
    // the executors come ten seconds after they did, and so does all that follows
    let moved: String = log
        .split_inclusive('\n')
        .map(|l| later(l, 1_795_310_413_650, 10_000))
        .collect();
    let files = [("log", job::model::FileKind::SparkEvents, moved.as_bytes())];
    let job = job::read_memory(&files, &job::Options::default());
    let found = diagnosed(&job);
    let time = found.time.as_ref().expect("a time account");
    let waited = time
        .segments
        .iter()
        .filter(|s| s.kind == SegmentKind::CapacityWait);
    let waited: f64 = waited.map(|s| s.seconds).sum();
    assert!((10.0..11.0).contains(&waited), "{waited}");
    assert_eq!(found.verdict, Verdict::Problem);
    let causes: Vec<&str> = found.findings.iter().map(|f| f.cause.code()).collect();
    assert_eq!(causes, ["queue.wait"]);
}

/// Moves the times in a line that are after a point in time.
fn later(line: &str, after: i64, by: i64) -> String {
    let (mut moved, mut digits) = (String::with_capacity(line.len()), String::new());
    for c in line.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        match digits.parse::<i64>() {
            Ok(n) if digits.len() == 13 && n > after => moved.push_str(&(n + by).to_string()),
            _ => moved.push_str(&digits),
        }
        digits.clear();
        moved.push(c);
    }
    moved + &digits
}

/// One of eight tasks failed before it had read anything: the key has values enough for all.
#[test]
fn a_task_that_did_not_end_is_not_taken_for_an_empty_one() {
    let Some(log) = testkit::shared("spark-dev/logs/app-20261122010727-0000.zstd") else {
        return;
    };
    let found = diagnosed(&job::load(&log).expect("a log"));
    let causes: Vec<&str> = found.findings.iter().map(|f| f.cause.code()).collect();
    let memory = ["failure.limit", "executor.lost", "skew.group_hot_key"];
    assert_eq!(causes, memory);
}

#[test]
fn an_ordinary_application_is_healthy_by_rules_of_its_engine() {
    let case = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/cases/spark-star-join/app-20261122012010-0000");
    let found = diagnosed(&job::load(&case).expect("a log"));
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    assert_eq!(found.verdict, Verdict::Healthy, "{:?}", found.missing);
    let codes: Vec<&str> = found.rules.iter().map(|r| r.cause.code()).collect();
    for (code, applies) in [
        ("driver.bottleneck", true),
        ("executor.lost", true),
        ("broadcast.too_large", true),
        ("cache.ineffective", true),
        ("allocation.over", true),
        ("allocation.under", true),
        ("shuffle.unused_columns", false),
        ("failure.compile", true),
        ("memory.estimate_too_low", false),
    ] {
        assert_eq!(codes.contains(&code), applies, "{code}");
    }
}

/// Eight executors come to a shell after its last job, and wait ten minutes for its user.
#[test]
fn executors_that_wait_for_a_user_are_not_too_many() {
    let case = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/cases/spark-star-join/app-20261122012010-0000");
    let log = std::fs::read_to_string(case).expect("a log");
    let end = log
        .split("SparkListenerApplicationEnd\",\"Timestamp\":")
        .nth(1);
    let end: i64 = end
        .and_then(|e| e.trim_end_matches(['}', '\n']).parse().ok())
        .expect("an end");
    let mut shell = log
        .replace("\"App Name\":\"", "\"App Name\":\"Spark shell ")
        .replace(&end.to_string(), &(end + 600_000).to_string());
    for n in 10..18 {
        shell += &format!(
            "{{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":{},\"Executor ID\":\"{n}\",\
             \"Executor Info\":{{\"Host\":\"localhost\",\"Total Cores\":1,\"Log Urls\":{{}}}}}}\n",
            end + 1_000
        );
    }
    let files = [("log", job::model::FileKind::SparkEvents, shell.as_bytes())];
    let found = diagnosed(&job::read_memory(&files, &job::Options::default()));
    assert_eq!(found.verdict, Verdict::Healthy, "{:?}", found.findings);
}
