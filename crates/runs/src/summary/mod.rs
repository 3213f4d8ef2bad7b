//! The part of a job that is saved with its run: enough for charts and comparisons without the job folder.
//!
//! Its numbers are the values of the job's sheet; a number that no file holds is unknown, never 0.

mod charts;
mod own;
mod vertices;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use job::Job;
use job::model::{CodeExcerpt, ColumnStatistics, Edge, Operator, Stage, Table};
use report::measure::{InputSheet, Measure, StageSheet, Values, book};
use serde::{Deserialize, Serialize};

pub use charts::{Histogram, Timeline};
pub use vertices::{LostAttempt, VertexSummary};

/// The longest stages keep the places of their numbers; other stages keep numbers only.
const WITH_PLACES: usize = 2000;

/// Columns kept of an input, and bytes of the arguments of an operator.
const COLUMNS: usize = 200;
const ARGUMENTS: usize = 300;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSummary {
    /// Of the whole job.
    #[serde(deserialize_with = "Values::of_job")]
    pub values: Values,
    /// The error that failed the job, on one line.
    pub error: Option<String>,
    /// In the job's order.
    pub stages: Vec<StageSummary>,
    pub edges: Vec<EdgeSummary>,
    pub inputs: Vec<InputSummary>,
    /// Of an application, in the order of arrival.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executors: Vec<ExecutorSummary>,
    /// SQL executions of an application.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<ExecutionSummary>,
    /// Jobs that the driver of an application submitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<DriverJobSummary>,
    /// `None` without vertex events.
    pub timeline: Option<Timeline>,
    /// `None` if no file holds it.
    pub script: Option<Script>,
    /// Settings of an application and the priority of a job: the value in force and its origin, the log, a file or the default of a
    /// version.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, [String; 2]>,
    /// C# that the findings are about.
    pub code: Vec<CodeExcerpt>,
    /// Names that the owners of the job chose: tables, paths, columns, hot values.
    pub private_names: Vec<String>,
    /// Saved by version 0.1.0 or older, which kept drawings only: rows, operators, inputs, waits and
    /// private names are unknown.
    pub drawn_only: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageSummary {
    pub name: String,
    /// In the file's order.
    pub operators: Vec<OperatorSummary>,
    /// It did not run, as in a job that failed before it: it has a plan, but no times, rows and bytes.
    pub never_ran: bool,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// Run times of the completed vertices, in milliseconds.
    pub run_ms: Option<Histogram>,
    /// Bytes that each completed vertex read.
    pub vertex_bytes_read: Option<Histogram>,
    /// Script lines of its operators.
    pub lines: Vec<u32>,
    /// Attempts that failed or were taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostAttempt>,
    /// Messages of lost attempts with their counts, most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<(String, u64)>,
    /// The completed vertices that ran longest and those that read most; `vertices` is a measure.
    #[serde(rename = "first_vertices", skip_serializing_if = "Vec::is_empty")]
    pub vertices: Vec<VertexSummary>,
    /// The completed vertex that ran longest and its machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowest: Option<[String; 2]>,
    #[serde(flatten, deserialize_with = "Values::of_stage")]
    pub values: Values,
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
    /// Names that users have for it: a class or function of their code, the file that it writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Script line of its statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its arguments in the plan: conditions, expressions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub args: String,
    /// The input that it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<String>,
    /// Columns that it reads from an input or writes to an output, with their types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    #[serde(flatten, deserialize_with = "Values::of_operator")]
    pub values: Values,
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
    #[serde(flatten, deserialize_with = "Values::of_exchange")]
    pub values: Values,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputSummary {
    pub name: String,
    /// The operator that reads it: `GetSStream_0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<String>,
    /// `hash (UserId)`.
    pub layout: Option<String>,
    /// `parquet`, `sstream`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Columns that have statistics or a type.
    pub columns: Vec<ColumnSummary>,
    #[serde(flatten, deserialize_with = "Values::of_input")]
    pub values: Values,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutorSummary {
    pub id: String,
    pub host: String,
    /// Why it was removed, if it was lost.
    pub reason: Option<String>,
    #[serde(flatten, deserialize_with = "Values::of_executor")]
    pub values: Values,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionSummary {
    pub id: u32,
    pub description: Option<String>,
    /// Names of its stages.
    pub stages: Vec<String>,
    #[serde(flatten, deserialize_with = "Values::of_execution")]
    pub values: Values,
}

/// A job that the driver of an application submitted for an action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriverJobSummary {
    pub id: u32,
    /// `None` if it did not end.
    pub seconds: Option<f64>,
    pub succeeded: Option<bool>,
    /// Its description, else the call that submitted it.
    pub description: Option<String>,
    /// Names of the stages that ran for it.
    pub stages: Vec<String>,
}

/// How the values of a column are spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnSummary {
    pub name: String,
    /// Type as written, with `?` if nullable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Whether it is a key of an operator.
    pub is_key: bool,
    /// The most frequent value and its rows.
    pub top: Option<(String, u64)>,
    #[serde(flatten, deserialize_with = "Values::of_column")]
    pub values: Values,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    pub file: String,
    pub text: String,
}

macro_rules! numbers {
    ($($summary:ident),*) => {
        $(impl $summary {
            /// The number of a measure; `None` if it is unknown.
            pub fn get(&self, measure: &Measure) -> Option<f64> {
                self.values.get(measure)
            }
        })*
    };
}

numbers!(
    RunSummary,
    StageSummary,
    OperatorSummary,
    EdgeSummary,
    InputSummary,
    ColumnSummary
);

impl OperatorSummary {
    /// `SV2_Reduce/Reduce_7 (SessionReducer)`.
    pub fn name_in(&self, stage: &str) -> String {
        match self.names.is_empty() {
            true => format!("{stage}/{}", self.id),
            false => format!("{stage}/{} ({})", self.id, self.names.join(", ")),
        }
    }
}

impl RunSummary {
    pub fn of(job: &Job) -> RunSummary {
        let path = job.critical_path().map(|p| p.value).unwrap_or_default();
        let critical: HashSet<usize> = path.iter().map(|step| step.stage).collect();
        let sheet = job.sheet();
        let mut stages: Vec<StageSummary> = sheet
            .stages
            .into_iter()
            .enumerate()
            .map(|(index, sheet)| stage(job, index, sheet, critical.contains(&index)))
            .collect();
        drop_places(&mut stages);
        RunSummary {
            values: sheet.job,
            error: job.errors.first().map(|e| match &e.id {
                Some(id) => format!("{id}: {}", e.message),
                None => e.message.clone(),
            }),
            stages,
            edges: job
                .edges
                .iter()
                .zip(sheet.exchanges)
                .map(|(edge, values)| self::edge(edge, values))
                .collect(),
            inputs: inputs(job, sheet.inputs),
            executors: executors(job, sheet.executors),
            executions: executions(job, sheet.executions),
            jobs: jobs(job),
            timeline: charts::timeline(job),
            script: job.script_text().map(|(file, text)| Script {
                file: file.to_owned(),
                text: text.to_owned(),
            }),
            settings: settings(job),
            private_names: private_names(job),
            ..RunSummary::default()
        }
    }

    /// The stage's share of the run time of all vertices, 0..1.
    pub fn share(&self, stage: &StageSummary) -> Option<f64> {
        let busy = |stage: &StageSummary| stage.get(&book::BUSY);
        let all: f64 = self.stages.iter().filter_map(busy).sum();
        busy(stage).filter(|_| all > 0.0).map(|ms| ms / all)
    }

    /// Names that are masked wherever text leaves the team: private names, and keys of operators and exchanges.
    pub fn masked_names(&self) -> Vec<String> {
        let operators = self.stages.iter().flat_map(|s| &s.operators);
        let keys = operators.flat_map(|o| &o.keys);
        let keys = keys.chain(self.edges.iter().flat_map(|e| &e.keys));
        let names: BTreeSet<&String> = self.private_names.iter().chain(keys).collect();
        names.into_iter().cloned().collect()
    }

    pub fn stage_named(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|s| s.name == name)
    }
}

/// Keeps the places of the stages that ran longest.
fn drop_places(stages: &mut [StageSummary]) {
    if stages.len() <= WITH_PLACES {
        return;
    }
    let mut order: Vec<usize> = (0..stages.len()).collect();
    let ran = |at: &usize| stages[*at].get(&book::BUSY).unwrap_or(0.0);
    order.sort_by(|a, b| ran(b).total_cmp(&ran(a)));
    for at in order.into_iter().skip(WITH_PLACES) {
        let stage = &mut stages[at];
        stage.values = std::mem::take(&mut stage.values).without_places();
        for operator in &mut stage.operators {
            operator.values = std::mem::take(&mut operator.values).without_places();
        }
    }
}

/// Names of data and of the script's rowsets.
fn private_names(job: &Job) -> Vec<String> {
    let mut names = job.private_names();
    let statements = job.script.iter().flat_map(|s| &s.statements);
    names.extend(statements.filter_map(|s| s.target.clone()));
    names.sort();
    names.dedup();
    names
}

fn stage(job: &Job, index: usize, sheet: StageSheet, critical: bool) -> StageSummary {
    let Stage {
        name,
        operators,
        runs,
        ..
    } = &job.stages[index];
    let lines: BTreeSet<u32> = operators.iter().filter_map(|o| o.line).collect();
    let operator = |(operator, values): (&Operator, Values)| OperatorSummary {
        id: operator.id.clone(),
        kind: crate::code(&operator.kind).unwrap_or_else(|| "other".to_owned()),
        keys: operator.keys.clone(),
        names: own::names(job, operator),
        line: operator.line,
        args: report::format::cut(&operator.args, ARGUMENTS).to_owned(),
        reads: own::input(job, operator),
        columns: own::columns(operator),
        values,
    };
    let runs = runs.as_ref();
    StageSummary {
        name: name.clone(),
        operators: operators
            .iter()
            .zip(sheet.operators)
            .map(operator)
            .collect(),
        never_ran: job.never_ran(index),
        critical,
        run_ms: charts::histogram_of(runs, |run| (run.ended_ms - run.running_ms) as f64),
        vertex_bytes_read: charts::histogram_of(runs, |run| run.bytes_read as f64),
        lines: lines.into_iter().collect(),
        lost: runs
            .map(|runs| vertices::lost(job, index, runs))
            .unwrap_or_default(),
        messages: runs.map(vertices::messages).unwrap_or_default(),
        vertices: runs.map(vertices::first).unwrap_or_default(),
        slowest: runs.and_then(|runs| vertices::slowest(job, index, runs)),
        values: sheet.values,
    }
}

fn settings(job: &Job) -> BTreeMap<String, [String; 2]> {
    let of_application = job.spark.iter().flat_map(|app| app.settings());
    let file = job.info.sources.get("priority").map(|s| s.file.clone());
    let priority = job.info.priority.zip(file);
    let priority = priority.map(|(n, file)| ("priority".to_owned(), [n.to_string(), file]));
    of_application.chain(priority).collect()
}

fn executors(job: &Job, sheets: Vec<Values>) -> Vec<ExecutorSummary> {
    let all = job.spark.iter().flat_map(|app| &app.executors).zip(sheets);
    // an executor that never registered ran no task
    let all = all.filter(|(e, _)| e.added_ms.is_some());
    all.map(|(e, values)| ExecutorSummary {
        id: e.id.clone(),
        host: e.host.clone(),
        reason: e.reason.clone().filter(|_| e.lost),
        values,
    })
    .collect()
}

fn executions(job: &Job, sheets: Vec<Values>) -> Vec<ExecutionSummary> {
    let Some(app) = job.spark.as_deref() else {
        return Vec::new();
    };
    let stages = |at: usize| {
        let stages = app.stages.iter().zip(&job.stages);
        let own = stages.filter(move |(s, _)| s.execution == Some(at));
        own.map(|(_, stage)| stage.name.clone()).collect()
    };
    let all = app.executions.iter().zip(sheets).enumerate();
    all.map(|(at, (e, values))| ExecutionSummary {
        id: e.id,
        description: e.description.clone(),
        stages: stages(at),
        values,
    })
    .collect()
}

fn jobs(job: &Job) -> Vec<DriverJobSummary> {
    let jobs = job.spark.iter().flat_map(|app| &app.jobs);
    let name = |at: &usize| Some(job.stages.get(*at)?.name.clone());
    jobs.map(|own| DriverJobSummary {
        id: own.id,
        seconds: own
            .ended_ms
            .map(|end| (end - own.submitted_ms) as f64 / 1e3),
        succeeded: own.succeeded,
        description: own.description.clone().or(own.call_site.clone()),
        stages: own.stages.iter().filter_map(name).collect(),
    })
    .collect()
}

fn edge(edge: &Edge, values: Values) -> EdgeSummary {
    EdgeSummary {
        from: edge.from,
        to: edge.to,
        exchange: edge.exchange.code().to_owned(),
        keys: edge.keys.clone(),
        values,
    }
}

fn inputs(job: &Job, sheets: Vec<InputSheet>) -> Vec<InputSummary> {
    let operators = job.stages.iter().flat_map(|stage| &stage.operators);
    let keys: HashSet<&str> = operators
        .flat_map(|o| o.keys.iter().chain(&o.right_keys))
        .map(String::as_str)
        .collect();
    let tables = job.tables.iter().zip(sheets);
    tables
        .map(|(table, sheet)| input(table, sheet, &keys))
        .collect()
}

fn input(table: &Table, sheet: InputSheet, keys: &HashSet<&str>) -> InputSummary {
    let layout = table.clustering.as_ref();
    let column = |(column, values): (&ColumnStatistics, Values)| ColumnSummary {
        name: column.name.clone(),
        type_name: column.type_name.clone(),
        is_key: keys.contains(column.name.as_str()),
        top: column.top_values.first().map(|v| (v.value.clone(), v.rows)),
        values,
    };
    let columns = table.columns.iter().zip(sheet.columns);
    let columns = columns.filter(|(c, values)| {
        !values.is_empty() || !c.top_values.is_empty() || c.type_name.is_some()
    });
    InputSummary {
        name: table.name.clone(),
        reader: table.stream_id.clone(),
        layout: layout.map(|c| crate::with_keys(&c.kind, &c.keys)),
        format: table.kind.clone(),
        columns: columns.map(column).take(COLUMNS).collect(),
        values: sheet.values,
    }
}
