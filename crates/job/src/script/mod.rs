//! The script: syntax, statements, data flow.
//!
//! A script is read in three layers: [`SyntaxTree`] holds every byte of the text, [`Statement`]s
//! say what it means, [`DataFlow`] ties the statements together by the rowsets that they pass.
//! Nothing here knows a job folder, run-time numbers or causes.

mod flow;
mod model;

pub use flow::{DataFlow, Partitioning, PartitioningKind, Rowset};
pub use model::{
    Aggregate, ColumnRef, Conjunct, Dialect, Expression, Hint, HintForm, Join, JoinKind, OrderItem,
    OutputClause, OutputColumn, Query, RowsetRef, RowsetSource, Span, Statement, StatementKind,
    SyntaxError,
};

/// A parsed script.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// File name relative to the job folder.
    pub file: String,
    /// The whole text as read, byte order mark included; every span indexes into it.
    pub text: String,
    /// SCOPE or U-SQL.
    pub dialect: Dialect,
    /// Statements in the order of the text.
    pub statements: Vec<Statement>,
    /// What could not be understood; parsing goes on at the next statement.
    pub errors: Vec<SyntaxError>,
    flow: DataFlow,
    line_starts: Vec<usize>,
}

impl Script {
    /// Parses `text`. Never fails: what is not understood is in [`Script::errors`].
    pub fn parse(file: &str, text: String) -> Script {
        let line_starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect();
        Script {
            file: file.to_owned(),
            text,
            line_starts,
            ..Script::default()
        }
    }

    /// Rowsets and how they feed each other.
    pub fn flow(&self) -> &DataFlow {
        &self.flow
    }

    /// 1-based line that holds the byte at `offset`.
    pub fn line_of(&self, offset: usize) -> u32 {
        self.line_starts.partition_point(|&start| start <= offset) as u32
    }

    /// The statement whose lines include the 1-based `line` (the innermost one).
    pub fn statement_at_line(&self, line: u32) -> Option<&Statement> {
        self.statements
            .iter()
            .filter(|statement| statement.lines.0 <= line && line <= statement.lines.1)
            .min_by_key(|statement| statement.lines.1 - statement.lines.0)
    }

    /// Text of a span.
    pub fn slice(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }
}
