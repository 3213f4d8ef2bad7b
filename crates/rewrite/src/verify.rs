//! Checks of a rewritten script, before it is shown.
//!
//! It parses without new errors; every statement that the rewrite does not name is
//! unchanged and in its old position; every name that a changed statement bound is bound again, with the
//! same columns; every output is written as before; every hint it adds is a known one. Equality of
//! the rows follows from the construction of the rewrite, not from this check.

use std::collections::BTreeSet;

use job::script::flow::{DataFlow, ReadColumns};
use job::script::{Hint, Script, Statement, StatementKind, hints};

use super::types;
use report::{SameResult, Verified};

/// A script with its flow.
struct Side<'a> {
    script: &'a Script,
    flow: DataFlow,
}

/// Checks a new text against the original script. `reads` returns the columns that user code reads.
pub fn verify(
    script: &Script,
    text: &str,
    touched: &BTreeSet<usize>,
    reads: &ReadColumns<'_>,
) -> Verified {
    let new = Script::parse(&script.file, text.to_owned());
    let before = Side {
        script,
        flow: script.flow_with(reads),
    };
    let after = Side {
        script: &new,
        flow: new.flow_with(reads),
    };
    let others = others_unchanged(script, &new, touched);
    Verified {
        parses: new.errors.len() <= script.errors.len(),
        columns_preserved: others && columns_kept(&before, &after, touched),
        hints_known: hints_known(script, &new),
        same_result: SameResult::Unknown,
    }
}

/// Statements of the script that a new text changes, drops or moves.
pub fn changed(script: &Script, text: &str) -> BTreeSet<usize> {
    let new = Script::parse(&script.file, text.to_owned());
    let mut from = 0;
    let mut changed = BTreeSet::new();
    for old in &script.statements {
        let same = |s: &Statement| new.slice(&s.span) == script.slice(&old.span);
        match new.statements[from..].iter().position(same) {
            Some(found) => from += found + 1,
            None => {
                changed.insert(old.index);
            }
        }
    }
    changed
}

/// Whether the untouched statements are unchanged and in their old sequence.
fn others_unchanged(script: &Script, new: &Script, touched: &BTreeSet<usize>) -> bool {
    let mut rest = new.statements.iter();
    let mut kept = script
        .statements
        .iter()
        .filter(|old| !touched.contains(&old.index));
    kept.all(|old| rest.any(|new_one| new.slice(&new_one.span) == script.slice(&old.span)))
}

fn columns_kept(before: &Side<'_>, after: &Side<'_>, touched: &BTreeSet<usize>) -> bool {
    let (script, new) = (before.script, after.script);
    let bound = touched
        .iter()
        .filter_map(|&index| script.statements.get(index))
        .all(|old| {
            if old.kind == StatementKind::Output {
                return true;
            }
            let Some(found) = counterpart(script, new, old) else {
                return old.target.is_none();
            };
            same_columns(before, old, after, found)
        });
    bound && outputs_kept(before, after, touched)
}

/// Whether every output is written as before: path, columns, types; and in the same layout,
/// unless the rewrite changes the output itself.
fn outputs_kept(before: &Side<'_>, after: &Side<'_>, touched: &BTreeSet<usize>) -> bool {
    let (old, new) = (outputs(before), outputs(after));
    old.len() == new.len()
        && old.iter().zip(&new).all(|(old, new)| {
            let layout = touched.contains(&old.statement) || old.clustered_by == new.clustered_by;
            layout && old.path == new.path && old.columns == new.columns && old.types == new.types
        })
}

/// Output of a script.
struct Written {
    statement: usize,
    path: String,
    columns: Option<Vec<String>>,
    types: Vec<Option<String>>,
    clustered_by: Vec<String>,
}

/// The statement that binds the same name, with the same number of earlier bindings.
fn counterpart<'n>(script: &Script, new: &'n Script, old: &Statement) -> Option<&'n Statement> {
    let binds = |statement: &&Statement| statement.target == old.target && statement.makes_rowset();
    let before = script.statements[..old.index].iter().filter(binds).count();
    new.statements.iter().filter(binds).nth(before)
}

/// Whether a statement has its old columns in their sequence; unneeded ones may be missing.
fn same_columns(before: &Side<'_>, old: &Statement, after: &Side<'_>, new: &Statement) -> bool {
    let old = before.flow.of_statement(old.index);
    let new = after.flow.of_statement(new.index);
    let (Some(old), Some(new)) = (old, new) else {
        return old.is_none() && new.is_none();
    };
    let (Some(had), Some(has)) = (&old.columns, &new.columns) else {
        return old.columns == new.columns;
    };
    let mut has = has.iter().peekable();
    let kept = had
        .iter()
        .all(|column| has.next_if_eq(&column).is_some() || old.dropped.contains(column));
    kept && has.next().is_none()
}

fn outputs(side: &Side<'_>) -> Vec<Written> {
    let script = side.script;
    let written = script
        .statements
        .iter()
        .filter(|s| s.kind == StatementKind::Output);
    written
        .map(|statement| {
            let output = statement.output.as_ref();
            let path = output.and_then(|output| output.path.as_ref());
            let rowset = side.flow.of_statement(statement.index);
            let columns = rowset.and_then(|rowset| rowset.columns.clone());
            let keys = output
                .map(|output| &output.clustered_by)
                .into_iter()
                .flatten();
            let named = columns.iter().flatten();
            Written {
                statement: statement.index,
                path: path.map_or("", |path| script.slice(&path.span)).to_owned(),
                types: named
                    .map(|column| types::of_column(script, statement, column))
                    .collect(),
                clustered_by: keys
                    .map(|key| script.slice(&key.expression.span).to_owned())
                    .collect(),
                columns,
            }
        })
        .collect()
}

/// Whether every hint that the old script does not have is a known one.
fn hints_known(script: &Script, new: &Script) -> bool {
    let known: Vec<(&Hint, &str)> = all_hints(script).collect();
    let mut added = all_hints(new).filter(|(hint, text)| {
        !known
            .iter()
            .any(|(old, old_text)| old.name == hint.name && old_text == text)
    });
    added.all(|(hint, _)| hints::problem(hint).is_none())
}

fn all_hints(script: &Script) -> impl Iterator<Item = (&Hint, &str)> {
    let hints = script
        .statements
        .iter()
        .flat_map(|statement| &statement.hints);
    hints.map(|hint| (hint, script.slice(&hint.span)))
}
