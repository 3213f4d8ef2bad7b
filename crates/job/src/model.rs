//! What is known about one job, whatever files it was read from.
//!
//! Everything here is plain data: readers fill it, `link` ties it together, the other crates look
//! at it. A number that no file holds is `None`, never 0. Times are milliseconds and sizes are
//! bytes unless a name says otherwise. Nothing here knows rules, causes or thresholds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::counters::CounterTree;
use crate::runs::StageRuns;
use crate::script::Script;

/// Where a value was read: the evidence of a report points here.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Source {
    /// File name relative to the job folder, with `/`.
    pub file: String,
    /// Place in the file: an XPath-like chain for XML (`SV3_Combine/Sort[@opId=5]/@rowCount`),
    /// a JSON pointer for JSON, `line N` for text. `None` for the file as a whole.
    pub locator: Option<String>,
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is odd, the rest of the file was read.
    Warning,
    /// A file, or the rest of it, could not be read.
    Error,
}

/// What a reader could not make sense of. Reading goes on after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// File name relative to the job folder.
    pub file: Option<String>,
    /// Place in the file.
    pub locator: Option<String>,
    /// Lower-case fragment that says what is wrong.
    pub message: String,
    /// What the reader of the report can do about it.
    pub hint: Option<String>,
}

/// What a file turned out to be, by its content.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// SCOPE or U-SQL script text.
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
    /// `tables.json`: table metadata.
    Tables,
    /// `JobInfo.xml`.
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
    /// `diagnostic.xml`: what user code logged.
    UserDiagnostics,
    /// `__CompilerTimers.xml`.
    CompilerTimers,
    /// `__ScopeCodeGen__.dll.cs`: generated and user C#.
    Codegen,
    /// `NebulaCommandLine.txt`: how the job was submitted.
    CommandLine,
    /// `__CompilerPlan.json`.
    CompilerPlan,
    /// `__AST.json`.
    Ast,
    /// Known to be of no use here (logs of the compiler, options).
    Ignored,
    /// Not recognised.
    Unknown,
}

/// One file of the job folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobFile {
    /// Name relative to the job folder, with `/`.
    pub name: String,
    /// What it is, by its content.
    pub kind: FileKind,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether its content has been read into the job.
    pub read: bool,
}

/// How the job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It ran to its end.
    Succeeded,
    /// It did not.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// No file tells.
    #[default]
    Unknown,
}

/// Name, times and size of the whole job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct JobInfo {
    /// Identifier of the job.
    pub id: Option<String>,
    /// Name that its submitter gave it.
    pub name: Option<String>,
    /// How it ended.
    pub state: JobState,
    /// Milliseconds since 1970 (UTC) at which it was submitted.
    pub submitted_ms: Option<i64>,
    /// Milliseconds since 1970 (UTC) at which it began to run.
    pub started_ms: Option<i64>,
    /// Milliseconds since 1970 (UTC) at which it ended.
    pub ended_ms: Option<i64>,
    /// Run time from start to end, in seconds (queue and compilation are not in it).
    pub elapsed_seconds: Option<f64>,
    /// Time between the end of compilation and the start, in seconds.
    pub queued_seconds: Option<f64>,
    /// Compilation time in seconds.
    pub compile_seconds: Option<f64>,
    /// Tokens (SCOPE) or AUs (U-SQL): vertices that may run at once.
    pub tokens: Option<u32>,
    /// Priority; a smaller number goes first.
    pub priority: Option<i64>,
    /// States and when they were entered, ms since 1970, in order.
    pub states: Vec<(String, i64)>,
    /// Further fields as read (virtual cluster, user, run-time version, …).
    pub other: BTreeMap<String, String>,
    /// Where each field above was read, by its Rust name.
    pub sources: BTreeMap<&'static str, Source>,
    /// How much the source of each field is worth; readers use it to choose between sources.
    #[serde(skip)]
    #[doc(hidden)]
    pub ranks: BTreeMap<&'static str, u8>,
}

