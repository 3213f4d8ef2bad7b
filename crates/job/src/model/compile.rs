//! What the compiler took in and put out.

use serde::Serialize;

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
    /// Statements of its syntax tree.
    pub syntax: Vec<SyntaxStatement>,
}

/// One statement of the compiler's syntax tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SyntaxStatement {
    /// `QueryStatement`, `OutputStatement`, ….
    pub kind: String,
    /// 1-based line in the text that was compiled; `None` in the older form of the file.
    pub line: Option<u32>,
    /// Rowset that it assigns.
    pub rowset: Option<String>,
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
