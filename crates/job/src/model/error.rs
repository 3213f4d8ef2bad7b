//! What went wrong: errors, warnings, and what user code logged.

use serde::Serialize;

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