/// One column of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Column {
    /// Name as the compiler spells it (`Expr_0`, `partialagg0__` are its own).
    pub name: String,
    /// Type without the mark of a nullable one: `long`, `string`, `SQL.MAP<string, int>`.
    pub type_name: String,
    /// Whether it may be null (`long?`).
    pub nullable: bool,
}

/// What an operator does, from its class name, arguments and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperatorKind {
    /// Reads a stream, table or file.
    Extract,
    /// Filters or projects, native or with inlined C#.
    Transform,
    /// User-defined processor.
    Process,
    /// User-defined reducer.
    Reduce,
    /// User-defined combiner.
    Combine,
    /// Join of two inputs.
    Join,
    /// Aggregation before an exchange.
    PartialAggregate,
    /// Aggregation.
    Aggregate,
    /// Sort.
    Sort,
    /// Top N.
    Top,
    /// Union or concatenation.
    Union,
    /// Partitions its output by hash (`-hash`).
    HashPartition,
    /// Partitions its output by range (`-range`).
    RangePartition,
    /// Sends its output to every reader (`-broadcast`).
    Broadcast,
    /// Window functions over sorted groups.
    Window,
    /// Sends all its output to one reader (`-merge`).
    Gather,
    /// Partitions in a way that the arguments do not tell.
    Partition,
    /// Copies its input to several readers.
    Split,
    /// Writes a stream, table or file.
    Output,
    /// Anything else.
    Other,
}

/// One input or output of an operator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Channel {
    /// Name; the reader of a channel has an input with the writer's output id.
    pub id: String,
    /// Number under which run-time counters know it.
    pub uid: Option<u32>,
    /// Columns that pass.
    pub schema: Vec<Column>,
    /// `numberOfInputs` or `numberOfOutputs`; `None` if absent or "ALL".
    pub count: Option<u32>,
    /// Whether one vertex takes every piece (`numberOfInputs="ALL"`).
    pub takes_all: bool,
    /// Whether it is an output of the job.
    pub is_final: bool,
}

/// One operator of a stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Operator {
    /// Identifier: `Join_5`.
    pub id: String,
    /// Number under which run-time counters know it.
    pub uid: Option<u32>,
    /// What it does.
    pub kind: OperatorKind,
    /// Class that implements it: `ScopeCombineWrapper_1`.
    pub class_name: String,
    /// Arguments as written: `-key Postcode|Postcode1`.
    pub args: String,
    /// Keys it joins, groups, sorts or partitions by (the left input's for a join).
    pub keys: Vec<String>,
    /// Keys of the right input of a join.
    pub right_keys: Vec<String>,
    /// `-count N` of a partitioner.
    pub partition_count: Option<u32>,
    /// First number of the signature; equals `HTS` of the plan node.
    pub signature: Option<String>,
    /// Script file of the statement, where the file says so.
    pub file: Option<String>,
    /// 1-based script line of the statement, where the file says so.
    pub line: Option<u32>,
    /// Inputs in order.
    pub inputs: Vec<Channel>,
    /// Outputs in order.
    pub outputs: Vec<Channel>,
}

/// Memory that the compiler sets aside for one vertex, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct MemoryEstimate {
    /// Whole process.
    pub process_bytes: Option<u64>,
    /// Managed (C#) heap.
    pub managed_bytes: Option<u64>,
    /// Native engine.
    pub engine_bytes: Option<u64>,
    /// Native operators (sorts, hash tables).
    pub engine_operator_bytes: Option<u64>,
}

/// Statistics of a stage as the ADLA REST interface gives them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StageSummary {
    /// File they were read from.
    pub file: String,
    /// Position in the list of stages: `/stages/3`.
    pub pointer: String,
    /// Every number by its name in the file (`totalCount`, `maxVertexDataRead`, …); durations in ms.
    pub values: BTreeMap<String, f64>,
}

/// One input channel of one vertex, from its command file.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct VertexInput {
    /// File that it was read from.
    pub file: String,
    /// Channel, without its indices.
    pub channel: String,
    /// Path of the data.
    pub path: String,
    /// Exact length in bytes.
    pub bytes: Option<u64>,
}

