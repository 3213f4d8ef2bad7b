//! The shape of a job: what two runs of it are compared by. Stages with their times, rows and
//! operators, the channels between them, the inputs. Kept with a run, so that a comparison needs
//! no job folder; a number that no file holds is `None`.

use job::Job;
use job::facts::{Derived, Spread, StageFacts, value};
use job::model::{Edge, Operator, OperatorKind};
use job::runs::StageRuns;
use serde::{Deserialize, Serialize};

use crate::picture::Picture;
use agent::outline;
use report::{JobState, Report};

/// What two runs are compared by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobShape {
    /// Times and tokens of the whole job.
    pub job: JobTimes,
    /// Stages in the job's order.
    pub stages: Vec<StageShape>,
    /// Channels between them.
    pub edges: Vec<EdgeShape>,
    /// What the job reads.
    pub inputs: Vec<InputShape>,
    /// The deciding error of a failed job, in a line.
    pub error: Option<String>,
    /// Names that the people of the job chose (tables, paths, columns, hot values): masked where a
    /// text leaves the team.
    pub private_names: Vec<String>,
    /// Whether only what can be drawn was kept: rows, operators, inputs and times of the job are
    /// then unknown.
    #[serde(default)]
    pub drawn_only: bool,
}

/// Times and tokens of the whole job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobTimes {
    /// Identifier.
    pub id: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// How it ended.
    pub state: JobState,
    /// Run time, in seconds; queue and compilation are not in it.
    pub elapsed_seconds: Option<f64>,
    /// Time in the queue, in seconds.
    pub queued_seconds: Option<f64>,
    /// Compilation, in seconds.
    pub compile_seconds: Option<f64>,
    /// Vertices that may run at once.
    pub tokens: Option<u32>,
}

impl Default for JobTimes {
    fn default() -> Self {
        JobTimes {
            id: None,
            name: None,
            state: JobState::Unknown,
            elapsed_seconds: None,
            queued_seconds: None,
            compile_seconds: None,
            tokens: None,
        }
    }
}

/// One stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StageShape {
    /// Name.
    pub name: String,
    /// Its operators, in the file's order.
    pub operators: Vec<OperatorShape>,
    /// Completed vertices.
    pub vertices: Option<u64>,
    /// Milliseconds from the creation of its first vertex to the end of its last.
    pub span_ms: Option<f64>,
    /// Milliseconds that its vertices ran, summed.
    pub busy_ms: Option<f64>,
    /// Milliseconds that its slowest vertex ran.
    pub max_ms: Option<f64>,
    /// Slowest vertex over the mean one.
    pub max_over_mean: Option<f64>,
    /// Mean milliseconds that a vertex waited for a machine and started up.
    pub wait_ms: Option<f64>,
    /// Rows that came in.
    pub rows_in: Option<f64>,
    /// Rows that went out.
    pub rows_out: Option<f64>,
    /// Bytes read.
    pub bytes_read: Option<f64>,
    /// Bytes written.
    pub bytes_written: Option<f64>,
    /// Share of the time in garbage collection, 0..1.
    pub gc_share: Option<f64>,
    /// Operators that spilled to disk.
    pub spills: Option<usize>,
    /// Failed, revoked and abandoned attempts.
    pub lost_attempts: Option<u64>,
    /// Milliseconds that those attempts ran.
    pub wasted_ms: Option<f64>,
    /// Whether it decided when the job ended.
    pub critical: bool,
}

/// One operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorShape {
    /// Identifier: `Join_5`.
    pub id: String,
    /// What it does: `hash_partition`.
    pub kind: String,
    /// Keys that it joins, groups, sorts or partitions by.
    pub keys: Vec<String>,
    /// Partitions that it makes.
    pub partitions: Option<u32>,
    /// Rows that it put out.
    pub rows: Option<f64>,
    /// Rows that the optimizer expected.
    pub estimated_rows: Option<f64>,
    /// First and last script line.
    pub lines: Option<[u32; 2]>,
}

