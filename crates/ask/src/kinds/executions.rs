//! Queries of an application: one by its position, and those that a name or a call is in.

use report::format::{Number as Count, Ratio, Seconds, cut};
use report::measure::book;
use report::text;
use runs::ExecutionSummary;

use super::{has, is_whole, some};
use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::word::Thing;
use crate::word::Word::*;

/// Queries named, and characters of a description.
const SHOWN: usize = 5;
const DESCRIPTION: usize = 60;

/// Positions by their words; the last one is `None`.
#[rustfmt::skip]
const ORDINALS: &[(Option<usize>, &str)] = &[
    (Some(0), "first|1st|第一|第 1|第1"), (Some(1), "second|2nd|第二|第 2|第2"), (Some(2), "third|3rd|第三|第 3|第3"),
    (Some(3), "fourth|4th|第四|第 4|第4"), (Some(4), "fifth|5th|第五|第 5|第5"), (None, "last|最后"),
];

fn millis(e: &ExecutionSummary) -> f64 {
    e.values.get(&book::EXECUTION_TIME).unwrap_or(0.0)
}

/// The queries with a name of the question in their description or, if the question speaks of queries, any of its words.
fn group<'a>(
    run: &Asked<'a>,
    intent: &Intent,
    is_named: bool,
) -> Option<Vec<&'a ExecutionSummary>> {
    let (reading, all) = (&intent.reading, &run.summary.executions);
    let words = intent.names.iter().map(String::as_str);
    let left = reading
        .left
        .iter()
        .map(String::as_str)
        .filter(|w| w.len() > 3 && is_named);
    let mut words = words.chain(left);
    let description =
        |e: &ExecutionSummary| e.description.as_deref().unwrap_or_default().to_lowercase();
    let group = words.find_map(|word| {
        let word = word.to_lowercase();
        let own = all.iter().filter(|e| description(e).contains(&word));
        Some(own.collect::<Vec<_>>()).filter(|own| !own.is_empty())
    });
    // "the first() of report.py:15"
    let narrower = intent.text.split(|c: char| !c.is_ascii_alphanumeric());
    group.map(|group| {
        narrower
            .filter(|word| word.len() > 1)
            .fold(group, |group, word| {
                let word = word.to_lowercase();
                let own = group
                    .iter()
                    .copied()
                    .filter(|e| has(&description(e), &word));
                let own: Vec<&ExecutionSummary> = own.collect();
                if own.is_empty() { group } else { own }
            })
    })
}

pub(super) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let all = &run.summary.executions;
    let is_named = reading.has(Noun(Thing::Execution));
    if all.is_empty() || !is_whole(intent) || intent.asks_why() {
        return false;
    }
    let group = group(run, intent, is_named);
    if !is_named && group.is_none() {
        return false;
    }
    let is_part = group.is_some();
    let mut meant: Vec<&ExecutionSummary> = group.unwrap_or_else(|| all.iter().collect());
    let text = reading.text();
    let is_in = |words: &str| words.split('|').any(|word| text.contains(word));
    let names_one = is_named && !is_part && !reading.has(Number);
    let ordinal = ORDINALS.iter().find(|(_, words)| names_one && is_in(words));
    if let Some((at, _)) = ordinal {
        let chosen = at.map_or(meant.last(), |at| meant.get(at)).copied();
        chosen.iter().for_each(|e| one(said, run, e));
        return chosen.is_some();
    }
    let compares = reading.has_any(&[Most, Least, Apart, Times]);
    let is_apart = reading.has_any(&[Apart, Times]) && reading.has(Most);
    if !is_part && !is_apart {
        return false;
    }
    meant.sort_by(|a, b| millis(b).total_cmp(&millis(a)));
    let count = meant.len();
    let counts = [Number, Record(crate::word::Record::Reads)];
    if reading.has_any(&counts) || !compares {
        said.say(text!(
            "这样的查询有 {count} 个",
            "Such queries: {count}",
            count = Count(count as f64)
        ));
    }
    if reading.has(Least) && !reading.has(Most) {
        meant.reverse();
    }
    meant.iter().take(1).for_each(|e| one(said, run, e));
    let [first, .., last] = meant[..] else {
        return true;
    };
    if reading.has_any(&[Apart, Times]) || reading.has(Least) && reading.has(Most) {
        one(said, run, last);
        difference(
            said,
            millis(first).max(millis(last)),
            millis(first).min(millis(last)),
        );
    }
    others(said, &meant[1..count - 1]);
    true
}

/// Says how far two times are apart.
fn difference(said: &mut Said<'_>, a: f64, b: f64) {
    said.say(text!(
        "相差 {gap}，为 {ratio}",
        "A difference of {gap}, {ratio}",
        gap = Seconds((a - b) / 1e3),
        ratio = Ratio(a / b.max(1.0))
    ));
}

/// Lists a few queries with their times.
fn others(said: &mut Said<'_>, rest: &[&ExecutionSummary]) {
    let language = said.language();
    let time =
        |e: &ExecutionSummary| text!("{t}", "{t}", t = Seconds(millis(e) / 1e3)).into(language);
    let rest = rest.iter().map(|e| format!("{} ({})", named(e), time(e)));
    let rest: Vec<String> = rest.collect();
    if !rest.is_empty() && rest.len() <= SHOWN {
        let rest = some(&rest, SHOWN, language);
        said.say(text!("其余：{rest}", "The others: {rest}"));
    }
}

fn named(e: &ExecutionSummary) -> String {
    let description = cut(e.description.as_deref().unwrap_or_default(), DESCRIPTION);
    format!("execution {} ({description})", e.id)
}

/// Says the time of a query.
fn one(said: &mut Said<'_>, run: &Asked<'_>, e: &ExecutionSummary) {
    if let Some(value) = e.values.value(&book::EXECUTION_TIME) {
        said.say_value(&book::EXECUTION_TIME, value, &named(e), run.vertex());
    }
}
