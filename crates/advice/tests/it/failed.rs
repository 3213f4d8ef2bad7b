//! Jobs that failed: the class of the failure, the words of the finding, and advice that does no harm.

use std::path::{Path, PathBuf};

use job::Catalogue;
use job::model::JobState;
use report::{Language, Verdict};
use serde_json::{Value, json};

use advice::diagnose;
use diagnosis::{Diagnosis, Settings};

fn diagnosed(path: &Path) -> (JobState, Diagnosis) {
    let job = job::load(path).expect("a job");
    let catalogue = Catalogue::builtin();
    let found = diagnose(&job, &catalogue, &Settings::default(), Language::En);
    (job.info.state, found)
}

/// Titles and steps of all suggestions.
fn advice(found: &Diagnosis) -> String {
    let all = found.suggestions.iter().map(|s| &s.suggestion);
    let text = all.map(|s| {
        let keys = s.settings.iter().map(|s| s.key.as_str());
        format!(
            "{}\n{}\n{}\n",
            s.title,
            s.steps.join("\n"),
            keys.collect::<Vec<_>>().join("\n")
        )
    });
    text.collect()
}

/// The error in a diagnosis of a failed job, if any. Checks its first cause, the words of its summary, and words that the
/// advice must and must not have.
fn wrong(
    name: &str,
    found: &Diagnosis,
    (cause, says): (&str, &str),
    (advises, never): (&str, &str),
) -> Option<String> {
    let first = found.findings.first();
    let own = first.map_or("none", |f| f.cause.code());
    let summary = first.map_or("", |f| f.summary.as_str());
    let advice = advice(found);
    let harm = !never.is_empty() && advice.contains(never);
    let right = found.verdict == Verdict::Problem
        && own == cause
        && summary.contains(says)
        && advice.contains(advises)
        && !harm;
    (!right).then(|| format!("{name}: {own}, {summary}\n{advice}"))
}

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/failures")
        .join(name)
}

