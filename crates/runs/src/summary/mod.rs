//! What a run keeps of its job: enough to draw it and to compare it without the job folder.
//!
//! A number that no file holds is `None`, never 0.

mod charts;

use std::collections::HashSet;

use job::Job;
use job::facts::{Derived, Spread, StageFacts, value};
use job::model::{Edge, OperatorKind};
use job::runs::StageRuns;
use serde::{Deserialize, Serialize};

pub use charts::{Histogram, Timeline};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSummary {
    pub queued_seconds: Option<f64>,
    pub compile_seconds: Option<f64>,
    /// Vertices that may run concurrently.
    pub tokens: Option<u32>,
    /// The error because of which the job failed, on one line.
    pub error: Option<String>,
    /// In the job's order.
    pub stages: Vec<StageSummary>,
    pub edges: Vec<EdgeSummary>,
    pub inputs: Vec<InputSummary>,
    /// `None` without vertex events.
    pub timeline: Option<Timeline>,
    /// `None` if no file holds it.
    pub script: Option<Script>,
    /// Names that the owners of the job chose (tables, paths, columns, hot values): masked wherever
    /// text leaves the team.
    pub private_names: Vec<String>,
    /// Saved by version 0.1.0 or older, which kept drawings only: rows, operators, inputs, waits and
    /// private names are unknown.
    pub drawn_only: bool,
}

/// Times in milliseconds, rows and bytes over all vertices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageSummary {
    pub name: String,
    /// In the file's order.
    pub operators: Vec<OperatorSummary>,
    /// Completed vertices.
    pub vertices: Option<u64>,
    /// From the creation of the first vertex to the end of the last.
    pub span_ms: Option<f64>,
    /// Run time of all vertices.
    pub busy_ms: Option<f64>,
    /// Run time of the slowest vertex.
    pub max_ms: Option<f64>,
    pub max_over_mean: Option<f64>,
    /// Mean time that a vertex waited for a machine and started up.
    pub wait_ms: Option<f64>,
    pub rows_in: Option<f64>,
    pub rows_out: Option<f64>,
    pub bytes_read: Option<f64>,
    pub bytes_written: Option<f64>,
    /// Share of the time in garbage collection, 0..1.
    pub gc_share: Option<f64>,
    /// Number of operators that spilled.
    pub spills: Option<usize>,
    /// Run time of failed, revoked and abandoned attempts.
    pub wasted_ms: Option<f64>,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// Run times of the completed vertices, in milliseconds.
    pub run_ms: Option<Histogram>,
    /// Bytes that each completed vertex read.
    pub vertex_bytes_read: Option<Histogram>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperatorSummary {
    /// `Join_5`.
    pub id: String,
    /// `hash_partition`.
    pub kind: String,
    /// Keys that it joins, groups, sorts or partitions by.
    pub keys: Vec<String>,
    /// Rows put out.
    pub rows: Option<f64>,
    /// Rows that the optimizer expected.
    pub estimated_rows: Option<f64>,
}

/// A channel between two stages, by their index in [`RunSummary::stages`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EdgeSummary {
    pub from: usize,
    pub to: usize,
    /// `hash`, `range`, `broadcast`, `gather`, `one_to_one`, `unknown`.
    pub exchange: String,
    pub keys: Vec<String>,
    pub partitions: Option<u32>,
    pub bytes: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputSummary {
    pub name: String,
    pub rows: Option<u64>,
    pub bytes: Option<u64>,
    pub files: Option<u64>,
    /// `hash (UserId)`.
    pub layout: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    pub file: String,
    pub text: String,
}

impl RunSummary {
    pub fn of(job: &Job) -> RunSummary {
        let path = job.critical_path().map(|p| p.value).unwrap_or_default();
        let critical: HashSet<usize> = path.iter().map(|step| step.stage).collect();
        RunSummary {
            queued_seconds: job.info.queued_seconds,
            compile_seconds: job.info.compile_seconds,
            tokens: job.info.tokens,
            error: job.errors.first().map(|e| match &e.id {
                Some(id) => format!("{id}: {}", e.message),
                None => e.message.clone(),
            }),
            stages: (0..job.stages.len())
                .map(|index| stage(job, index, critical.contains(&index)))
                .collect(),
            edges: job.edges.iter().map(edge).collect(),
            inputs: job.tables.iter().map(input).collect(),
            timeline: charts::timeline(job),
            script: job.script.as_ref().map(|s| Script {
                file: s.file.clone(),
                text: s.text.clone(),
            }),
            private_names: private_names(job),
            drawn_only: false,
        }
    }

