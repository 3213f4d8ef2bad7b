//! What is known about one job, whatever files it was read from.
//!
//! Everything here is plain data: readers fill it, `link` ties it together, the other crates look
//! at it. A number that no file holds is `None`, never 0. Times are milliseconds and sizes are
//! bytes unless a name says otherwise. Nothing here knows rules, causes or thresholds.

mod compile;
mod edge;
mod error;
mod file;
mod info;
mod operator;
mod plan;
mod stage;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::script::Script;

pub use compile::{Codegen, CodegenClass, CompileResult, CompiledOutput, SyntaxStatement};
pub use edge::{Edge, ExchangeKind};
pub use error::{CompilerWarning, JobError, VertexLog};
pub use file::{FileKind, JobFile};
pub use info::JobInfo;
pub use operator::{Channel, Column, Operator, OperatorKind};
pub use plan::{Plan, PlanNode};
pub use report::{DiagnosticSeverity, JobState, Source};
pub use stage::{MemoryEstimate, Stage, StageSummary, VertexInput};
pub use table::{Clustering, ColumnStatistics, StoredPartition, Table, TopValue};

/// What a reader could not make sense of; it read on after that.
pub type Diagnostic = report::Diagnostic<report::Text>;

/// Everything known about one job.
#[derive(Debug, Default)]
pub struct Job {
    /// The folder.
    pub path: PathBuf,
    /// Its files.
    pub files: Vec<JobFile>,
    /// Name, times, tokens.
    pub info: JobInfo,
    /// The user's script.
    pub script: Option<Script>,
    /// Stages in the order of the definition file, else of the counters.
    pub stages: Vec<Stage>,
    /// The stage DAG.
    pub edges: Vec<Edge>,
    /// Optimizer's plan.
    pub plan: Option<Plan>,
    /// Inputs.
    pub tables: Vec<Table>,
    /// Errors, the deciding one first.
    pub errors: Vec<JobError>,
    /// Compiler warnings.
    pub warnings: Vec<CompilerWarning>,
    /// Generated C#.
    pub codegen: Option<Codegen>,
    /// What the compiler took in and put out.
    pub compile: Option<CompileResult>,
    /// What user code logged.
    pub user_logs: Vec<VertexLog>,
    /// Script text that the algebra holds, and the file; used where the folder has no script file.
    #[doc(hidden)]
    pub embedded_script: Option<(String, String)>,
    /// Time of the compiler's phases, in milliseconds.
    pub compiler_timers: BTreeMap<String, f64>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}
