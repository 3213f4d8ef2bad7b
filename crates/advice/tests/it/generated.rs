//! Failures of each kind in logs of each shape: none is healthy, however wide, long or late its application is.

use std::path::Path;

use job::Catalogue;
use report::{Language, Verdict};
use serde_json::{Value, json};

use advice::diagnose;
use diagnosis::{Diagnosis, Settings};

use crate::texts::{SPARK, USQL};

const BEGIN: i64 = 1_700_000_000_000;

fn diagnosed(path: &Path) -> Diagnosis {
    let job = job::load(path).expect("a job");
    diagnose(
        &job,
        &Catalogue::builtin(),
        &Settings::default(),
        Language::En,
    )
}

/// The stages of an application and the stages that each reads.
struct Shape {
    name: &'static str,
    parents: Vec<Vec<usize>>,
    /// SQL executions without a stage.
    executions: usize,
}

fn shapes() -> Vec<Shape> {
    let shape = |name, parents, executions| Shape {
        name,
        parents,
        executions,
    };
    let chain = (0..200).map(|s: usize| s.checked_sub(1).into_iter().collect());
    let wide = (0..200).map(|s| if s == 199 { (0..199).collect() } else { vec![] });
    let complete = (0..40).map(|s| (0..s).collect());
    vec![
        shape("one", vec![vec![]], 0),
        shape("long", chain.collect(), 0),
        shape("wide", wide.collect(), 0),
        shape("complete", complete.collect(), 0),
        shape("many executions", vec![vec![], vec![0]], 500),
    ]
}

/// How the text of a failure gets into a log.
#[derive(Clone, Copy, PartialEq)]
enum Said {
    /// By the tasks of the last stage, and quoted by the job.
    Task,
    /// By the job alone.
    Job,
    /// By the last SQL execution, whose job succeeded.
    Execution,
}

