//! The error that made the job fail.

#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobError {
    pub file: String,
    /// `E_RUNTIME_USER_EXPRESSIONEVALUATION`.
    pub id: Option<String>,
    /// `User` or `System`.
    pub origin: Option<String>,
    /// `RUNTIME`, `COMPILER`, ….
    pub component: Option<String>,
    pub message: String,
    pub description: Option<String>,
    pub details: Option<String>,
    pub internal: Option<String>,
    pub resolution: Option<String>,
    pub script_file: Option<String>,
    /// 1-based script line it names.
    pub script_line: Option<u32>,
    pub stage: Option<String>,
    /// Vertex that failed, with its version: `SV2_Reduce[8] v3`.
    pub vertex: Option<String>,
    pub machine: Option<String>,
    /// Innermost exception: `System.FormatException: Input string was not in a correct format.`
    pub exception: Option<String>,
    /// Innermost frame of the stack that is not the framework's: `SessionReducer.Reduce (__ScopeCodeGen__.dll.cs:39)`.
    pub frame: Option<String>,
    /// Row that user code was given: `Id: 3365, Name: "x"`.
    pub row: Option<String>,
    /// 1-based line of the generated C# that the stack names.
    pub codegen_line: Option<u32>,
    pub class_name: Option<String>,
    /// Script text of the expression that failed, where known.
    pub expression: Option<String>,
}