/// One stage (SCOPE calls it a super vertex): operators that run in the same process.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stage {
    /// Name: `SV3_Combine`.
    pub name: String,
    /// Operators in the file's order; inputs come before their readers. Empty if no file lists them.
    pub operators: Vec<Operator>,
    /// Whether managed code never runs in it; `None` if no file tells.
    pub native_only: Option<bool>,
    /// Memory limit that the compiler set.
    pub memory_limit: Option<MemoryEstimate>,
    /// Memory that the compiler thought best.
    pub memory_optimal: Option<MemoryEstimate>,
    /// Memory that the job manager gives each vertex, from the algebra.
    pub memory_set: Option<MemoryEstimate>,
    /// File that lists the operators; `None` if none does.
    pub defined_in: Option<String>,
    /// Channels that it reads, from the algebra (`SV1_Extract_out0`).
    pub reads: Vec<String>,
    /// Channels that it writes, from the algebra.
    pub writes: Vec<String>,
    /// Vertices that the algebra of a local run lists.
    pub planned_vertices: Option<u32>,
    /// Exact sizes of the inputs of single vertices, where command files give them.
    pub vertex_inputs: Vec<VertexInput>,
    /// Run-time counters; for a local run those of its vertices merged.
    pub counters: Option<CounterTree>,
    /// Vertex attempts.
    pub runs: Option<StageRuns>,
    /// REST statistics.
    pub summary: Option<StageSummary>,
}

/// How rows cross from one stage to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeKind {
    /// Repartitioned by hash on keys.
    Hash,
    /// Repartitioned by range on keys.
    Range,
    /// Every reader gets all rows.
    Broadcast,
    /// One reader gets all rows.
    Gather,
    /// Vertex i feeds vertex i: nothing is shuffled.
    OneToOne,
    /// No file tells.
    Unknown,
}

/// An edge of the stage DAG.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Edge {
    /// Name of the channel.
    pub channel: String,
    /// Uid of the channel: `Output@opId` at the writer, `Extractor@opId` at the reader.
    pub uid: Option<u32>,
    /// Index into [`Job::stages`] of the writing stage.
    pub from: usize,
    /// Index into [`Job::stages`] of the reading stage.
    pub to: usize,
    /// How rows cross.
    pub exchange: ExchangeKind,
    /// Keys that the rows are partitioned by.
    pub keys: Vec<String>,
    /// Partitions written.
    pub partitions: Option<u32>,
    /// Columns that cross.
    pub schema: Vec<Column>,
    /// Operator id of the partitioner in the writing stage.
    pub partitioner: Option<String>,
    /// Rows written, total.
    pub rows_written: Option<f64>,
    /// Bytes written, total.
    pub bytes_written: Option<f64>,
    /// Rows read, total (less than written where a reader stopped early; more where broadcast).
    pub rows_read: Option<f64>,
    /// Bytes read, total.
    pub bytes_read: Option<f64>,
}

/// One node of the optimizer's physical plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanNode {
    /// Name without `PhyOp_`: `MergeJoin`, `Exchange`.
    pub name: String,
    /// `group.alternative`.
    pub group: Option<String>,
    /// Estimated rows.
    pub card: Option<f64>,
    /// Estimated bytes per row.
    pub row_bytes: Option<f64>,
    /// Largest partition divided by the mean one, as estimated.
    pub skew_factor: Option<f64>,
    /// Name as written (`PhyOp_MergeJoin`), for locators.
    pub element_id: String,
    /// Hash that equals the first number of the operator's signature.
    pub hts: Option<String>,
    /// `TotalCosts@TotalCosts`.
    pub cost: Option<f64>,
    /// Every attribute of the node and of its properties and costs, as written.
    pub attributes: BTreeMap<String, String>,
    /// Indices of the children in [`Plan::nodes`].
    pub children: Vec<usize>,
}