/// An event log whose last stage fails with a text, some seconds before the application ends.
fn log(shape: &Shape, failure: Option<(&str, Said)>, idle_s: i64) -> String {
    let end = BEGIN + 10_000 + 1_000 * shape.parents.len() as i64;
    let last = shape.parents.len() - 1;
    let quoted = failure.map(|(text, said)| match said {
        Said::Task => format!(
            "Job aborted due to stage failure: Task 0 in stage {last}.0 failed 4 times, most recent failure: Lost task 0.3 in stage {last}.0 (TID 9000) (h1 executor 1): {text}\nDriver stacktrace:"
        ),
        _ => format!("Job aborted due to stage failure: {text}"),
    });
    let of_job = quoted.filter(|_| failure.is_some_and(|(_, said)| said != Said::Execution));
    let stage = |s: usize| {
        let from = BEGIN + 5_000 + 1_000 * s as i64;
        let failed = of_job.as_ref().filter(|_| s == last);
        json!({"Stage ID": s, "Stage Attempt ID": 0, "Stage Name": format!("save at Daily.scala:{s}"), "Number of Tasks": 1, "RDD Info": [],
            "Parent IDs": shape.parents[s], "Submission Time": from, "Completion Time": from + 900, "Failure Reason": failed, "Accumulables": []})
    };
    let task = |s: usize, reason: Value, failed: bool| {
        let from = BEGIN + 5_050 + 1_000 * s as i64;
        json!({"Event": "SparkListenerTaskEnd", "Stage ID": s, "Stage Attempt ID": 0, "Task Type": "ResultTask", "Task End Reason": reason,
            "Task Info": {"Task ID": s, "Index": 0, "Attempt": if failed { 3 } else { 0 }, "Launch Time": from, "Executor ID": "1", "Host": "h1",
            "Locality": "ANY", "Speculative": false, "Getting Result Time": 0, "Finish Time": from + 800, "Failed": failed, "Killed": false, "Accumulables": []}})
    };
    let mut events = vec![
        json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"}),
        json!({"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "application_1700000000000_0007", "Timestamp": BEGIN, "User": "u"}),
        json!({"Event": "SparkListenerExecutorAdded", "Timestamp": BEGIN + 3_000, "Executor ID": "1", "Executor Info": {"Host": "h1", "Total Cores": 4}}),
    ];
    for id in 0..=shape.executions {
        events.push(json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": id,
            "description": "save", "details": "", "physicalPlanDescription": "", "time": BEGIN + 4_000}));
        if id < shape.executions {
            events.push(json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd", "executionId": id, "time": BEGIN + 4_900}));
        }
    }
    let stages: Vec<Value> = (0..=last).map(stage).collect();
    events.push(json!({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": BEGIN + 5_000, "Stage Infos": stages,
        "Stage IDs": (0..=last).collect::<Vec<_>>(), "Properties": {"spark.sql.execution.id": shape.executions.to_string()}}));
    for (s, stage) in stages.iter().enumerate() {
        let thrown = failure.filter(|(_, said)| s == last && *said == Said::Task);
        events.push(match thrown {
            Some((text, _)) => task(s, reason(text), true),
            None => task(s, json!({"Reason": "Success"}), false),
        });
        events.push(json!({"Event": "SparkListenerStageCompleted", "Stage Info": stage}));
    }
    let result = match &of_job {
        Some(text) => {
            json!({"Result": "JobFailed", "Exception": {"Message": text, "Stack Trace": []}})
        }
        None => json!({"Result": "JobSucceeded"}),
    };
    events.push(json!({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": end, "Job Result": result}));
    let said = failure.filter(|(_, said)| *said == Said::Execution);
    let message = said.map(|(text, _)| text);
    events.push(json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd", "executionId": shape.executions,
        "time": end + 10, "errorMessage": message}));
    events.push(
        json!({"Event": "SparkListenerApplicationEnd", "Timestamp": end + 1_000 + idle_s * 1000}),
    );
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// Why a task failed: it threw an exception, or was lost with its executor.
fn reason(text: &str) -> Value {
    let lost = text.split_once(" Reason: ");
    if let Some((_, reason)) = lost.filter(|(who, _)| who.starts_with("ExecutorLostFailure")) {
        return json!({"Reason": "ExecutorLostFailure", "Executor ID": "1", "Exit Caused By App": true, "Loss Reason": reason});
    }
    let first = text.lines().next().unwrap_or_default();
    let (class, description) = first.split_once(": ").unwrap_or((first, ""));
    json!({"Reason": "ExceptionFailure", "Class Name": class, "Description": description, "Stack Trace": [],
        "Full Stack Trace": format!("{text}\n\tat org.apache.spark.scheduler.Task.run(Task.scala:141)")})
}

fn spark(shape: &Shape, failure: Option<(&str, Said)>, idle_s: i64) -> Diagnosis {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("application_1700000000000_0007");
    std::fs::write(&path, log(shape, failure, idle_s)).expect("a log can be written");
    diagnosed(&path)
}

/// A U-SQL job that failed with an error.
fn usql(id: &str, message: &str, compiles: bool) -> Diagnosis {
    let component = if compiles { "RUNTIME" } else { "CSC" };
    let error = json!({"severity": "Error", "component": component, "source": "User", "errorId": id, "message": message,
        "description": "", "details": ""});
    let outer = json!({"severity": "Error", "component": "Runtime", "source": "User", "errorId": "VertexFailedFast",
        "message": "Vertex failed with a fail-fast error", "description": "Vertex failed: SV1_Extract[0] with error: Vertex user code error.",
        "innerError": error});
    let job = json!({"jobId": "3b349459-c713-4500-b28b-3ecc540f25b5", "name": "daily", "type": "USql", "submitter": "a",
        "degreeOfParallelism": 5, "priority": 1000, "submitTime": "2018-12-01T10:00:00.0000000+00:00",
        "startTime": "2018-12-01T10:01:30.0000000+00:00", "endTime": "2018-12-01T10:06:10.0000000+00:00", "state": "Ended",
        "result": "Failed", "errorMessage": [if compiles { outer } else { error }]});
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("job.json"), job.to_string()).expect("a file can be written");
    let script = "@o = EXTRACT Id int FROM \"/in/a.csv\" USING Extractors.Csv();\nOUTPUT @o TO \"/out/b.csv\" USING Outputters.Csv();\n";
    std::fs::write(folder.path().join("script.usql"), script).expect("a file can be written");
    diagnosed(folder.path())
}

/// What is wrong with the diagnosis of a failure: its verdict, its first cause, or advice that does harm.
fn wrong(place: &str, found: &Diagnosis, cause: &str, never: &str) -> Option<String> {
    let first = found.findings.first();
    let own = first.map_or("none", |f| f.cause.code());
    let steps = found.suggestions.iter().flat_map(|s| &s.suggestion.steps);
    let harm = steps.filter(|step| never.split('|').any(|n| !n.is_empty() && step.contains(n)));
    let harm: Vec<&String> = harm.collect();
    let right = found.verdict == Verdict::Problem && own == cause && harm.is_empty();
    (!right).then(|| {
        let summary = first.map_or("", |f| &f.summary);
        format!(
            "{place}: {:?} {own}, not {cause}: {summary} {harm:?}",
            found.verdict
        )
    })
}

#[test]
fn a_failure_comes_first_whatever_the_shape_of_its_application() {
    let text = "java.io.IOException: No space left on device";
    let mut found = Vec::new();
    for shape in shapes() {
        for idle_s in [0, 36_000] {
            for said in [Said::Task, Said::Job, Said::Execution] {
                let of = spark(&shape, Some((text, said)), idle_s);
                found.extend(wrong(
                    shape.name,
                    &of,
                    "failure.limit",
                    "spark.executor.memory is",
                ));
            }
            let healthy = spark(&shape, None, idle_s);
            let failures = healthy
                .findings
                .iter()
                .filter(|f| f.cause.code().starts_with("failure."));
            found.extend(failures.map(|f| format!("{} succeeded: {}", shape.name, f.summary)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn failures_of_each_class_on_both_engines_have_their_cause_and_harmless_advice() {
    let shape = &shapes()[0];
    let mut found = Vec::new();
    for (cause, never, text) in SPARK {
        for idle_s in [0, 36_000] {
            let of = spark(shape, Some((text, Said::Task)), idle_s);
            found.extend(wrong(text, &of, cause, never));
        }
    }
    for (cause, never, id, message) in USQL {
        let of = usql(id, message, !id.starts_with("E_CSC"));
        found.extend(wrong(id, &of, cause, never));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
