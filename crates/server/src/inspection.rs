//! The content of `inspect`: stages, operators, channels, tables and script of a job, linked
//! together.
//!
//! Only selects results of the `job` crate. Numbers that no file contains are `null`.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use job::Job;
use job::facts::{Derived, Spread, StageFacts, value};
use job::model::{
    Application, Diagnostic, Edge, ExchangeKind, Execution, Executor, JobFile, OperatorKind, Table,
};
use report::say;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};

/// The content of a job folder or an event log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Inspection {
    /// The job folder or the event log.
    pub path: String,
    /// Name, times and size of the job.
    pub info: job::model::JobInfo,
    /// Files, classified by content; left out for one stage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<JobFile>,
    /// Stages in the order of the plan.
    pub stages: Vec<StageView>,
    /// Channels between stages.
    pub edges: Vec<EdgeView>,
    /// Inputs of the job; left out for one stage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableView>,
    /// Statements of the script and the stages that run them; for one stage, its own.
    pub script: Vec<StatementView>,
    /// Properties of Spark applications only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationView>,
    /// Unreadable parts of the job; left out for one stage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// Executors, executions and settings of a Spark application. Times are seconds since submission.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApplicationView {
    pub version: Option<String>,
    pub executors: Vec<ExecutorView>,
    pub executions: Vec<ExecutionView>,
    /// Settings that decide how it runs.
    pub configuration: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ExecutorView {
    pub id: String,
    pub host: String,
    pub cores: Option<u32>,
    pub added_seconds: Option<f64>,
    pub removed_seconds: Option<f64>,
    pub reason: Option<String>,
    pub tasks: u64,
    /// Time that its tasks held a core.
    pub busy_seconds: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ExecutionView {
    pub id: u32,
    pub description: Option<String>,
    pub started_seconds: Option<f64>,
    pub seconds: Option<f64>,
    pub stages: Vec<String>,
}

/// One stage.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StageView {
    pub name: String,
    pub vertices: Option<u64>,
    /// Vertices divided by tokens.
    pub waves: Option<f64>,
    /// Mean milliseconds that a vertex waited.
    pub queue_ms: Option<f64>,
    /// Mean milliseconds that a vertex took to start.
    pub start_ms: Option<f64>,
    pub mean_run_ms: Option<f64>,
    pub max_run_ms: Option<f64>,
    /// Slowest vertex divided by the mean.
    pub run_max_over_mean: Option<f64>,
    pub bytes_read: Option<f64>,
    /// Vertex that read most, divided by the mean.
    pub read_max_over_mean: Option<f64>,
    pub bytes_written: Option<f64>,
    /// Share of time in garbage collection, 0 to 1.
    pub gc_share: Option<f64>,
    /// Spills to disk.
    pub spills: Option<usize>,
    pub memory_peak_bytes: Option<f64>,
    pub memory_limit_bytes: Option<f64>,
    pub on_critical_path: bool,
    pub operators: Vec<OperatorView>,
}

/// One operator: script, counters, and estimates of the optimizer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OperatorView {
    pub id: String,
    /// Identifier in the generated code.
    pub uid: Option<u32>,
    pub kind: OperatorKind,
    pub class_name: String,
    /// Columns that it joins, groups or sorts by.
    pub keys: Vec<String>,
    /// First and last script line, 1-based.
    pub script_lines: Option<[u32; 2]>,
    pub rows: Option<f64>,
    /// Vertex with the most rows, divided by the mean.
    pub rows_max_over_mean: Option<f64>,
    /// Rows that the optimizer expected.
    pub estimated_rows: Option<f64>,
    /// Milliseconds in this operator alone, summed over vertices.
    pub exclusive_ms: Option<f64>,
}

/// One channel between stages.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EdgeView {
    pub from: String,
    pub to: String,
    /// How rows cross.
    pub exchange: ExchangeKind,
    pub keys: Vec<String>,
    pub partitions: Option<u32>,
    pub rows: Option<f64>,
    pub bytes: Option<f64>,
    pub columns: Vec<String>,
}

/// One input of the job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableView {
    pub name: String,
    pub rows: Option<u64>,
    pub bytes: Option<u64>,
    pub files: Option<u64>,
    pub layout: Option<String>,
    pub partitions: Option<usize>,
}