    /// The stage's share of the run time of all vertices, 0..1.
    pub fn share(&self, stage: &StageSummary) -> Option<f64> {
        let all: f64 = self.stages.iter().filter_map(|s| s.busy_ms).sum();
        stage.busy_ms.filter(|_| all > 0.0).map(|ms| ms / all)
    }

    pub fn stage_named(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|s| s.name == name)
    }
}

/// Names of data and those of the script's rowsets.
fn private_names(job: &Job) -> Vec<String> {
    let mut names = agent::outline::private_names(job);
    let statements = job.script.iter().flat_map(|s| &s.statements);
    names.extend(statements.filter_map(|s| s.target.clone()));
    names.sort();
    names.dedup();
    names
}

fn stage(job: &Job, index: usize, critical: bool) -> StageSummary {
    let stage = &job.stages[index];
    let facts = job.stage_facts(index);
    let run = facts.run_ms.as_ref().map(|d| d.value);
    let runs = stage.runs.as_ref();
    let total = |spread: &Option<Derived<Spread>>| spread.as_ref().map(|d| d.value.total);
    let operator = |(at, operator): (usize, &job::model::Operator)| OperatorSummary {
        id: operator.id.clone(),
        kind: crate::code(&operator.kind).unwrap_or_else(|| "other".to_owned()),
        keys: operator.keys.clone(),
        rows: rows(&facts, at),
        estimated_rows: job.estimate_of(index, at).and_then(|l| l.value.card),
    };
    StageSummary {
        name: stage.name.clone(),
        operators: stage.operators.iter().enumerate().map(operator).collect(),
        vertices: facts.vertices.as_ref().map(|d| d.value),
        span_ms: runs.and_then(span_ms),
        busy_ms: run.map(|s| s.total),
        max_ms: run.map(|s| s.max),
        max_over_mean: run.map(|s| s.max_over_mean),
        wait_ms: facts
            .waits
            .as_ref()
            .map(|d| d.value.queue_ms + d.value.start_ms),
        rows_in: rows_in(job, &facts, index),
        rows_out: rows_out(job, &facts, index),
        bytes_read: total(&facts.bytes_read),
        bytes_written: total(&facts.bytes_written),
        gc_share: facts.gc.mean_share(),
        spills: facts.spills(),
        wasted_ms: runs.map(|r| r.wasted_ms),
        critical,
        run_ms: charts::histogram_of(runs, |run| (run.ended_ms - run.running_ms) as f64),
        vertex_bytes_read: charts::histogram_of(runs, |run| run.bytes_read as f64),
    }
}

fn span_ms(runs: &StageRuns) -> Option<f64> {
    let begin = runs.runs.iter().map(|r| r.created_ms).min()?;
    let end = runs.runs.iter().map(|r| r.ended_ms).max()?;
    Some((end - begin) as f64)
}

/// Rows over the channels into a stage; of a stage that reads stored data, those of its extractors.
fn rows_in(job: &Job, facts: &StageFacts, index: usize) -> Option<f64> {
    let channels = job.edges_into(index);
    crate::sum(channels.map(|e| e.rows_read.or(e.rows_written)))
        .or_else(|| rows_of(job, facts, index, OperatorKind::Extract))
}

/// Rows over the channels out of a stage, each once; of a stage that writes stored data, those of its outputs.
fn rows_out(job: &Job, facts: &StageFacts, index: usize) -> Option<f64> {
    let mut channels: Vec<&Edge> = job.edges_out_of(index).collect();
    channels.sort_by(|a, b| a.channel.cmp(&b.channel));
    channels.dedup_by(|a, b| a.channel == b.channel);
    crate::sum(channels.iter().map(|e| e.rows_written))
        .or_else(|| rows_of(job, facts, index, OperatorKind::Output))
}

fn rows_of(job: &Job, facts: &StageFacts, stage: usize, kind: OperatorKind) -> Option<f64> {
    let operators = job.stages[stage].operators.iter().enumerate();
    let of_kind = operators.filter(|(_, o)| o.kind == kind);
    crate::sum(of_kind.map(|(at, _)| rows(facts, at)))
}

fn rows(facts: &StageFacts, operator: usize) -> Option<f64> {
    value(&facts.operator(operator)?.rows)
}

fn edge(edge: &Edge) -> EdgeSummary {
    EdgeSummary {
        from: edge.from,
        to: edge.to,
        exchange: edge.exchange.code().to_owned(),
        keys: edge.keys.clone(),
        partitions: edge.partitions,
        bytes: edge.bytes_written,
    }
}

fn input(table: &job::model::Table) -> InputSummary {
    let layout = table.clustering.as_ref();
    InputSummary {
        name: table.name.clone(),
        rows: table.rows,
        bytes: table.bytes,
        files: table.file_count,
        layout: layout.map(|c| crate::with_keys(&c.kind, &c.keys)),
    }
}
