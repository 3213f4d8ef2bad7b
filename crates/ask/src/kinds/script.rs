//! Clauses and names of the script: whether it has them, and where.

use job::script::{Statement, StatementKind};
use report::format::Ratio;
use report::measure::book;
use report::text;

use super::{has, some, stages};
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::*;
use crate::word::{Cue, Quantity};
use crate::{Asked, mention, polar, record, thing};

/// Statements that are quoted, and readers named.
const SHOWN: usize = 2;

/// A hint is accurate below this ratio of its rows to the actual ones.
const ACCURATE: f64 = 1.5;

/// Clauses by the words of questions, with the text that the script has for them.
#[rustfmt::skip]
const CLAUSES: &[(&str, &str)] = &[
    ("过期|保留多久|保留几天|保存多久|保存几天|有效期|expire|expires|expiry|expiration|expired|streamexpiry|retention|retained|ttl|kept for|keep it for", "EXPIRY"),
    ("clustered by|聚簇", "CLUSTERED BY"),
];

/// Quotes the statements with a clause or a hint that a question names; for yes or no, whether there is one.
pub(super) fn clause(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let text = intent.reading.text();
    let named = CLAUSES
        .iter()
        .find(|(words, _)| words.split('|').any(|w| has(text, w)));
    let is_capitals = |word: &&str| word.bytes().all(|b| b.is_ascii_uppercase());
    let hint = polar::hints_in(&intent.text).find(is_capitals);
    // "is the hint in line 79 a problem?" asks for its findings
    let has_lines = |s: &Subject| matches!(s, Subject::Lines(..));
    let is_judged = intent.asks(Quantity::Verdict) && intent.subjects.iter().any(has_lines);
    let is_other = is_judged
        || intent.asks_why()
        || intent.asks(Quantity::Remedy)
        || intent.asks(Quantity::Gain);
    let Some(keyword) = named
        .map(|(_, keyword)| *keyword)
        .or(hint)
        .filter(|_| !is_other)
    else {
        return false;
    };
    let Some(script) = &run.summary.script else {
        return false;
    };
    let text = |s: &Statement| run.text_of(s).to_uppercase();
    let in_lines = |s: &Statement| {
        let mut places = intent
            .subjects
            .iter()
            .filter_map(|subject| match subject {
                Subject::Lines(a, b) => Some((*a, *b)),
                Subject::Operator(at, o) => run.summary.stages[*at].operators[*o]
                    .line
                    .map(|line| (line, line)),
                _ => None,
            })
            .peekable();
        places.peek().is_none() || places.any(|(a, b)| s.lines.0 <= b && a <= s.lines.1)
    };
    let all = run
        .statements()
        .iter()
        .filter(|s| s.kind != StatementKind::Declare);
    let found: Vec<&Statement> = all
        .filter(|s| text(s).contains(keyword) && in_lines(s))
        .collect();
    said.affirm(!found.is_empty());
    if found.is_empty() {
        said.say(text!(
            "脚本中没有 {keyword}",
            "The script has no {keyword} there"
        ));
        return true;
    }
    for s in found.iter().take(SHOWN) {
        let lines = script.text.lines().zip(1u32..);
        let own = lines.filter(|(line, at)| {
            (s.lines.0..=s.lines.1).contains(at) && line.to_uppercase().contains(keyword)
        });
        own.for_each(|(line, at)| {
            let line = line.trim();
            said.say(text!(
                "脚本第 {at} 行：`{line}`",
                "Script line {at}: `{line}`"
            ));
        });
        thing::quote(said, run, s.lines.0, s.lines.1);
    }
    true
}

/// Says whether the job uses an input or a name of its script.
pub(super) fn usage(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let asks = intent.reading.shows(Cue::Uses) && intent.reading.asks_yes_no();
    let others = [Most, Least, Apart, Times, Number];
    if !asks || intent.reading.has_any(&others) || !stages(intent).is_empty() {
        return false;
    }
    let inputs = intent.subjects.iter().filter_map(|s| match s {
        Subject::Input(at) => Some(&run.summary.inputs[*at]),
        _ => None,
    });
    let inputs: Vec<_> = inputs.collect();
    let knows_readers = run.operators().any(|o| o.reads.is_some());
    for input in inputs.iter().filter(|_| knows_readers) {
        let by = record::readers(run, input).map(|(stage, o)| format!("{stage}/{}", o.id));
        let by: Vec<String> = by.collect();
        let (name, shown) = (&input.name, some(&by, SHOWN * 2, said.language()));
        said.affirm(!by.is_empty());
        said.say(match by.is_empty() {
            true => text!("没有语句读取 {name}", "No statement reads {name}"),
            false => text!("{name} 由 {shown} 读取", "{name} is read by {shown}"),
        });
    }
    let names: Vec<&String> = match inputs.is_empty() {
        true => intent
            .names
            .iter()
            .filter(|_| intent.unknown.is_empty())
            .collect(),
        false => inputs.iter().map(|i| &i.name).collect(),
    };
    for name in names {
        used(said, run, name);
    }
    said.len() > 0
}