/// One statement of the script and the stages that run it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatementView {
    /// First and last script line, 1-based.
    pub lines: [u32; 2],
    pub kind: String,
    pub target: Option<String>,
    pub stages: Vec<String>,
}

impl Inspection {
    /// Reads a job folder: everything, or one stage with the channels into and out of it.
    pub fn read(job: &Path, stage: Option<&str>) -> Result<Inspection> {
        let job = job::load(job)?;
        let stage = stage.map(|name| stage_index(&job, name)).transpose()?;
        Ok(Inspection::of(&job, stage))
    }

    fn of(job: &Job, stage: Option<usize>) -> Inspection {
        let path = job.critical_path().map(|p| p.value).unwrap_or_default();
        let path: HashSet<usize> = path.iter().map(|step| step.stage).collect();
        let is_wanted = |index: usize| stage.is_none_or(|s| s == index);
        let stages = (0..job.stages.len()).filter(|i| is_wanted(*i));
        let edges = job.edges.iter();
        let edges = edges.filter(|e| is_wanted(e.from) || is_wanted(e.to));
        let mut script = statements(job);
        if let Some(stage) = stage {
            let name = &job.stages[stage].name;
            script.retain(|statement| statement.stages.contains(name));
        }
        let whole = stage.is_none();
        Inspection {
            path: job.path.display().to_string(),
            info: job.info.clone(),
            files: if whole { job.files.clone() } else { Vec::new() },
            stages: stages
                .map(|i| stage_view(job, i, path.contains(&i)))
                .collect(),
            edges: edges.map(|e| edge_view(job, e)).collect(),
            tables: job
                .tables
                .iter()
                .filter(|_| whole)
                .map(table_view)
                .collect(),
            script,
            application: job
                .spark
                .as_deref()
                .filter(|_| whole)
                .map(|app| application(job, app)),
            diagnostics: if whole {
                job.diagnostics.clone()
            } else {
                Vec::new()
            },
        }
    }
}

fn application(job: &Job, app: &Application) -> ApplicationView {
    /// Beginnings of the names of settings that decide how an application runs.
    const OF_INTEREST: [&str; 12] = [
        "spark.executor.cores",
        "spark.executor.instances",
        "spark.executor.memory",
        "spark.driver.memory",
        "spark.dynamicAllocation.",
        "spark.sql.shuffle.partitions",
        "spark.sql.adaptive.",
        "spark.sql.autoBroadcastJoinThreshold",
        "spark.sql.files.maxPartitionBytes",
        "spark.default.parallelism",
        "spark.memory.",
        "spark.speculation",
    ];
    let seconds = |ms: Option<i64>| Some((ms? - job.info.submitted_ms?) as f64 / 1e3);
    let executor = |e: &Executor| ExecutorView {
        id: e.id.clone(),
        host: e.host.clone(),
        cores: e.cores,
        added_seconds: seconds(e.added_ms),
        removed_seconds: seconds(e.removed_ms),
        reason: e.reason.clone(),
        tasks: e.tasks,
        busy_seconds: e.busy_ms as f64 / 1e3,
    };
    let of_execution = |at: usize| {
        let stages = app.stages.iter().zip(&job.stages);
        let own = stages.filter(move |(s, _)| s.execution == Some(at));
        own.map(|(_, stage)| stage.name.clone()).collect()
    };
    let execution = |(at, e): (usize, &Execution)| ExecutionView {
        id: e.id,
        description: e.description.clone(),
        started_seconds: seconds(e.started_ms),
        seconds: e
            .started_ms
            .zip(e.ended_ms)
            .map(|(from, to)| (to - from) as f64 / 1e3),
        stages: of_execution(at),
    };
    let interesting = |name: &str| OF_INTEREST.iter().any(|start| name.starts_with(start));
    let settings = app
        .configuration
        .iter()
        .filter(|(name, _)| interesting(name));
    ApplicationView {
        version: app.version.clone(),
        executors: app.executors.iter().map(executor).collect(),
        executions: app.executions.iter().enumerate().map(execution).collect(),
        configuration: settings.map(|(k, v)| (k.clone(), v.clone())).collect(),
    }
}

