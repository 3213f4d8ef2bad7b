//! Where something is in the script.

use job::script::{Statement, StatementKind};
use report::text;

use super::Query;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Thing;
use crate::word::Word::*;
use crate::{mention, thing};

/// Statements named.
const SHOWN: usize = 5;

/// Says the lines of the named statements, or of those with a keyword. Returns false if the question is about something else.
pub(super) fn answer(said: &mut Said<'_>, query: &Query<'_>) -> bool {
    let is_number = query.scan.has_any(&[Number, Rows, Time, Bytes]);
    let asks = query.has(Which) || query.names(Thing::File);
    let others = [
        In,
        Most,
        Least,
        Noun(Thing::Stage),
        Noun(Thing::Vertex),
        Noun(Thing::Operator),
        Noun(Thing::Column),
    ];
    let is_written = query.has(Out)
        && asks
        && !query.intent.is_polar()
        && !is_number
        && !query.scan.has_any(&others);
    if is_written && written(said, query) {
        return true;
    }
    // "in which stage does SessionReducer run?"
    let of_script = !query.of_script.is_empty() && query.names(Thing::Stage) && query.has(Which);
    if !query.has(Place) && !of_script || is_number {
        return false;
    }
    if query.run.summary.script.is_none() {
        return false;
    }
    let statements = query.run.statements();
    let mut found: Vec<&Statement> = Vec::new();
    for subject in &query.subjects {
        let is_it = |s: &&Statement| match subject {
            Subject::Lines(first, last) => s.lines.0 <= *first && *last <= s.lines.1,
            Subject::Operator(stage, at) => {
                let line = query.run.summary.stages[*stage].operators[*at].line;
                line.is_some_and(|line| (s.lines.0..=s.lines.1).contains(&line))
            }
            _ => false,
        };
        found.extend(statements.iter().filter(is_it));
    }
    let text = |s: &Statement| query.run.text_of(s);
    if found.is_empty() && matches!(query.subjects[..], [Subject::Job]) {
        let keywords: Vec<&str> = query.keywords().collect();
        let has = |s: &&Statement| keywords.iter().any(|k| has_word(text(s), k));
        found.extend(statements.iter().filter(has));
    }
    for statement in found.iter().take(SHOWN) {
        say(said, query, statement);
    }
    if let more @ 1.. = found.len().saturating_sub(SHOWN) {
        said.say(text!("另外还有 {more} 处", "There are {more} more"));
    }
    !found.is_empty()
}

/// Quotes the statements that write the named rows, with the declarations of their paths.
fn written(said: &mut Said<'_>, query: &Query<'_>) -> bool {
    if query.run.summary.script.is_none() {
        return false;
    }
    let statements = query.run.statements();
    let text = |s: &Statement| query.run.text_of(s);
    let names = |s: &Statement, of: &Statement| {
        let target = of.target.as_deref().unwrap_or_default();
        !target.is_empty() && has_word(text(s), &target.trim_start_matches('@').to_uppercase())
    };
    let is_named = |of: &&Statement| {
        query
            .subjects
            .contains(&Subject::Lines(of.lines.0, of.lines.1))
    };
    let named: Vec<&Statement> = statements.iter().filter(is_named).collect();
    let is_whole = query.subjects == [Subject::Job];
    let is_of = |s: &Statement| is_whole || named.iter().any(|of| names(s, of));
    let writes = |s: &&Statement| s.kind == StatementKind::Output && is_of(s);
    let outputs: Vec<&Statement> = statements.iter().filter(writes).collect();
    for output in outputs.iter().take(SHOWN) {
        thing::quote(said, query.run, output.lines.0, output.lines.1);
        let declares = |s: &&Statement| s.kind == StatementKind::Declare && names(output, s);
        for declared in statements.iter().filter(declares) {
            thing::quote(said, query.run, declared.lines.0, declared.lines.1);
        }
    }
    !outputs.is_empty()
}

/// Whether a text has a keyword as a whole word, in any case.
pub(super) fn has_word(text: &str, keyword: &str) -> bool {
    mention::has(&text.to_uppercase(), keyword)
}

fn say(said: &mut Said<'_>, query: &Query<'_>, statement: &Statement) {
    let (first, last) = statement.lines;
    let script = query.run.summary.script.iter();
    let lines = script.flat_map(|s| s.text.lines().zip(1..));
    let own = lines.filter(|(_, line)| (first..=last).contains(line));
    let has = |text: &str| {
        query
            .of_script
            .iter()
            .any(|word| has_word(text, &word.to_uppercase()))
    };
    for (text, line) in own.filter(|(text, _)| has(text)) {
        let text = text.trim();
        said.say(text!(
            "脚本第 {line} 行：`{text}`",
            "Script line {line}: `{text}`"
        ));
    }
    thing::quote(said, query.run, first, last);
    thing::run_by(said, query.run, first, last);
}
