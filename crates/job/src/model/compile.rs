//! Classes of the C# that the compiler generated or the user wrote.

use serde::{Deserialize, Serialize};

/// Lines on either side that are kept when there is little room.
const FEW_LINES: u32 = 2;

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

/// Some lines of a class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeExcerpt {
    pub class: String,
    pub file: String,
    /// 1-based line that threw the exception; `None` without an exception here.
    pub thrown_at: Option<u32>,
    /// 1-based line that matters most.
    pub center: u32,
    /// 1-based line of the first of `lines`.
    pub first_line: u32,
    pub lines: Vec<String>,
}

impl CodeExcerpt {
    /// Keeps the lines next to the one that matters; returns whether there were others.
    pub fn shorten(&mut self) -> bool {
        let before = self.lines.len();
        let first = self.first_line.max(self.center.saturating_sub(FEW_LINES));
        let skipped = (first - self.first_line) as usize;
        self.lines.drain(..skipped.min(before));
        self.first_line = first;
        self.lines
            .truncate((self.center + FEW_LINES + 1).saturating_sub(first) as usize);
        self.lines.len() < before
    }
}
