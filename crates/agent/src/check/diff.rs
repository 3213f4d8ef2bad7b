//! Diffs that a model writes: they must apply, parse, keep the outputs, and use known hints.

use job::script::{Script, StatementKind, hints};

use crate::report::Verified;

/// What is wrong with a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault(pub(super) String);

/// Checks a unified diff against the script.
pub(super) fn verify(file: &str, text: &str, diff: &str) -> Result<Verified, Fault> {
    let patch = diffy::Patch::from_str(diff)
        .map_err(|_| Fault("the diff is not a unified diff".to_owned()))?;
    let changed = diffy::apply(text, &patch)
        .map_err(|_| Fault("the diff does not apply to the script".to_owned()))?;
    if changed == text {
        return Err(Fault("the diff changes nothing".to_owned()));
    }
    let before = Script::parse(file, text.to_owned());
    let after = Script::parse(file, changed);
    if after.errors.len() > before.errors.len() {
        return Err(Fault("the changed script does not parse".to_owned()));
    }
    if outputs(&before) != outputs(&after) {
        return Err(Fault(
            "the changed script does not write the same outputs with the same columns".to_owned(),
        ));
    }
    if let Some(problem) = new_hint_problem(&before, &after) {
        return Err(Fault(problem));
    }
    Ok(Verified {
        parses: true,
        columns_preserved: true,
        hints_known: true,
    })
}

/// What each output writes: its statement's destination and the columns of its rowset.
fn outputs(script: &Script) -> Vec<(String, Option<Vec<String>>)> {
    let flow = script.flow();
    let written = script
        .statements
        .iter()
        .filter(|s| s.kind == StatementKind::Output);
    written
        .map(|statement| {
            let columns = flow
                .of_statement(statement.index)
                .and_then(|rowset| rowset.columns.clone());
            let text = script.slice(&statement.span);
            let target = text.split_whitespace().collect::<Vec<_>>().join(" ");
            (target, columns)
        })
        .collect()
}

/// The first hint of the new script that the grammar does not know and the old one did not have.
fn new_hint_problem(before: &Script, after: &Script) -> Option<String> {
    let old: Vec<&str> = before
        .statements
        .iter()
        .flat_map(|s| &s.hints)
        .map(|h| h.name.as_str())
        .collect();
    let new = after.statements.iter().flat_map(|s| &s.hints);
    new.filter(|hint| !old.contains(&hint.name.as_str()))
        .find_map(hints::problem)
}
