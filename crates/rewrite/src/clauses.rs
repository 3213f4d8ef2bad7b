//! The clauses that a rewritten statement keeps, and the statements that replace it.

use job::script::{HintForm, Script, Statement, TokenKind};

use super::Rewrite;
use super::names::fresh;

/// Clauses of the replaced statement, for the levels of a rewrite.
pub(crate) struct Clauses<'s> {
    script: &'s Script,
    statement: &'s Statement,
    pub target: &'s str,
    /// The only input as written.
    pub source: &'s str,
    /// `WHERE …` on a separate line; empty without one.
    pub filter: String,
    /// `HAVING …`, likewise.
    pub having: String,
    /// `GROUP BY` keys.
    pub keys: Vec<&'s str>,
}

impl<'s> Clauses<'s> {
    /// `None` if the statement reads several inputs, or has an `OPTION(…)`, which would not fit
    /// any of the levels.
    pub(crate) fn of(script: &'s Script, statement: &'s Statement) -> Option<Clauses<'s>> {
        let query = &statement.query;
        let [input] = query.inputs.as_slice() else {
            return None;
        };
        let options = (statement.hints.iter()).any(|hint| hint.form == HintForm::Option);
        let filter = query.filter_span.as_ref();
        let having = query.having.iter().map(|part| &part.expression);
        let having: Vec<_> = having.map(|part| script.slice(&part.span)).collect();
        let keys = query.group_by.iter().map(|key| script.slice(&key.span));
        (!options && query.joins.is_empty()).then_some(Clauses {
            script,
            statement,
            target: statement.target.as_deref()?,
            source: script.slice(&input.span),
            filter: filter.map_or_else(String::new, |span| format!("\n    {}", script.slice(span))),
            having: match having.as_slice() {
                [] => String::new(),
                parts => format!("\n    HAVING {}", parts.join(" AND ")),
            },
            keys: keys.collect(),
        })
    }

    /// An unused name, derived from the statement's name.
    pub(crate) fn fresh(&self, suffix: &str) -> String {
        fresh(self.script, self.target, suffix)
    }

    /// Replaces the statement by `levels` and `last`; its comments go before them,
    /// its hints stay with its name.
    pub(crate) fn replaced_by(&self, levels: &str, last: &str) -> Rewrite {
        replace(self.script, self.statement, levels, last)
    }
}

/// Replaces a statement by `levels` and `last`, which binds the old name.
pub(crate) fn replace(script: &Script, statement: &Statement, levels: &str, last: &str) -> Rewrite {
    let comments = comments(script, statement);
    let hints = hint_lines(script, statement);
    let text = format!("{comments}{levels}{hints}{}", last.trim_end());
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, statement.span.clone(), text);
    rewrite
}

/// `name = SELECT … FROM rest;` with a blank line behind it.
pub(crate) fn bind(name: &str, columns: &[impl AsRef<str>], rest: &str) -> String {
    let columns: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
    let columns = columns.join(",\n           ");
    format!("{name} =\n    SELECT {columns}\n    FROM {rest};\n\n")
}

/// Attribute lines of a statement up to its name.
fn hint_lines<'s>(script: &'s Script, statement: &Statement) -> &'s str {
    let start = statement.query.span.start;
    let mut lines = statement.hints.iter();
    let last = lines.rfind(|hint| hint.form == HintForm::Attribute && hint.span.end <= start);
    let Some(last) = last else { return "" };
    let rest = &script.text[last.span.end..];
    let blanks = rest.len() - rest.trim_start().len();
    let lines = statement.span.start..last.span.end + blanks;
    script.text.get(lines).unwrap_or_default()
}

/// Comments inside a statement, each on a separate line.
fn comments(script: &Script, statement: &Statement) -> String {
    let tree = script.tree();
    let from = tree
        .tokens()
        .partition_point(|token| (token.start as usize) < statement.span.start);
    let tokens = tree.tokens()[from..].iter().enumerate();
    let inside = tokens.take_while(|(_, token)| (token.start as usize) < statement.span.end);
    let comments = inside.filter(|(_, token)| {
        matches!(token.kind, TokenKind::LineComment | TokenKind::BlockComment)
    });
    comments
        .map(|(at, _)| format!("{}\n", script.slice(&tree.token_span(from + at))))
        .collect()
}
