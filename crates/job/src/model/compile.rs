//! Classes of the C# that the compiler generated or the user wrote.

#[derive(Debug, Clone, PartialEq, Default)]
pub struct CodegenClass {
    /// Name: `SqlFilterTransformer_3`, `SessionReducer`.
    pub name: String,
    /// First and last 1-based line in the file.
    pub lines: (u32, u32),
    pub user_code: bool,
    /// Script expressions that it evaluates.
    pub expressions: Vec<String>,
    /// Columns in its code; `None` if it reads columns by position rather than by name.
    pub columns_read: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Codegen {
    pub file: String,
    pub classes: Vec<CodegenClass>,
}
