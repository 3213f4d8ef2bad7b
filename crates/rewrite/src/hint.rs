//! Adds, changes and removes hints and strategy words of joins.

use job::script::hints::{HintUse, find};
use job::script::{Dialect, Hint, HintForm, JoinKind, Script, Statement};

use super::Rewrite;

/// Which side of a join is sent to every vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one before `JOIN`.
    Left,
    /// The one behind it.
    Right,
}

/// Adds a hint to a statement as the script's language writes it: an attribute line for SCOPE,
/// `OPTION(…)` for U-SQL. `None` if it already has a hint of that name, or the language does not.
pub fn add(script: &Script, statement: &Statement, name: &str, rest: &str) -> Option<Rewrite> {
    let scope_only = find(name).is_none_or(|known| known.allowed == HintUse::Scope);
    if statement.hints.iter().any(|hint| hint.name == name)
        || scope_only && script.dialect == Dialect::USql
    {
        return None;
    }
    let mut rewrite = Rewrite::default();
    match script.dialect {
        Dialect::Scope => {
            rewrite.line_before(script, statement.index, &format!("[{name}{rest}]"));
        }
        Dialect::USql => {
            let mut options = statement
                .hints
                .iter()
                .filter(|hint| hint.form == HintForm::Option);
            let (at, text) = match options.next_back() {
                Some(last) => (last.span.end, format!(", {name}{rest}")),
                None => {
                    let indent = super::indentation(&script.text, statement.query.span.start);
                    (
                        statement.query.span.end,
                        format!("\n{indent}OPTION({name}{rest})"),
                    )
                }
            };
            rewrite.replace(statement.index, at..at, text);
        }
    }
    Some(rewrite)
}

/// Gives a hint another value; `change` gets the text of the hint.
pub fn change(
    script: &Script,
    statement: &Statement,
    hint: &Hint,
    change: impl Fn(&str) -> Option<String>,
) -> Option<Rewrite> {
    let text = script.slice(&hint.span);
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, hint.span.clone(), change(text)?);
    Some(rewrite)
}

/// Removes an attribute line, with its line end.
pub fn remove(script: &Script, statement: &Statement, hint: &Hint) -> Option<Rewrite> {
    if hint.form != HintForm::Attribute {
        return remove_option(script, statement, hint);
    }
    let rest = &script.text[hint.span.end..];
    let blanks = rest.len() - rest.trim_start().len();
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, hint.span.start..hint.span.end + blanks, "");
    Some(rewrite)
}

/// Removes an `OPTION(…)` that holds only this hint.
fn remove_option(script: &Script, statement: &Statement, hint: &Hint) -> Option<Rewrite> {
    let alone = statement
        .hints
        .iter()
        .filter(|h| h.form == HintForm::Option)
        .count()
        == 1;
    let before = script.text[..hint.span.start]
        .trim_end()
        .strip_suffix('(')?;
    let before = before.trim_end().strip_suffix("OPTION")?.trim_end();
    let after = script.text[hint.span.end..].find(')')?;
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, before.len()..hint.span.end + after + 1, "");
    alone.then_some(rewrite)
}

/// Replaces the number behind `key` in a hint: `PARTITIONCOUNT=636`.
pub fn with_number(text: &str, key: &str, number: u64) -> Option<String> {
    let at = text.find(key)? + key.len();
    let rest = &text[at..];
    let from = rest.find(|c: char| c.is_ascii_digit())?;
    if rest[..from].trim() != "=" {
        return None;
    }
    let to = rest[from..]
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len() - from);
    Some(format!(
        "{}{number}{}",
        &text[..at + from],
        &rest[from + to..]
    ))
}

/// Sends one side of a join to every vertex: `LEFT OUTER BROADCASTRIGHT JOIN`.
pub fn broadcast(
    script: &Script,
    statement: &Statement,
    join: usize,
    side: Side,
) -> Option<Rewrite> {
    let join = statement.query.joins.get(join)?;
    let text = script.slice(&join.keyword_span);
    let words = broadcast_words(text, join.kind, side)?;
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, join.keyword_span.clone(), words);
    Some(rewrite)
}

/// The words of a join with the strategy in them. A side that keeps rows without a
/// match cannot be the copied one.
pub fn broadcast_words(words: &str, kind: JoinKind, side: Side) -> Option<String> {
    let allowed = match (side, kind) {
        (_, JoinKind::Inner) => true,
        (Side::Right, kind) => {
            matches!(
                kind,
                JoinKind::LeftOuter | JoinKind::LeftSemi | JoinKind::LeftAntiSemi
            )
        }
        (Side::Left, kind) => {
            matches!(
                kind,
                JoinKind::RightOuter | JoinKind::RightSemi | JoinKind::RightAntiSemi
            )
        }
    };
    let strategies = job::script::hints::JOIN_STRATEGIES;
    let has_strategy = words
        .split_whitespace()
        .any(|word| strategies.contains(&word));
    let last = words.split_whitespace().next_back()?;
    if !allowed || has_strategy || !last.ends_with("JOIN") {
        return None;
    }
    let strategy = if side == Side::Right {
        "BROADCASTRIGHT"
    } else {
        "BROADCASTLEFT"
    };
    let before = words[..words.len() - last.len()].trim_end();
    let before = if before.is_empty() { "INNER" } else { before };
    Some(format!("{before} {strategy} {last}"))
}