/// One channel between stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgeShape {
    /// Name of the writing stage.
    pub from: String,
    /// Name of the reading stage.
    pub to: String,
    /// How rows cross: `hash`, `range`, `broadcast`, `gather`, `one_to_one`, `unknown`.
    pub exchange: String,
    /// Keys that they are partitioned by.
    pub keys: Vec<String>,
    /// Partitions written.
    pub partitions: Option<u32>,
    /// Rows that crossed.
    pub rows: Option<f64>,
    /// Bytes that crossed.
    pub bytes: Option<f64>,
    /// Columns that crossed.
    pub columns: Option<usize>,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputShape {
    /// Name.
    pub name: String,
    /// Rows.
    pub rows: Option<u64>,
    /// Bytes.
    pub bytes: Option<u64>,
    /// Number of files.
    pub files: Option<u64>,
    /// How it is stored: `hash (UserId)`.
    pub layout: Option<String>,
    /// Stored partitions.
    pub partitions: Option<usize>,
}

impl JobShape {
    /// The shape of a job that was read.
    pub fn of(job: &Job) -> JobShape {
        let path = job.critical_path().map(|p| p.value).unwrap_or_default();
        let critical = |stage: usize| path.iter().any(|step| step.stage == stage);
        JobShape {
            job: JobTimes {
                id: job.info.id.clone(),
                name: job.info.name.clone(),
                state: outline::state(job.info.state),
                elapsed_seconds: job.info.elapsed_seconds,
                queued_seconds: job.info.queued_seconds,
                compile_seconds: job.info.compile_seconds,
                tokens: job.info.tokens,
            },
            stages: (0..job.stages.len())
                .map(|index| stage(job, index, critical(index)))
                .collect(),
            edges: job.edges.iter().map(|e| edge(job, e)).collect(),
            inputs: job.tables.iter().map(input).collect(),
            error: outline::errors(job).into_iter().next(),
            private_names: private_names(job),
            drawn_only: false,
        }
    }

    /// What a run that was kept without its shape still tells.
    pub fn drawn(picture: &Picture, report: &Report) -> JobShape {
        let stage = |s: &crate::picture::StagePicture| StageShape {
            name: s.name.clone(),
            vertices: s.vertices,
            busy_ms: s.busy_ms,
            max_ms: s.run_ms.as_ref().map(|h| h.max),
            max_over_mean: s
                .run_ms
                .as_ref()
                .filter(|h| h.mean > 0.0)
                .map(|h| h.max / h.mean),
            critical: s.critical,
            ..StageShape::default()
        };
        let name = |index: usize| {
            picture
                .stages
                .get(index)
                .map_or_else(String::new, |s| s.name.clone())
        };
        let edge = |e: &crate::picture::EdgePicture| EdgeShape {
            from: name(e.from),
            to: name(e.to),
            exchange: e.exchange.clone(),
            keys: e.keys.clone(),
            partitions: None,
            rows: None,
            bytes: e.bytes,
            columns: None,
        };
        JobShape {
            job: JobTimes {
                id: report.job.id.clone(),
                name: report.job.name.clone(),
                state: report.job.state,
                elapsed_seconds: report.job.elapsed_seconds,
                tokens: picture.timeline.as_ref().and_then(|t| t.tokens),
                ..JobTimes::default()
            },
            stages: picture.stages.iter().map(stage).collect(),
            edges: picture.edges.iter().map(edge).collect(),
            drawn_only: true,
            ..JobShape::default()
        }
    }
}

/// Names of data and those of the script's rowsets.
fn private_names(job: &Job) -> Vec<String> {
    let mut names = outline::private_names(job);
    let statements = job.script.iter().flat_map(|s| &s.statements);
    names.extend(statements.filter_map(|s| s.target.clone()));
    names.sort();
    names.dedup();
    names
}

