//! Prints the reader's numbers of Spark event logs, task by task, as one JSON object per log and line. `scripts/test-spark-peers`
//! compares them with the numbers of other readers.
//!
//! usage: `spark_numbers LOG…`

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::path::Path;

use job::model::{Application, DriverJob, Execution, Executor, Job, StageAttempt, Task};
use job::runs::StageRuns;
use serde_json::{Value, json};

fn main() {
    for log in std::env::args().skip(1) {
        let numbers = match job::load(Path::new(&log)) {
            Ok(job) => of_job(&job),
            Err(error) => json!({ "error": error.to_string() }),
        };
        println!("{}", json!({ "log": log, "numbers": numbers }));
    }
}

fn of_job(job: &Job) -> Value {
    let Some(app) = job.spark.as_deref() else {
        return json!({ "error": "no Spark log" });
    };
    let stages = job.stages.iter().zip(&app.stages);
    let stages = stages.map(|(stage, attempt)| of_stage(app, attempt, stage.runs.as_ref()));
    let executions = app.executions.iter().map(of_execution);
    let diagnostics = job.diagnostics.iter().map(|d| d.message.en.clone());
    json!({
        "id": job.info.id,
        "name": job.info.name,
        "user": job.info.other.get("UserName"),
        "version": app.version,
        "submitted": job.info.submitted_ms,
        "started": job.info.states.iter().find(|(state, _)| state == "Starting").map(|(_, at)| at),
        "ended": job.info.ended_ms,
        "configuration": app.configuration,
        "executors": app.executors.iter().map(of_executor).collect::<Vec<_>>(),
        "jobs": app.jobs.iter().map(|job| of_driver_job(app, job)).collect::<Vec<_>>(),
        "executions": executions.collect::<Vec<_>>(),
        "stages": stages.collect::<Vec<_>>(),
        "diagnostics": diagnostics.collect::<Vec<_>>(),
    })
}

fn of_executor(e: &Executor) -> Value {
    json!({
        "id": e.id, "host": e.host, "cores": e.cores, "added": e.added_ms, "removed": e.removed_ms, "reason": e.reason,
        "tasks": e.tasks, "busy": e.busy_ms, "memory": e.memory_bytes, "lost": e.lost,
    })
}

fn of_driver_job(app: &Application, job: &DriverJob) -> Value {
    let stages = job.stages.iter().filter_map(|at| app.stages.get(*at));
    json!({
        "id": job.id, "submitted": job.submitted_ms, "ended": job.ended_ms, "succeeded": job.succeeded, "error": job.error,
        "execution": job.execution.and_then(|at| Some(app.executions.get(at)?.id)),
        "stages": stages.map(|s| [s.id, s.attempt]).collect::<Vec<_>>(),
    })
}

fn of_execution(e: &Execution) -> Value {
    let nodes = e.plan.iter().map(|node| {
        let metrics = node.metrics.iter().map(|m| json!([m.name, m.value, m.max]));
        json!({ "name": node.name, "metrics": metrics.collect::<Vec<_>>() })
    });
    json!({
        "id": e.id, "description": e.description, "started": e.started_ms, "ended": e.ended_ms, "error": e.error,
        "plan": nodes.collect::<Vec<_>>(),
    })
}

fn of_stage(app: &Application, stage: &StageAttempt, runs: Option<&StageRuns>) -> Value {
    json!({
        "id": stage.id, "attempt": stage.attempt, "name": stage.call_site, "tasks": stage.tasks, "submitted": stage.submitted_ms,
        "completed": stage.completed_ms, "failure": stage.failure, "sampled": runs.is_some_and(|r| r.sampled),
        "counts": runs.map(|r| [r.completed, r.failed, r.revoked, r.abandoned]),
        "attempts": stage.attempts.iter().map(|task| of_task(app, task)).collect::<Vec<_>>(),
        "states": runs.map(|r| r.runs.iter().map(|run| format!("{:?}", run.state)).collect::<Vec<_>>()),
    })
}

fn of_task(app: &Application, t: &Task) -> Value {
    let executor = app.executors.get(t.executor as usize);
    json!({
        "id": t.id, "index": t.index, "attempt": t.attempt, "executor": executor.map(|e| &e.id), "launched": t.launched_ms,
        "finished": t.finished_ms, "speculative": t.speculative, "succeeded": t.succeeded, "measured": t.measured,
        "deserialize": t.deserialize_ms, "run": t.run_ms, "cpu": t.cpu_ms, "gc": t.gc_ms, "delay": t.scheduler_delay_ms,
        "result": t.result_ms, "fetch_wait": t.fetch_wait_ms, "shuffle_write": t.shuffle_write_ms,
        "input_bytes": t.input_bytes, "input_rows": t.input_rows, "output_bytes": t.output_bytes, "output_rows": t.output_rows,
        "read_bytes": t.shuffle_read_bytes, "read_rows": t.shuffle_read_rows, "write_bytes": t.shuffle_write_bytes,
        "write_rows": t.shuffle_write_rows, "memory_spilled": t.memory_spilled, "disk_spilled": t.disk_spilled,
        "peak_memory": t.peak_memory, "result_bytes": t.result_bytes,
    })
}
