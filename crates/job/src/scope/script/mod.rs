//! The script: syntax, statements, data flow.
//!
//! A script is read in three layers: [`SyntaxTree`] contains every byte of the text, [`Statement`]s
//! say what it means, [`DataFlow`] ties the statements together by the rowsets that they pass.
//! The script layer knows no job folder, run-time numbers or causes.

use std::sync::OnceLock;

mod dialect;
mod diff;
pub mod expr;
mod extent;
mod first;
pub mod flow;
pub mod hints;
mod lexer;
mod lower;
mod model;
mod own_words;
mod parser;
#[cfg(test)]
mod tests;
mod tree;
mod words;

pub use diff::{ScriptDiff, diff};
pub use expr::Expr;
pub use flow::{DataFlow, Partitioning, PartitioningKind, Rowset};
pub use lexer::{Token, TokenKind};
pub use model::{
    Aggregate, ColumnRef, Conjunct, Dialect, Expression, Hint, HintForm, Join, JoinKind, OrderItem,
    OutputClause, OutputColumn, Query, RowsetRef, RowsetSource, Span, Statement, StatementKind,
    SyntaxError,
};
pub use own_words::own_words;
pub use tree::{Node, NodeKind, SyntaxTree};

#[derive(Debug, Clone, Default)]
pub struct Script {
    /// File name relative to the job folder.
    pub file: String,
    /// The whole text as read, byte order mark included; every span indexes into it.
    pub text: String,
    pub dialect: Dialect,
    pub statements: Vec<Statement>,
    /// Syntax errors; parsing resumes at the next statement.
    pub errors: Vec<SyntaxError>,
    tree: SyntaxTree,
    flow: OnceLock<DataFlow>,
    line_starts: Vec<usize>,
}

impl Script {
    /// Parses `text`. Never fails: unparsed parts are in [`Script::errors`].
    pub fn parse(file: &str, text: String) -> Script {
        let line_starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect();
        let mut script = Script {
            file: file.to_owned(),
            text,
            line_starts,
            ..Script::default()
        };
        let (tree, errors) = parser::parse(&script.text);
        script.statements = lower::statements(&script.text, &tree, |offset| script.line_of(offset));
        script.dialect = dialect::guess(file, &script.text, &tree);
        let errors = errors.into_iter().map(|error| {
            let start = tree.token_span(error.first as usize).start;
            let last = error.end.saturating_sub(1).max(error.first);
            let end = tree.token_span(last as usize).end;
            SyntaxError {
                span: start..end.max(start),
                line: script.line_of(start),
                message: error.message,
            }
        });
        script.errors = errors.collect();
        script.tree = tree;
        script
    }

    /// The syntax tree, which contains every byte of the text.
    pub fn tree(&self) -> &SyntaxTree {
        &self.tree
    }

    /// Rowsets and their connections.
    pub fn flow(&self) -> &DataFlow {
        self.flow.get_or_init(|| flow::of_script(self))
    }

    /// 1-based line of the byte at `offset`.
    pub fn line_of(&self, offset: usize) -> u32 {
        self.line_starts.partition_point(|&start| start <= offset) as u32
    }

    /// The innermost statement around the 1-based `line`.
    pub fn statement_at_line(&self, line: u32) -> Option<&Statement> {
        let around = |s: &&Statement| s.lines.0 <= line && line <= s.lines.1;
        let around = self.statements.iter().filter(around);
        around.min_by_key(|s| s.lines.1 - s.lines.0)
    }

    /// Diff between this script and `changed`.
    pub fn diff(&self, changed: &str) -> ScriptDiff {
        let file = &self.file;
        let (old, new) = (format!("a/{file}"), format!("b/{file}"));
        diff((&old, &self.text), (&new, changed))
    }

    /// Tokens inside a span that the grammar sees.
    pub fn tokens_in(&self, span: &Span) -> impl Iterator<Item = (TokenKind, Span, &str)> {
        let (tree, end) = (&self.tree, span.end);
        let starts_before = |token: &Token| (token.start as usize) < span.start;
        let first = tree.tokens().partition_point(starts_before);
        let tokens = tree.tokens()[first..].iter().enumerate();
        let tokens = tokens.take_while(move |(_, token)| (token.start as usize) < end);
        let tokens = tokens.filter(|(_, token)| !token.kind.is_trivia());
        tokens.map(move |(at, token)| {
            let span = tree.token_span(first + at);
            (token.kind, span.clone(), self.slice(&span))
        })
    }

    /// The tree of the expression in a span; `None` if a part of it has no certain meaning.
    pub fn expression(&self, span: &Span) -> Option<Expr> {
        expr::parse(self, span)
    }

    /// Text of a span.
    pub fn slice(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }
}
