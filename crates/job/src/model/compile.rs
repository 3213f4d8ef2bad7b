//! What the compiler read and produced.

#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Columns that it names; `None` if it reads columns by position rather than by name.
    pub columns_read: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Codegen {
    pub file: String,
    /// Classes in the file's order.
    pub classes: Vec<CodegenClass>,
}

/// What the compiler read and produced.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompileResult {
    pub file: String,
    pub script_path: Option<String>,
    pub inputs: Vec<String>,
    pub outputs: Vec<CompiledOutput>,
    pub settings: Option<String>,
    /// Statements as the compiler saw them: kind, and the beginning of the text.
    pub statements: Vec<(String, String)>,
    pub syntax: Vec<SyntaxStatement>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyntaxStatement {
    /// `QueryStatement`, `OutputStatement`, ….
    pub kind: String,
    /// 1-based line in the text that was compiled; `None` in the older form of the file.
    pub line: Option<u32>,
    /// Rowset that it assigns.
    pub rowset: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompiledOutput {
    pub path: String,
    pub schema: Option<String>,
    pub structured: Option<bool>,
}
