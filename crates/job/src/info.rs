//! Names of the kinds of information that a file can provide and a rule can lack.

use serde::{Deserialize, Serialize};

macro_rules! information {
    ($($variant:ident = $code:literal: $doc:literal;)*) => {
        /// A kind of information; the catalogue names the files that provide it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Information { $(#[doc = $doc] $variant),* }

        impl Information {
            pub const ALL: &'static [Information] = &[$(Information::$variant),*];

            /// Its code in the catalogue and in reports.
            pub fn code(self) -> &'static str {
                match self { $(Information::$variant => $code),* }
            }
        }
    };
}

information! {
    Script = "script": "Statements, keys and hints of the script.";
    StageGraph = "stage_graph": "Stages, operators and channels.";
    RuntimeCounters = "runtime_counters": "Rows, bytes and times per operator.";
    PerVertexData = "per_vertex_data": "How rows, bytes and time are spread over the vertices of a stage.";
    VertexEvents = "vertex_events": "Attempts, failures, revocations, machines.";
    StageStatistics = "stage_statistics": "Vertex counts and bytes per stage.";
    Estimates = "estimates": "Rows and sizes that the optimizer expected.";
    TableStatistics = "table_statistics": "Rows, bytes, distinct counts and frequent values of the inputs.";
    StoredLayout = "stored_layout": "How the inputs are partitioned and sorted.";
    QueueTime = "queue_time": "When the job was submitted, queued and started.";
    GcTime = "gc_time": "Share of the time in garbage collection.";
    MemoryUse = "memory_use": "Memory peaks and spills.";
    MemoryEstimate = "memory_estimate": "Memory that the compiler set aside.";
    UserCode = "user_code": "Generated C# and the user's own.";
    ErrorDetails = "error_details": "The error of a failed job.";
    CompileResult = "compile_result": "Messages of the compiler.";
    Warnings = "warnings": "Compiler warnings.";
    JobTimes = "job_times": "Start, end, tokens and state of the job.";
}