/// Says the hints of the script with their lines, and how far a number of rows is off.
pub(super) fn hints(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let asks = reading.has_any(&[Rows, Apart, Times, Estimated, Place, Number]);
    let is_other =
        intent.asks_why() || intent.asks(Quantity::Remedy) || intent.asks(Quantity::Gain);
    let is_capitals = |word: &&str| word.bytes().all(|b| b.is_ascii_uppercase());
    let named: Vec<&str> = polar::hints_in(&intent.text).filter(is_capitals).collect();
    let is_named = !named.is_empty() && reading.has_any(&[Apart, Estimated]);
    if !reading.shows(Cue::Hint) && !is_named || !asks || is_other {
        return false;
    }
    let Some(script) = &run.summary.script else {
        return false;
    };
    let of_rows = reading.has_any(&[Rows, Apart, Estimated]);
    let begun = said.len();
    let hinted = run
        .statements()
        .iter()
        .flat_map(|s| s.hints.iter().map(move |h| (s, h)));
    let hinted: Vec<_> = hinted
        .filter(|(_, h)| !of_rows || h.name.contains("ROWCOUNT"))
        .filter(|(_, h)| named.is_empty() || named.iter().any(|name| h.name.contains(name)))
        .collect();
    for (s, hint) in hinted.into_iter().take(SHOWN * 2) {
        let before = script.text.get(..hint.span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let value = hint
            .value
            .as_deref()
            .map_or(String::new(), |value| format!("={value}"));
        let name = &hint.name;
        said.say(text!(
            "脚本第 {line} 行的提示是 {name}{value}",
            "The hint in script line {line} is {name}{value}"
        ));
        let claimed = hint
            .value
            .as_deref()
            .and_then(|v| v.trim().parse::<f64>().ok());
        // the statement itself, else the one that it reads
        let reads = |of: &&Statement| {
            let target = of.target.as_deref().unwrap_or_default();
            of.lines < s.lines && !target.is_empty() && run.text_of(s).contains(target)
        };
        let own = std::iter::once(s).chain(run.statements().iter().filter(reads));
        let rows_of = |s: &Statement| {
            let is_there = |line: u32| (s.lines.0..=s.lines.1).contains(&line);
            let stages = run.summary.stages.iter();
            let all = stages.flat_map(|stage| stage.operators.iter().map(move |o| (stage, o)));
            let mut there = all.filter(|(_, o)| o.line.is_some_and(is_there));
            there.find_map(|(stage, o)| Some((stage, o, o.values.value(&book::OPERATOR_ROWS)?)))
        };
        let actual = own.into_iter().find_map(rows_of);
        if let Some((claimed, (stage, o, value))) = claimed.filter(|_| of_rows).zip(actual) {
            let ids = said.evidence_of(
                &book::OPERATOR_ROWS,
                value,
                &o.name_in(&stage.name),
                run.vertex(),
            );
            let (more, less) = (
                claimed.max(value.number()),
                claimed.min(value.number()).max(1.0),
            );
            said.affirm(more / less < ACCURATE);
            said.cite(
                text!(
                    "实际是 {rows}，提示是实际的 {ratio}",
                    "There are {rows}, so the hint is off by a factor of {by}",
                    rows = book::OPERATOR_ROWS.shown(value.number(), run.vertex()),
                    ratio = Ratio(claimed / value.number().max(1.0)),
                    by = Ratio(more / less)
                ),
                &ids,
            );
        }
    }
    said.len() > begun
}

/// The text of a statement without its comments.
fn code_of(run: &Asked<'_>, s: &Statement) -> String {
    let lines = run.text_of(s).lines();
    let code = lines.map(|line| line.split("//").next().unwrap_or(line));
    code.collect::<Vec<_>>().join("\n")
}

/// Says the statements that use a name, besides its declaration.
fn used(said: &mut Said<'_>, run: &Asked<'_>, name: &str) {
    let mut parts = name.rsplit(['/', '.']);
    let own = parts.find(|part| part.len() > 3).unwrap_or(name);
    // a column is declared as `Payload: string`
    let is_column = |s: &Statement| {
        let text = code_of(run, s);
        let mut places = text.match_indices(own);
        let has_type =
            |(at, _): (usize, &str)| text[at + own.len()..].trim_start().starts_with(':');
        s.kind == StatementKind::Extract && places.any(has_type)
    };
    let declares = |s: &&Statement| {
        let is_declared = s.kind == StatementKind::Declare || is_column(s);
        is_declared && mention::has(&code_of(run, s), own)
    };
    let all = run.statements();
    if all.is_empty() {
        return;
    }
    let declared: Vec<&Statement> = all.iter().filter(declares).collect();
    let named = declared.iter().filter(|s| s.kind == StatementKind::Declare);
    let named = named.filter_map(|s| s.target.as_deref());
    let names: Vec<&str> = named
        .map(|name| name.trim_start_matches('@'))
        .chain([own])
        .collect();
    let uses =
        |s: &&Statement| !declares(s) && names.iter().any(|n| mention::has(&code_of(run, s), n));
    let uses: Vec<&Statement> = all.iter().filter(uses).collect();
    said.affirm(!uses.is_empty());
    match (uses.first(), declared.first()) {
        (Some(first), _) => {
            thing::quote(said, run, first.lines.0, first.lines.1);
        }
        (None, first) => {
            said.say(text!(
                "脚本中没有语句使用 {name}",
                "No statement of the script uses {name}"
            ));
            if let Some(s) = first {
                thing::quote(said, run, s.lines.0, s.lines.1);
            }
        }
    }
}
