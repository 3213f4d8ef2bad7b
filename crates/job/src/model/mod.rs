//! Everything known about one job, independent of the files it was read from.
//!
//! The model is plain data: readers fill it, `link` connects it, the other crates read it. A number
//! that no file contains is `None`, never 0. Times are milliseconds and sizes are bytes unless a name
//! says otherwise. The model knows no rules, causes or thresholds.

mod application;
mod budget;
mod compile;
mod edge;
mod error;
mod file;
mod info;
mod names;
mod operator;
mod plan;
mod settings;
mod stage;
mod streams;
mod table;

use std::path::PathBuf;

use crate::bounds::Budget;
use crate::script::{Dialect, Script};

pub use application::{
    Application, CachedData, DriverJob, Exchange, Execution, Executor, NodeMetric, SlotsOverTime,
    SparkNode, StageAttempt, Task,
};
pub use compile::{CodeExcerpt, Codegen, CodegenClass};
pub use edge::{Edge, ExchangeKind, Neighbors};
pub use error::JobError;
pub use file::{FileKind, JobFile};
pub use info::JobInfo;
pub use operator::{Channel, Column, Operator, OperatorKind};
pub use plan::{Plan, PlanIndex, PlanNode};
pub use report::{DiagnosticSeverity, JobEngine, JobState, Source};
pub use settings::SHUFFLE_PARTITIONS;
pub use stage::{Stage, StageSummary};
pub use streams::{MicroBatch, Pace, waiting_share};
pub use table::{Clustering, ColumnStatistics, StoredPartition, Table, TopValue};

/// A fault in a file. The reader continued after it.
pub type Diagnostic = report::Diagnostic<report::Text>;

#[derive(Debug, Default)]
pub struct Job {
    pub path: PathBuf,
    pub files: Vec<JobFile>,
    pub info: JobInfo,
    pub script: Option<Script>,
    /// From a line of the plan on, the script's lines are further down by a number; empty if the lines are the same.
    #[doc(hidden)]
    pub line_shifts: Vec<(u32, i64)>,
    /// Whether the folder only has a script of another run.
    pub script_of_another_run: bool,
    /// Stages in the order of the definition file, else of the counters.
    pub stages: Vec<Stage>,
    pub edges: Vec<Edge>,
    /// Pairs of stages that the driver ran one after the other without passing data between them: it
    /// submitted the second after the first had ended. Indices into [`Job::stages`].
    pub order: Vec<(usize, usize)>,
    pub plan: Option<Plan>,
    pub tables: Vec<Table>,
    /// Errors, the deciding one first.
    pub errors: Vec<JobError>,
    pub codegen: Option<Codegen>,
    /// Script text in the algebra, and the file; used where the folder has no script file.
    #[doc(hidden)]
    pub embedded_script: Option<(String, String)>,
    pub diagnostics: Vec<Diagnostic>,
    #[doc(hidden)]
    pub budget: Budget,
    #[doc(hidden)]
    pub neighbors: Neighbors,
    /// Spark-only parts; `None` for SCOPE and U-SQL.
    pub spark: Option<Box<Application>>,
}

impl Job {
    /// The engine that ran it; `None` if no file shows it.
    pub fn engine(&self) -> Option<JobEngine> {
        if self.spark.is_some() {
            return Some(JobEngine::Spark);
        }
        Some(match self.script.as_ref()?.dialect {
            Dialect::Scope => JobEngine::Scope,
            Dialect::USql => JobEngine::Usql,
        })
    }
}
