//! The files of a job folder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a file, recognized by its content.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Script,
    /// `ScopeVertexDef.xml`: stages, operators, channels, schemas.
    VertexDef,
    /// `__ScopeRuntimeStatistics__.xml`: counters per stage.
    RuntimeStatistics,
    /// `[n]_stdout.txt`: counters of one vertex of a local run.
    VertexStdout,
    /// `[n]_vcmd.xml` / `vcmdStart*.xml`: input channels of one vertex.
    VertexCommand,
    /// `profile`, job-manager stdout: one line per vertex attempt.
    VertexEvents,
    /// `__ScopeInternalInfo__.xml` / `__SystemInternalInfo__.xml`: optimizer trees with estimates.
    OptimizerPlan,
    /// `__ScopeDiagnosisInfo__.xml`: operator id to plan group.
    OperatorPlanMap,
    /// `__script__.abr`, `Algebra.xml`: processes and their channels.
    Algebra,
    /// `__SStreamInfo__.xml`: byte ranges of stored partitions.
    StreamInfo,
    /// `PartitionLastRows.xml`: rows of stored partitions (known to be wrong at times).
    PartitionLastRows,
    /// `ScopeInternalStatistics.xml`: table metadata.
    InternalStatistics,
    Tables,
    JobInfo,
    /// ADLA REST answer: the job.
    RestJob,
    /// ADLA REST answer: statistics per stage; `JobStatistics.json`.
    RestStatistics,
    /// `Error`, `[n]_error.txt`.
    Error,
    /// `*.usql.xml` (`CompileResult`), `*.comresult` (`CommonCompileResult`).
    CompileResult,
    /// `__Warnings__.xml`.
    Warnings,
    /// `diagnostic.xml`: log lines of user code.
    UserDiagnostics,
    CompilerTimers,
    /// `__ScopeCodeGen__.dll.cs`: generated and user C#.
    Codegen,
    /// `NebulaCommandLine.txt`: how the job was submitted.
    CommandLine,
    CompilerPlan,
    Ast,
    /// Event log of a Spark application, or a part of it.
    SparkEvents,
    /// Python, Scala or SQL of a Spark application.
    SparkScript,
    /// Standard error of a Spark driver.
    DriverLog,
    /// A known kind that is never read (logs of the compiler, options).
    Ignored,
    Unknown,
}

impl FileKind {
    /// Whether only Spark applications leave such files.
    pub fn is_spark(self) -> bool {
        use FileKind as K;
        matches!(self, K::SparkEvents | K::SparkScript | K::DriverLog)
    }

    /// Name of the reader of a kind of file; `None` if it has none.
    pub(crate) fn parser(self) -> Option<&'static str> {
        use FileKind as K;
        Some(match self {
            K::Script => "script",
            K::VertexDef => "vertex_definition",
            K::RuntimeStatistics => "runtime_statistics",
            K::VertexStdout => "vertex_stdout",
            K::VertexEvents => "vertex_events",
            K::OptimizerPlan => "optimizer_plan",
            K::OperatorPlanMap => "operator_plan_map",
            K::StreamInfo => "stream_info",
            K::PartitionLastRows => "partition_last_rows",
            K::Tables => "tables",
            K::JobInfo => "job_info",
            K::RestJob => "rest_job",
            K::RestStatistics => "rest_statistics",
            K::Error => "error",
            K::CompileResult => "compile_result",
            K::Warnings => "warnings",
            K::CompilerTimers => "compiler_timers",
            K::CommandLine => "command_line",
            K::Algebra => "algebra",
            K::InternalStatistics => "internal_statistics",
            K::VertexCommand => "vertex_command",
            K::Codegen => "codegen",
            K::UserDiagnostics => "user_diagnostics",
            K::CompilerPlan => "compiler_plan",
            K::Ast => "syntax_tree",
            K::SparkEvents => "spark_events",
            K::SparkScript => "spark_script",
            K::DriverLog => "driver_log",
            K::Ignored | K::Unknown => return None,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobFile {
    /// Name relative to the job folder, with `/`.
    pub name: String,
    pub kind: FileKind,
    pub bytes: u64,
    /// Whether its content has been read into the job.
    pub read: bool,
}