/// The optimizer's plan and the compiler's counters.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Plan {
    /// File it was read from.
    pub file: String,
    /// Physical nodes in pre-order.
    pub nodes: Vec<PlanNode>,
    /// Indices of the roots.
    pub roots: Vec<usize>,
    /// Logical nodes (the plan before optimization) in pre-order; children point into this list.
    pub logical: Vec<PlanNode>,
    /// Features of the query (`Join`, `UDReducer`, …) and how often they occur.
    pub features: BTreeMap<String, u64>,
    /// Operator id to plan group, from `__ScopeDiagnosisInfo__.xml`.
    pub group_of_operator: BTreeMap<String, String>,
    /// `Costs` of the whole plan by name (`ExtractCardinality`, `InputSize`, …).
    pub totals: BTreeMap<String, f64>,
    /// Compiler counters by name: value and unit.
    pub counters: BTreeMap<String, (f64, String)>,
    /// File that maps operators to groups.
    pub map_file: Option<String>,
}

impl Plan {
    /// First physical node of a group (`6.1`).
    pub fn by_group(&self, group: &str) -> Option<&PlanNode> {
        self.nodes
            .iter()
            .find(|n| n.group.as_deref() == Some(group))
    }

    /// First physical node with that signature hash.
    pub fn by_hts(&self, hts: &str) -> Option<&PlanNode> {
        self.nodes.iter().find(|n| n.hts.as_deref() == Some(hts))
    }

    /// Where an attribute of a node stands (`Card`, `PrtnSkewFactor`, `Partitions`, …).
    pub fn source(&self, node: &PlanNode, attribute: &str) -> Source {
        const OF_COSTS: [&str; 3] = ["TotalCosts", "BubbleCost", "BubblePartitions"];
        const OF_GROUP: [&str; 7] = [
            "Grp",
            "Remotable",
            "Card",
            "AvgRowLength",
            "PrtnSkewFactor",
            "HT",
            "HTS",
        ];
        let id = &node.element_id;
        let place = match node.group.as_deref() {
            Some(group) if OF_GROUP.contains(&attribute) => {
                format!("{id}/OpInfo/TableGroupProperties[@Grp={group}]/@{attribute}")
            }
            _ if OF_COSTS.contains(&attribute) => format!("{id}/OpInfo/Costs/@{attribute}"),
            _ => format!("{id}/@{attribute}"),
        };
        Source {
            file: self.file.clone(),
            locator: Some(place),
        }
    }
}

/// A frequent value of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopValue {
    /// The value as text.
    pub value: String,
    /// Rows that have it.
    pub rows: u64,
}

/// Statistics of one column of a stored table.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ColumnStatistics {
    /// Name.
    pub name: String,
    /// Type as written, with `?` if nullable.
    pub type_name: Option<String>,
    /// Mean width in bytes.
    pub avg_width: Option<f64>,
    /// Number of distinct values.
    pub distinct: Option<u64>,
    /// Rows in which it is null.
    pub nulls: Option<u64>,
    /// Most frequent values, most frequent first; null is not among them.
    pub top_values: Vec<TopValue>,
}

/// How a stored table is laid out.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Clustering {
    /// `hash`, `range`, `none`, …, as written, lower case.
    pub kind: String,
    /// Keys.
    pub keys: Vec<String>,
    /// Sort order within a partition.
    pub sorted_by: Vec<String>,
    /// Number of partitions.
    pub partitions: Option<u32>,
}

/// One partition of a stored table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StoredPartition {
    /// Bytes in it.
    pub bytes: u64,
    /// Rows in it.
    pub rows: Option<u64>,
}

/// Metadata of one input, from every file that tells about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Path or U-SQL table name.
    pub path: Option<String>,
    /// Name in the U-SQL catalogue (`account.database.schema.table`), where known.
    pub usql_name: Option<String>,
    /// Identifier in the job (`GetSStream_0`), where known.
    pub stream_id: Option<String>,
    /// `sstream`, `text`, `table`.
    pub kind: Option<String>,
    /// Rows.
    pub rows: Option<u64>,
    /// Bytes.
    pub bytes: Option<u64>,
    /// Number of files.
    pub file_count: Option<u64>,
    /// Compression (`gzip`).
    pub compressed: Option<String>,
    /// Layout.
    pub clustering: Option<Clustering>,
    /// When its statistics were taken, ms since 1970.
    pub statistics_ms: Option<i64>,
    /// Rows and bytes at the job's previous run.
    pub previous: Option<(Option<u64>, Option<u64>)>,
    /// Columns.
    pub columns: Vec<ColumnStatistics>,
    /// Stored partitions.
    pub partitions: Vec<StoredPartition>,
    /// Where rows, bytes, columns, … were read, by the Rust field name.
    pub sources: BTreeMap<&'static str, Source>,
}

