//! How the values of a column are spread.

use report::format::{DISTINCT_VALUE, ROW, Share, VERTEX};
use report::measure::book;
use report::{Text, text};
use runs::{ColumnSummary, InputSummary};

use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word;

/// Evidence of the size of an input.
pub(crate) fn evidence_of_input(said: &mut Said<'_>, input: &InputSummary) -> Vec<String> {
    let values: Vec<_> = input.values.iter().collect();
    said.evidence_of_all(&values, &input.name, VERTEX)
}

/// Says how the values of a column are spread in each input.
pub(crate) fn spread(said: &mut Said<'_>, run: &Asked<'_>, name: &str) {
    let known = run
        .summary
        .inputs
        .iter()
        .flat_map(|i| i.columns.iter().map(move |c| (i, c)));
    for (input, column) in known.filter(|(_, c)| c.name == name) {
        let mut ids = evidence_of_input(said, input);
        for (measure, value) in column.values.iter() {
            ids.extend(said.evidence_of(measure, value, name, VERTEX));
        }
        say_values(said, input, column, &ids);
    }
}

fn say_values(said: &mut Said<'_>, input: &InputSummary, column: &ColumnSummary, ids: &[String]) {
    let (table, values) = (&input.name, values(column, input.get(&book::STORED_ROWS)));
    let sentence = text!(
        "{table} 中的 {values}",
        "In {table}, {values}",
        values = values
    );
    said.cite(sentence, ids);
}

/// Says how many rows the most frequent value of a column is in, if a question names that value. Returns false for any other question.
pub(crate) fn of_value(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let begun = said.len();
    let asks = [Word::Rows, Word::Share, Word::Number];
    let is_named = |at: usize| {
        let mut inputs = intent
            .subjects
            .iter()
            .filter(|s| matches!(s, Subject::Input(_)))
            .peekable();
        inputs.peek().is_none() || inputs.any(|s| *s == Subject::Input(at))
    };
    let inputs = run.summary.inputs.iter().enumerate();
    let columns = inputs
        .filter(|(at, _)| is_named(*at))
        .flat_map(|(_, i)| i.columns.iter().map(move |c| (i, c)));
    for (input, column) in columns.filter(|_| intent.reading.has_any(&asks) && !intent.asks_why()) {
        let is_it = |(value, _): &&(String, u64)| {
            intent
                .names
                .iter()
                .any(|name| name.eq_ignore_ascii_case(value))
        };
        if column.top.as_ref().filter(is_it).is_some() {
            let rows = input.values.value(&book::STORED_ROWS);
            let ids = rows.map(|v| said.evidence_of(&book::STORED_ROWS, v, &input.name, VERTEX));
            say_values(said, input, column, &ids.unwrap_or_default());
        }
    }
    said.len() > begun
}

/// How the values of a column are spread.
pub(crate) fn values(column: &ColumnSummary, rows: Option<f64>) -> Text {
    let name = &column.name;
    let distinct = match column.get(&book::DISTINCT) {
        Some(n) => text!(" 有 {n}", " has {n}", n = DISTINCT_VALUE.count(n)),
        None => Text::default(),
    };
    let share = |n: f64| match rows.filter(|rows| *rows > 0.0) {
        Some(rows) => text!("，占 {share}", ", {share}", share = Share(n / rows)),
        None => Text::default(),
    };
    let top = match &column.top {
        Some((value, n)) => text!(
            "，最多的值 `{value}` 有 {n}{share}",
            ", its most frequent value `{value}` is in {n}{share}",
            n = ROW.count(*n as f64),
            share = share(*n as f64)
        ),
        None => Text::default(),
    };
    let nulls = match column.get(&book::NULLS) {
        Some(n) if n > 0.0 => text!(
            "，空值 {n}{share}",
            ", null in {n}{share}",
            n = ROW.count(n),
            share = share(n)
        ),
        _ => Text::default(),
    };
    text!(
        "{name}{distinct}{top}{nulls}",
        "{name}{distinct}{top}{nulls}",
        distinct = distinct,
        top = top,
        nulls = nulls
    )
}