#[test]
fn real_failures_name_their_reason() {
    let cases = [
        (
            "real_pycrash.zstd",
            ("failure.user_code", "Python worker"),
            ("stderr", "return NULL"),
        ),
        (
            "R11_python_worker.zstd",
            ("failure.user_code", "Python worker exited"),
            ("yarn logs -applicationId", "return NULL"),
        ),
        (
            "real_gone.zstd",
            ("failure.input", "does not exist"),
            ("REFRESH TABLE", "NULL"),
        ),
        (
            "R01_no_space.zstd",
            ("failure.limit", "disk is full"),
            ("spark.local.dir", "spark.executor.memory "),
        ),
        (
            "R03_yarn_physical.zstd",
            ("failure.limit", "physical memory"),
            ("memoryOverhead", "heap is"),
        ),
        (
            "R12_kryo.zstd",
            ("failure.limit", "Kryo"),
            ("spark.kryoserializer.buffer.max", "shuffle.partitions"),
        ),
        (
            "R15_s3_slowdown.zstd",
            ("failure.external", "throttles"),
            ("requests", "NULL"),
        ),
        (
            "failed_then_idle_10min.zstd",
            ("failure.user_code", "ZeroDivisionError"),
            ("note", ""),
        ),
        (
            "usql_U2_string_size",
            ("failure.limit", "String size 215710"),
            ("128 KB", "test for null"),
        ),
        (
            "usql_U4_avro_oom",
            ("failure.limit", "ran out of memory"),
            ("MemoryStream", "test for null"),
        ),
        (
            "usql_U5_internal",
            ("failure.external", "localStartOffset"),
            ("resubmit", "test for null"),
        ),
    ];
    let found = cases.into_iter().filter_map(|(name, says, advises)| {
        let advises = if name.starts_with("failed_then") {
            ("filter", "")
        } else {
            advises
        };
        wrong(name, &diagnosed(&case(name)).1, says, advises)
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn shared_failures_name_their_reason() {
    let Some(cases) = testkit::shared("cases") else {
        return;
    };
    let many = diagnosed(&cases.join("spark/R09_maxresult_many_tasks.zstd")).1;
    let says = ("failure.limit", "91005 tasks");
    let advises = (
        "more partitions make it worse",
        "raise spark.sql.shuffle.partitions",
    );
    assert_eq!(wrong("R09", &many, says, advises), None);
    let stopped = diagnosed(&cases.join("public/context_shut_down_1.5.zstd")).1;
    let says = ("failure.external", "SparkContext was shut down");
    assert_eq!(
        wrong(
            "shut down",
            &stopped,
            says,
            ("who or which program stopped it", "NULL")
        ),
        None
    );
    let (state, stream) = diagnosed(&cases.join("spark/real_stream.zstd"));
    assert_eq!(
        state,
        JobState::Succeeded,
        "a stream that is stopped has not failed"
    );
    let failures = stream
        .findings
        .iter()
        .filter(|f| f.cause.code().starts_with("failure."));
    assert_eq!(failures.count(), 0);
}

/// An application with one job and one task that fails for a reason; the job's error is a text.
struct Failing {
    reason: Value,
    text: String,
    removed: Option<String>,
    /// Seconds from the failure to the end.
    idle_s: i64,
}

impl Failing {
    fn with_exception(text: &str) -> Failing {
        let (class, description) = text
            .split_once(": ")
            .unwrap_or(("org.apache.spark.SparkException", text));
        Failing {
            reason: json!({"Reason": "ExceptionFailure", "Class Name": class, "Description": description,
                "Full Stack Trace": format!("{text}\n\tat org.apache.spark.scheduler.Task.run(Task.scala:141)")}),
            text: format!(
                "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.3 in stage 0.0 (TID 3) (h1 executor 1): {text}\nDriver stacktrace:"
            ),
            removed: None,
            idle_s: 1,
        }
    }

    fn with_lost_executor(reason: &str) -> Failing {
        Failing {
            reason: json!({"Reason": "ExecutorLostFailure", "Executor ID": "1", "Exit Caused By App": true, "Loss Reason": reason}),
            text: format!(
                "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.3 in stage 0.0 (TID 3) (h1 executor 1): ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: {reason}\nDriver stacktrace:"
            ),
            removed: Some(reason.to_owned()),
            idle_s: 1,
        }
    }

    fn log(&self) -> String {
        let stage = json!({"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "collect at a.py:3", "Number of Tasks": 1,
            "RDD Info": [], "Parent IDs": [], "Submission Time": 1_700_000_010_000_i64, "Completion Time": 1_700_000_040_000_i64,
            "Failure Reason": self.text, "Accumulables": []});
        let end = 1_700_000_041_000_i64 + self.idle_s * 1000;
        let mut events = vec![
            json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"}),
            json!({"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "application_1700000000000_0007", "Timestamp": 1_700_000_000_000_i64, "User": "u"}),
            json!({"Event": "SparkListenerExecutorAdded", "Timestamp": 1_700_000_005_000_i64, "Executor ID": "1", "Executor Info": {"Host": "h1", "Total Cores": 4}}),
            json!({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1_700_000_010_000_i64, "Stage Infos": [stage], "Stage IDs": [0], "Properties": {}}),
            json!({"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask", "Task End Reason": self.reason,
                "Task Info": {"Task ID": 3, "Index": 0, "Attempt": 3, "Launch Time": 1_700_000_011_000_i64, "Executor ID": "1", "Host": "h1",
                "Locality": "ANY", "Speculative": false, "Getting Result Time": 0, "Finish Time": 1_700_000_039_000_i64, "Failed": true, "Killed": false, "Accumulables": []}}),
        ];
        events.extend(self.removed.as_ref().map(|reason| {
            json!({"Event": "SparkListenerExecutorRemoved", "Timestamp": 1_700_000_039_000_i64, "Executor ID": "1", "Removed Reason": reason})
        }));
        events.extend([
            json!({"Event": "SparkListenerStageCompleted", "Stage Info": stage}),
            json!({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 1_700_000_041_000_i64,
                "Job Result": {"Result": "JobFailed", "Exception": {"Message": self.text, "Stack Trace": []}}}),
            json!({"Event": "SparkListenerApplicationEnd", "Timestamp": end}),
        ]);
        let lines = events.iter().map(|event| format!("{event}\n"));
        lines.collect()
    }

    fn diagnosed(&self) -> Diagnosis {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("application_1700000000000_0007");
        std::fs::write(&log, self.log()).expect("a log can be written");
        diagnosed(&log).1
    }
}

#[test]
fn failures_written_around_a_text_get_its_class_however_long_the_end_takes() {
    let exceptions = [
        (
            "org.apache.hadoop.security.AccessControlException: Permission denied: user=a, access=READ",
            "failure.input",
            "permission",
        ),
        (
            "org.apache.spark.SparkException: [FAILED_READ_FILE] Parquet column cannot be converted in file p.parquet. Column: [a], Expected: bigint, Found: BINARY",
            "failure.input",
            "schema",
        ),
        (
            "java.lang.OutOfMemoryError: Java heap space",
            "failure.limit",
            "spark.executor.memory",
        ),
        (
            "java.lang.OutOfMemoryError: unable to create new native thread",
            "failure.limit",
            "ulimit",
        ),
        (
            "java.net.SocketTimeoutException: Read timed out",
            "failure.external",
            "service",
        ),
        (
            "org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'x' of the type \"STRING\" cannot be cast to \"INT\"",
            "failure.user_code",
            "try_cast",
        ),
        (
            "java.lang.ClassNotFoundException: com.acme.Parser",
            "failure.user_code",
            "--packages",
        ),
        (
            "com.acme.Weird: the flux capacitor is empty",
            "failure.user_code",
            "yarn logs -applicationId application_1700000000000_0007",
        ),
    ];
    let executors = [
        (
            "Command exited with code 137",
            "failure.limit",
            "memoryOverhead",
        ),
        (
            "The executor with id 1 exited with exit code 134(unexpected).",
            "failure.limit",
            "hs_err_pid",
        ),
        (
            "Executor heartbeat timed out after 180000 ms",
            "executor.lost",
            "GC time",
        ),
        (
            "Container container_1 on host h1 was preempted.",
            "executor.lost",
            "spark.decommission.enabled",
        ),
    ];
    let thrown = exceptions.map(|(text, ..)| Failing::with_exception(text));
    let lost = executors.map(|(text, ..)| Failing::with_lost_executor(text));
    let right = exceptions.iter().chain(&executors);
    let mut found = Vec::new();
    for (failing, (text, cause, advises)) in thrown.into_iter().chain(lost).zip(right) {
        for idle_s in [1, 36_000] {
            let failing = Failing {
                idle_s,
                reason: failing.reason.clone(),
                text: failing.text.clone(),
                removed: failing.removed.clone(),
            };
            let quoted = text.split(": ").last().unwrap_or(text);
            found.extend(wrong(
                text,
                &failing.diagnosed(),
                (cause, quoted),
                (advises, ""),
            ));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_stream_that_fails_says_why_and_one_that_is_stopped_has_not_failed() {
    let query = |exception: Value| {
        json!({"Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryTerminatedEvent",
            "id": "q", "runId": "r", "exception": exception, "errorClassOnException": null})
    };
    let start = json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": 0,
        "description": "\nid = q\nrunId = r\nbatch = 3", "details": "", "physicalPlanDescription": "", "time": 1_700_000_001_000_i64});
    let end = json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd", "executionId": 0,
        "time": 1_700_000_002_000_i64, "errorMessage": "java.lang.InterruptedException\n\tat java.lang.Object.wait(Native Method)"});
    let state = |exception: Value| {
        let events = [
            json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"}),
            json!({"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "local-1", "Timestamp": 1_700_000_000_000_i64, "User": "u"}),
            start.clone(),
            end.clone(),
            query(exception),
            json!({"Event": "SparkListenerApplicationEnd", "Timestamp": 1_700_000_003_000_i64}),
        ];
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("local-1");
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        std::fs::write(&log, lines).expect("a log can be written");
        diagnosed(&log)
    };
    assert_eq!(state(Value::Null).0, JobState::Succeeded);
    let (failed, found) = state(json!(
        "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Offsets out of range"
    ));
    assert_eq!(failed, JobState::Failed);
    assert_eq!(
        found.findings.first().map(|f| f.cause.code()),
        Some("failure.input")
    );
}
