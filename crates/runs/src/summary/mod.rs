//! What a run keeps of its job: enough to draw it and to compare it without the job folder.
//!
//! A number that no file holds is `None`, never 0.

mod charts;

use std::collections::{BTreeSet, HashSet};

use agent::code::CodeExcerpt;
use job::Job;
use job::facts::{Derived, Measured, Spread, StageFacts, value};
use job::model::{Edge, OperatorKind};
use job::runs::StageRuns;
use report::Source;
use serde::{Deserialize, Serialize};

pub use charts::{Histogram, Timeline};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSummary {
    pub queued_seconds: Option<f64>,
    pub compile_seconds: Option<f64>,
    /// Where the times of the job were read.
    pub source: Option<Source>,
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
    /// C# that the findings are about.
    pub code: Vec<CodeExcerpt>,
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
    /// It did not run, as in a job that failed before it: it has a plan, but no times, rows and bytes.
    pub never_ran: bool,
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
    /// Rows of the vertex with most of them at the operator with the widest spread, and how often the mean that is.
    pub rows_max: Option<f64>,
    pub rows_max_over_mean: Option<f64>,
    /// Memory of the largest vertex, in bytes.
    pub memory_peak: Option<f64>,
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
    /// Script lines of its operators.
    pub lines: Vec<u32>,
    pub sources: StageSources,
}

/// Where the numbers of a stage were read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageSources {
    pub vertices: Option<Source>,
    pub times: Option<Source>,
    pub rows: Option<Source>,
    pub bytes: Option<Source>,
    pub gc: Option<Source>,
    pub memory: Option<Source>,
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
    /// Columns that some operator uses as a key and of which something is known.
    pub columns: Vec<ColumnSummary>,
    pub source: Option<Source>,
}

/// How the values of a column are spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnSummary {
    pub name: String,
    pub distinct: Option<u64>,
    /// Rows in which it is null.
    pub nulls: Option<u64>,
    /// The most frequent value and its rows.
    pub top: Option<(String, u64)>,
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
            source: source_of_times(job),
            tokens: job.info.tokens,
            error: job.errors.first().map(|e| match &e.id {
                Some(id) => format!("{id}: {}", e.message),
                None => e.message.clone(),
            }),
            stages: (0..job.stages.len())
                .map(|index| stage(job, index, critical.contains(&index)))
                .collect(),
            edges: job.edges.iter().map(edge).collect(),
            inputs: inputs(job),
            timeline: charts::timeline(job),
            script: job.script.as_ref().map(|s| Script {
                file: s.file.clone(),
                text: s.text.clone(),
            }),
            private_names: private_names(job),
            ..RunSummary::default()
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
    let spreads = facts
        .operators
        .iter()
        .filter_map(|operator| facts.rows_spread(operator));
    let widest = spreads.max_by(|a, b| a.max_over_mean.total_cmp(&b.max_over_mean));
    let lines: BTreeSet<u32> = stage.operators.iter().filter_map(|o| o.line).collect();
    let never_ran = job.never_ran(index);
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
        never_ran,
        vertices: facts
            .vertices
            .as_ref()
            .map(|d| d.value)
            .filter(|_| !never_ran),
        span_ms: runs.and_then(span_ms),
        busy_ms: run.map(|s| s.total),
        max_ms: run.map(|s| s.max),
        max_over_mean: run.map(|s| s.max_over_mean),
        wait_ms: facts
            .waits
            .as_ref()
            .map(|d| d.value.queue_ms + d.value.start_ms),
        rows_in: rows_in(job, &facts, index).filter(|_| !never_ran),
        rows_out: rows_out(job, &facts, index).filter(|_| !never_ran),
        bytes_read: total(&facts.bytes_read),
        bytes_written: total(&facts.bytes_written).filter(|_| !never_ran),
        rows_max: widest.map(|s| s.max),
        rows_max_over_mean: widest.map(|s| s.max_over_mean),
        memory_peak: facts.memory_peak().map(|m| m.value),
        gc_share: facts.gc.mean_share(),
        spills: facts.spills(),
        wasted_ms: runs.map(|r| r.wasted_ms),
        critical,
        run_ms: charts::histogram_of(runs, |run| (run.ended_ms - run.running_ms) as f64),
        vertex_bytes_read: charts::histogram_of(runs, |run| run.bytes_read as f64),
        lines: lines.into_iter().collect(),
        sources: sources(&facts),
    }
}

fn sources(facts: &StageFacts) -> StageSources {
    let of = |spread: &Option<Derived<Spread>>| first(spread.as_ref().map(|d| &d.sources));
    let rows = facts.operators.iter().filter_map(|o| o.rows.as_ref());
    let measured = |m: Option<&Measured>| m.map(Measured::source);
    StageSources {
        vertices: first(facts.vertices.as_ref().map(|d| &d.sources)),
        times: of(&facts.run_ms),
        rows: rows.map(Measured::source).next(),
        bytes: of(&facts.bytes_read).or_else(|| of(&facts.bytes_written)),
        gc: measured(facts.gc.mean_percent.as_ref().or(facts.gc.percent.as_ref())),
        memory: measured(facts.memory_peak()),
    }
}

fn first(sources: Option<&Vec<Source>>) -> Option<Source> {
    sources?.first().cloned()
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

fn source_of_times(job: &Job) -> Option<Source> {
    let fields = ["elapsed_seconds", "ended_ms", "started_ms"];
    let mut known = fields
        .iter()
        .filter_map(|field| job.info.sources.get(field));
    known.next().cloned()
}

fn inputs(job: &Job) -> Vec<InputSummary> {
    let operators = job.stages.iter().flat_map(|stage| &stage.operators);
    let keys: HashSet<&str> = operators
        .flat_map(|o| o.keys.iter().chain(&o.right_keys))
        .map(String::as_str)
        .collect();
    job.tables.iter().map(|table| input(table, &keys)).collect()
}

fn input(table: &job::model::Table, keys: &HashSet<&str>) -> InputSummary {
    let layout = table.clustering.as_ref();
    let column = |column: &job::model::ColumnStatistics| ColumnSummary {
        name: column.name.clone(),
        distinct: column.distinct,
        nulls: column.nulls,
        top: column.top_values.first().map(|v| (v.value.clone(), v.rows)),
    };
    let columns = table.columns.iter().filter(|c| {
        let is_known = c.distinct.is_some() || c.nulls.is_some() || !c.top_values.is_empty();
        is_known && keys.contains(c.name.as_str())
    });
    InputSummary {
        name: table.name.clone(),
        rows: table.rows,
        bytes: table.bytes,
        files: table.file_count,
        layout: layout.map(|c| crate::with_keys(&c.kind, &c.keys)),
        columns: columns.map(column).collect(),
        source: ["rows", "bytes", "file_count"]
            .iter()
            .find_map(|field| table.sources.get(field))
            .cloned(),
    }
}