/// An error of the job: run-time, compile or job manager.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct JobError {
    /// File it was read from.
    pub file: String,
    /// `E_RUNTIME_USER_EXPRESSIONEVALUATION`.
    pub id: Option<String>,
    /// `User` or `System`.
    pub origin: Option<String>,
    /// `RUNTIME`, `COMPILER`, ….
    pub component: Option<String>,
    /// One-line message.
    pub message: String,
    /// Longer description.
    pub description: Option<String>,
    /// Stack and details.
    pub details: Option<String>,
    /// Internal diagnostics.
    pub internal: Option<String>,
    /// What the system itself advises.
    pub resolution: Option<String>,
    /// Script file it names.
    pub script_file: Option<String>,
    /// 1-based script line it names.
    pub script_line: Option<u32>,
    /// Stage of the failed vertex, where it names one.
    pub stage: Option<String>,
    /// 1-based line of the generated C# that the stack names.
    pub codegen_line: Option<u32>,
    /// Class of the generated C# that the stack names.
    pub class_name: Option<String>,
    /// Script text of the expression that failed, where it can be told.
    pub expression: Option<String>,
}

/// A warning of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CompilerWarning {
    /// Number and title as written.
    pub id: String,
    /// Severity as written.
    pub severity: Option<String>,
    /// Message.
    pub message: Option<String>,
    /// `file:line` as written.
    pub location: Option<String>,
    /// What the compiler advises.
    pub solution: Option<String>,
    /// How often it was given.
    pub occurrences: Option<u32>,
}

/// A class of the generated C#.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CodegenClass {
    /// Name: `SqlFilterTransformer_3`, `SessionReducer`.
    pub name: String,
    /// First and last 1-based line in the file.
    pub lines: (u32, u32),
    /// Whether the user wrote it.
    pub user_code: bool,
    /// Base class or interface, where written.
    pub base: Option<String>,
    /// Script expressions that it evaluates.
    pub expressions: Vec<String>,
    /// Columns that it names; `None` if it reads columns in a way that names do not tell.
    pub columns_read: Option<Vec<String>>,
}

/// The generated C#.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Codegen {
    /// File it was read from.
    pub file: String,
    /// Classes in the file's order.
    pub classes: Vec<CodegenClass>,
}

/// What the compiler took in and put out.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CompileResult {
    /// File it was read from.
    pub file: String,
    /// Path of the script as compiled.
    pub script_path: Option<String>,
    /// Input streams.
    pub inputs: Vec<String>,
    /// Output streams.
    pub outputs: Vec<CompiledOutput>,
    /// Settings of the compiler, as written.
    pub settings: Option<String>,
    /// Statements as the compiler saw them: kind, and the beginning of the text.
    pub statements: Vec<(String, String)>,
}

/// One output stream as the compiler sees it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CompiledOutput {
    /// Path.
    pub path: String,
    /// Schema as written.
    pub schema: Option<String>,
    /// Whether it is a structured stream.
    pub structured: Option<bool>,
}

/// What the user code of one vertex logged.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct VertexLog {
    /// Vertex: `SV1_Extract[0][0]`.
    pub vertex: String,
    /// Version of the vertex; the highest counts.
    pub version: u32,
    /// Whether the vertex failed.
    pub failed: bool,
    /// Whether its log was cut.
    pub truncated: bool,
    /// Lines logged.
    pub lines: u64,
    /// The first of them.
    pub first_lines: Vec<String>,
}

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