fn stage(job: &Job, index: usize, critical: bool) -> StageShape {
    let stage = &job.stages[index];
    let facts = job.stage_facts(index);
    let run = facts.run_ms.as_ref().map(|d| d.value);
    let runs = stage.runs.as_ref();
    let total = |spread: &Option<Derived<Spread>>| spread.as_ref().map(|d| d.value.total);
    StageShape {
        name: stage.name.clone(),
        operators: (0..stage.operators.len())
            .map(|o| operator(job, &facts, index, o))
            .collect(),
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
        lost_attempts: runs.map(|r| r.failed + r.revoked + r.abandoned),
        wasted_ms: runs.map(|r| r.wasted_ms),
        critical,
    }
}

fn span_ms(runs: &StageRuns) -> Option<f64> {
    let begin = runs.runs.iter().map(|r| r.created_ms).min()?;
    let end = runs.runs.iter().map(|r| r.ended_ms).max()?;
    Some((end - begin) as f64)
}

/// Rows over the channels into a stage; of a stage that reads stored data, those of its extractors.
fn rows_in(job: &Job, facts: &StageFacts, index: usize) -> Option<f64> {
    let crossed = total(
        job.edges
            .iter()
            .filter(|e| e.to == index)
            .map(|e| e.rows_read.or(e.rows_written)),
    );
    crossed.or_else(|| rows_of(job, facts, index, OperatorKind::Extract))
}

/// Rows over the channels out of a stage, each once; of a stage that writes stored data, those of its outputs.
fn rows_out(job: &Job, facts: &StageFacts, index: usize) -> Option<f64> {
    let mut channels: Vec<&Edge> = job.edges.iter().filter(|e| e.from == index).collect();
    channels.sort_by(|a, b| a.channel.cmp(&b.channel));
    channels.dedup_by(|a, b| a.channel == b.channel);
    let crossed = total(channels.iter().map(|e| e.rows_written));
    crossed.or_else(|| rows_of(job, facts, index, OperatorKind::Output))
}

fn rows_of(job: &Job, facts: &StageFacts, stage: usize, kind: OperatorKind) -> Option<f64> {
    let operators = job.stages[stage].operators.iter().enumerate();
    total(
        operators
            .filter(|(_, o)| o.kind == kind)
            .map(|(o, _)| rows(facts, o)),
    )
}

/// The sum; `None` if there is nothing to add or a part is unknown.
fn total(parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let parts: Option<Vec<f64>> = parts.collect();
    parts.filter(|p| !p.is_empty()).map(|p| p.iter().sum())
}

fn rows(facts: &StageFacts, operator: usize) -> Option<f64> {
    value(&facts.operator(operator)?.rows)
}

fn operator(job: &Job, facts: &StageFacts, stage: usize, index: usize) -> OperatorShape {
    let operator: &Operator = &job.stages[stage].operators[index];
    OperatorShape {
        id: operator.id.clone(),
        kind: code(&operator.kind),
        keys: operator.keys.clone(),
        partitions: operator.partition_count,
        rows: rows(facts, index),
        estimated_rows: job.estimate_of(stage, index).and_then(|l| l.value.card),
        lines: job
            .line_of(stage, index)
            .map(|l| [l.value.first, l.value.last]),
    }
}

fn edge(job: &Job, edge: &Edge) -> EdgeShape {
    EdgeShape {
        from: job.stages[edge.from].name.clone(),
        to: job.stages[edge.to].name.clone(),
        exchange: edge.exchange.code().to_owned(),
        keys: edge.keys.clone(),
        partitions: edge.partitions,
        rows: edge.rows_written,
        bytes: edge.bytes_written,
        columns: Some(edge.schema.len()).filter(|n| *n > 0),
    }
}

fn input(table: &job::model::Table) -> InputShape {
    let layout = table.clustering.as_ref().map(|c| match c.keys.as_slice() {
        [] => c.kind.clone(),
        keys => format!("{} ({})", c.kind, keys.join(", ")),
    });
    InputShape {
        name: table.name.clone(),
        rows: table.rows,
        bytes: table.bytes,
        files: table.file_count,
        layout,
        partitions: Some(table.partitions.len()).filter(|n| *n > 0),
    }
}

/// The name that an enum of the job has in JSON.
fn code(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(code)) => code,
        _ => "other".to_owned(),
    }
}
