//! Rows that an operator drops or keeps: a filter, a join, an aggregation.

use report::format::{Ratio, Share};
use report::measure::{Entity, Formula, Origin, Value, book};
use report::{Text, text};

use super::{Query, Row};
use crate::said::Said;
use crate::subject::Subject;
use crate::word::{Thing, Word};

/// Operators named.
const SHOWN: usize = 4;

/// Says the rows into and out of the operators. Returns false if the question is about something else.
pub(super) fn answer(said: &mut Said<'_>, query: &Query<'_>) -> bool {
    let is_lost = query.names(Thing::Executor) && query.has(Word::Lost);
    // "how much task time was lost?"
    let is_other = query.scan.words.iter().any(|w| matches!(w, Word::Of(_)));
    // "where is the most time lost?"
    let is_time = query.has(Word::Time) && !query.has(Word::Rows);
    if is_other
        || is_time
        || !query.has(Word::Passed)
        || is_lost
        || query.is_about_outputs()
        || query.has(Word::Rate)
    {
        return false;
    }
    let mut rows = operators(query);
    if rows.len() > 1 && rows.iter().any(changes) {
        rows.retain(changes);
    }
    both(said, query, &rows[..rows.len().min(SHOWN)])
}

/// Whether an operator produces other rows than it takes in.
pub(super) fn changes(row: &Row<'_>) -> bool {
    let both = row.values.get(&book::ROWS_TAKEN);
    both.zip(row.values.get(&book::OPERATOR_ROWS))
        .is_some_and(|(taken, out)| taken != out)
}

/// Says the rows into and out of some operators. Returns false if none has both.
pub(super) fn both(said: &mut Said<'_>, query: &Query<'_>, rows: &[Row<'_>]) -> bool {
    let mut any = false;
    for row in rows {
        let measures = [&book::OPERATOR_ROWS, &book::ROWS_TAKEN];
        any |= query.both(
            said,
            std::slice::from_ref(row),
            measures,
            |_, out, taken| sentence(query, row, out, taken),
        );
    }
    any
}

/// The operators that are named, else those that drop or multiply rows.
fn operators<'a>(query: &Query<'a>) -> Vec<Row<'a>> {
    let mut rows = query.rows(Entity::Operator);
    if query.keywords().next().is_none() && query.entity() != Entity::Operator {
        let of_input = |s: &Subject| matches!(s, Subject::Input(_));
        // an input is filtered where it is read
        let all = match query.subjects.iter().any(of_input) {
            true => 1,
            false => usize::MAX,
        };
        let drops = "transform|join|combine|reduce|aggregate|partial_aggregate|process";
        rows.retain(|row| {
            row.operator
                .is_some_and(|o| drops.split('|').take(all).any(|k| k == o.kind))
        });
    }
    rows
}

/// The rows of each input of an operator, in brackets.
fn sides(query: &Query<'_>, row: &Row<'_>) -> Text {
    let taken = row.values.value(&book::ROWS_TAKEN).map(Value::origin);
    let Some(Origin::Formula(Formula::Sum, parts)) = taken else {
        return Text::default();
    };
    let shown = parts
        .iter()
        .map(|part| book::ROWS_TAKEN.shown(part.number(), query.run.vertex()));
    let shown: Vec<Text> = shown.collect();
    text!(
        "（{sides}）",
        " ({sides})",
        sides = Text::joined(&shown, [" 和 ", " and "])
    )
}

/// The rows into and out of an operator.
fn sentence(query: &Query<'_>, row: &Row<'_>, out: f64, taken: f64) -> Text {
    let shown = |n: f64| book::OPERATOR_ROWS.shown(n, query.run.vertex());
    let (name, a, b) = (&row.name, shown(taken), shown(out));
    let kind = row.operator.map_or("", |o| o.kind.as_str());
    match out <= taken {
        // rows of two sides and rows of pairs can't be compared
        _ if matches!(kind, "join" | "combine") => text!(
            "{name} 的各输入共 {a}{sides}，输出 {b}（{ratio}）",
            "{name} takes in {a} from all its inputs{sides} and produces {b} ({ratio})",
            a = a,
            sides = sides(query, row),
            b = b,
            ratio = Ratio(out / taken)
        ),
        true => text!(
            "{name} 读入 {a}，输出 {b}（{kept}），减少 {lost}（{share}）",
            "{name} takes in {a} and produces {b} ({kept}), {lost} fewer ({share})",
            a = a,
            b = b,
            kept = Share(out / taken),
            lost = shown(taken - out),
            share = Share(1.0 - out / taken)
        ),
        false => text!(
            "{name} 读入 {a}，输出 {b}，为原来的 {ratio}",
            "{name} takes in {a} and produces {b}, {ratio} as many",
            a = a,
            b = b,
            ratio = Ratio(out / taken)
        ),
    }
}