fn stage_index(job: &Job, name: &str) -> Result<usize> {
    job.stage_index(name).ok_or_else(|| {
        let names: Vec<&str> = job.stages.iter().map(|s| s.name.as_str()).collect();
        let names = names.join(", ");
        let error = say!("作业没有阶段 `{name}`", "the job has no stage `{name}`");
        Error::new(ErrorKind::Usage, error).hint(say!("阶段有：{names}", "its stages are {names}"))
    })
}

fn stage_view(job: &Job, index: usize, on_critical_path: bool) -> StageView {
    let facts = job.stage_facts(index);
    let of = |spread: &Option<Derived<Spread>>| spread.as_ref().map(|d| d.value);
    let (run, read) = (of(&facts.run_ms), of(&facts.bytes_read));
    let waits = facts.waits.as_ref().map(|d| d.value);
    StageView {
        name: job.stages[index].name.clone(),
        vertices: facts.vertices.as_ref().map(|d| d.value),
        waves: facts.waves(job.info.tokens),
        queue_ms: waits.map(|s| s.queue_ms),
        start_ms: waits.map(|s| s.start_ms),
        mean_run_ms: run.map(|s| s.mean),
        max_run_ms: run.map(|s| s.max),
        run_max_over_mean: run.map(|s| s.max_over_mean),
        bytes_read: read.map(|s| s.total),
        read_max_over_mean: read.map(|s| s.max_over_mean),
        bytes_written: of(&facts.bytes_written).map(|s| s.total),
        gc_share: facts.gc.mean_share(),
        spills: facts.spills(),
        memory_peak_bytes: value(facts.memory_peak()),
        memory_limit_bytes: facts.memory_peak().and(facts.memory_limit),
        on_critical_path,
        operators: (0..job.stages[index].operators.len())
            .map(|o| operator_view(job, &facts, index, o))
            .collect(),
    }
}

fn operator_view(job: &Job, facts: &StageFacts, stage: usize, index: usize) -> OperatorView {
    let operator = &job.stages[stage].operators[index];
    let counted = facts.operator(index);
    let spread = counted.and_then(|o| facts.rows_spread(o));
    OperatorView {
        id: operator.id.clone(),
        uid: operator.uid,
        kind: operator.kind,
        class_name: operator.class_name.clone(),
        keys: operator.keys.clone(),
        script_lines: job
            .line_of(stage, index)
            .map(|l| [l.value.first, l.value.last]),
        rows: counted.and_then(|o| value(&o.rows)),
        rows_max_over_mean: spread.map(|s| s.max_over_mean),
        estimated_rows: job.estimate_of(stage, index).and_then(|l| l.value.card),
        exclusive_ms: counted.and_then(|o| value(&o.own_ms)),
    }
}

fn edge_view(job: &Job, edge: &Edge) -> EdgeView {
    EdgeView {
        from: job.stages[edge.from].name.clone(),
        to: job.stages[edge.to].name.clone(),
        exchange: edge.exchange,
        keys: edge.keys.clone(),
        partitions: edge.partitions,
        rows: edge.rows_written,
        bytes: edge.bytes_written,
        columns: edge.schema.iter().map(|c| c.name.clone()).collect(),
    }
}

fn table_view(table: &Table) -> TableView {
    let layout = table.clustering.as_ref().map(|c| match c.keys.as_slice() {
        [] => c.kind.clone(),
        keys => format!("{} ({})", c.kind, keys.join(", ")),
    });
    TableView {
        name: table.name.clone(),
        rows: table.rows,
        bytes: table.bytes,
        files: table.file_count,
        layout,
        partitions: Some(table.partitions.len()).filter(|n| *n > 0),
    }
}

fn statements(job: &Job) -> Vec<StatementView> {
    let statements = job.script.iter().flat_map(|script| &script.statements);
    let views = statements.map(|statement| {
        let stages = job.stages_of(statement.index);
        let names = stages.iter().map(|stage| job.stages[*stage].name.clone());
        StatementView {
            lines: [statement.lines.0, statement.lines.1],
            kind: format!("{:?}", statement.kind).to_uppercase(),
            target: statement.target.clone(),
            stages: names.collect(),
        }
    });
    let views = views.filter(|view| view.target.is_some() || !view.stages.is_empty());
    views.collect()
}
