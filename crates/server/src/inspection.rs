//! The content of `inspect`: stages, operators, channels, tables and script of a job, linked
//! together.
//!
//! Numbers come from the job's sheet; those that no file contains are `null`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use job::Job;
use job::model::{
    Application, Diagnostic, Edge, ExchangeKind, Execution, Executor, JobFile, Operator,
    OperatorKind, Table,
};
use report::measure::{Entity, Measure, StageSheet, Values, book};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::error::Result;

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
    #[serde(flatten)]
    pub numbers: StageNumbers,
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
    #[serde(flatten)]
    pub numbers: OperatorNumbers,
}

/// One channel between stages.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EdgeView {
    pub from: String,
    pub to: String,
    /// How rows cross.
    pub exchange: ExchangeKind,
    pub keys: Vec<String>,
    #[serde(flatten)]
    pub numbers: ExchangeNumbers,
    pub columns: Vec<String>,
}

/// One input of the job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableView {
    pub name: String,
    #[serde(flatten)]
    pub numbers: InputNumbers,
    pub layout: Option<String>,
    pub partitions: Option<usize>,
}

/// Numbers by the ids of their measures; `null` where no file has one.
macro_rules! numbers {
    ($($name:ident = $entity:ident;)*) => {
        $(#[derive(Debug)]
        pub struct $name(Values);

        impl $name {
            pub fn get(&self, measure: &Measure) -> Option<f64> {
                self.0.get(measure)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                let measures = book::of(Entity::$entity);
                serializer.collect_map(measures.map(|measure| (measure.id, self.get(measure))))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let numbers = book::of(Entity::$entity).map(|measure| {
                    let (what, unit) = (measure.title.en, measure.unit.code());
                    let description = format!("{what}, in {unit}");
                    let number = json!({ "type": ["number", "null"], "description": description });
                    (measure.id.to_owned(), number)
                });
                let numbers: serde_json::Map<String, serde_json::Value> = numbers.collect();
                json_schema!({ "type": "object", "properties": numbers })
            }
        })*
    };
}

numbers! {
    StageNumbers = Stage;
    OperatorNumbers = Operator;
    ExchangeNumbers = Exchange;
    InputNumbers = Input;
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
        let sheet = job.sheet();
        let stages = sheet.stages.into_iter().enumerate();
        let stages = stages.filter(|(index, _)| is_wanted(*index));
        let edges = job.edges.iter().zip(sheet.exchanges);
        let edges = edges.filter(|(e, _)| is_wanted(e.from) || is_wanted(e.to));
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
                .map(|(index, sheet)| stage_view(job, index, sheet, path.contains(&index)))
                .collect(),
            edges: edges.map(|(e, values)| edge_view(job, e, values)).collect(),
            tables: job
                .tables
                .iter()
                .zip(sheet.inputs)
                .filter(|_| whole)
                .map(|(table, sheet)| table_view(table, sheet.values))
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
        job::model::SHUFFLE_PARTITIONS,
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
    // a stage of an application also goes by its number alone
    let number = || {
        job.spark
            .as_ref()
            .and(job.stage_index(&format!("Stage {name}")))
    };
    job.stage_index(name).or_else(number).ok_or_else(|| {
        let names: Vec<&str> = job.stages.iter().map(|s| s.name.as_str()).collect();
        let names = names.join(", ");
        error!(
            Usage: "作业没有阶段 `{name}`", "the job has no stage `{name}`";
            "阶段有：{names}", "its stages are {names}"
        )
    })
}

fn stage_view(job: &Job, index: usize, sheet: StageSheet, on_critical_path: bool) -> StageView {
    let stage = &job.stages[index];
    let operators = stage.operators.iter().zip(sheet.operators).enumerate();
    let operator = |(at, (operator, values)): (usize, (&Operator, Values))| OperatorView {
        id: operator.id.clone(),
        uid: operator.uid,
        kind: operator.kind,
        class_name: operator.class_name.clone(),
        keys: operator.keys.clone(),
        script_lines: job.line_of(index, at).map(|located| located.value.into()),
        numbers: OperatorNumbers(values),
    };
    StageView {
        name: stage.name.clone(),
        numbers: StageNumbers(sheet.values),
        on_critical_path,
        operators: operators.map(operator).collect(),
    }
}

fn edge_view(job: &Job, edge: &Edge, values: Values) -> EdgeView {
    EdgeView {
        from: job.stages[edge.from].name.clone(),
        to: job.stages[edge.to].name.clone(),
        exchange: edge.exchange,
        keys: edge.keys.clone(),
        numbers: ExchangeNumbers(values),
        columns: edge.schema.iter().map(|c| c.name.clone()).collect(),
    }
}

fn table_view(table: &Table, values: Values) -> TableView {
    let layout = table.clustering.as_ref().map(|c| match c.keys.as_slice() {
        [] => c.kind.clone(),
        keys => format!("{} ({})", c.kind, keys.join(", ")),
    });
    TableView {
        name: table.name.clone(),
        numbers: InputNumbers(values),
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
