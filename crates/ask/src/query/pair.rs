//! Sentences about two values: estimates and actual rows, amounts per second or per file, differences.

use report::format::{Change, Ratio};
use report::measure::{Entity, Measure, Unit, book};
use report::{Text, text};

use super::Query;
use super::rows::Row;
use crate::said::Said;

/// A ratio of two values below which their difference is a percentage.
const ALIKE: f64 = 1.1;

/// Things that a ranking names.
pub(super) const RANKED: usize = 3;

impl Query<'_> {
    /// Says a sentence about each thing with both values; the second one is not 0.
    pub(super) fn both(
        &self,
        said: &mut Said<'_>,
        rows: &[Row<'_>],
        [a, b]: [&'static Measure; 2],
        sentence: impl Fn(&str, f64, f64) -> Text,
    ) -> bool {
        let begun = said.len();
        for row in rows {
            let values = row.values.value(a).zip(row.values.value(b));
            if let Some((x, y)) = values.filter(|(_, y)| y.number() > 0.0) {
                let ids = said.evidence_of_all(&[(a, x), (b, y)], &row.name, self.run.vertex());
                said.cite(sentence(&row.name, x.number(), y.number()), &ids);
            }
        }
        said.len() > begun
    }

    /// Says the expected and the actual rows; without a name, where they are furthest apart.
    pub(super) fn estimates(
        &self,
        said: &mut Said<'_>,
        entity: Entity,
        rows: Vec<Row<'_>>,
    ) -> bool {
        let (mut rows, expected, real) = match entity {
            Entity::Input => (rows, &book::EXPECTED_ROWS, &book::STORED_ROWS),
            Entity::Operator => (rows, &book::ESTIMATED_ROWS, &book::OPERATOR_ROWS),
            _ => {
                let all = self.rows(Entity::Operator);
                (all, &book::ESTIMATED_ROWS, &book::OPERATOR_ROWS)
            }
        };
        let off = |row: &Row<'_>| {
            let [a, b] = [expected, real].map(|m| row.values.get(m).unwrap_or(0.0).max(1.0));
            (a / b).max(b / a)
        };
        let knows = |r: &Row<'_>, measure| r.values.value(measure).is_some();
        let has_both = |r: &Row<'_>| knows(r, expected) && knows(r, real);
        if !rows.iter().any(has_both) {
            let estimated: Vec<Row<'_>> = rows.into_iter().filter(|r| knows(r, expected)).collect();
            if estimated.is_empty() {
                said.say(text!(
                    "没有文件给出估计的行数",
                    "No file gives the estimated rows"
                ));
                return true;
            }
            return self.say(said, &estimated, &[expected]);
        }
        rows.retain(has_both);
        rows.sort_by(|a, b| off(b).total_cmp(&off(a)));
        rows.truncate(RANKED);
        let vertex = self.run.vertex();
        self.both(said, &rows, [real, expected], |name, actual, estimate| {
            text!(
                "{name}：估计 {a}，实际 {b}（实际是估计的 {ratio}）",
                "{name}: {a} estimated, {b} actual ({ratio} the estimate)",
                a = expected.shown(estimate, vertex),
                b = real.shown(actual, vertex),
                ratio = Ratio(actual / estimate)
            )
        })
    }

    /// Says rows or bytes per second, or bytes per file.
    pub(super) fn rate(
        &self,
        said: &mut Said<'_>,
        rows: &[Row<'_>],
        measures: &[&'static Measure],
    ) -> bool {
        let vertex = self.run.vertex();
        let amounts = measures.iter().copied();
        let amounts = amounts.filter(|m| matches!(m.unit, Unit::Rows | Unit::Bytes));
        let mut any = false;
        for measure in amounts {
            let (over, each, unit) = match measure.entity {
                Entity::Input => (&book::STORED_FILES, text!("每个", "each on average"), 1.0),
                Entity::Stage => (&book::SPAN, text!("每秒", "per second"), 1e3),
                _ => (&book::OWN_TIME, text!("每秒", "per second"), 1e3),
            };
            any |= self.both(said, rows, [measure, over], |name, amount, n| {
                text!(
                    "{name}：{amount}，{title} {over}，{each} {rate}",
                    "{name}: {amount}, {over} ({title}), {rate} {each}",
                    amount = measure.shown(amount, vertex),
                    over = over.shown(n, vertex),
                    title = over.title(vertex),
                    rate = measure.shown(amount / n * unit, vertex),
                    each = each.clone()
                )
            });
        }
        any
    }
}

/// Says the difference of two values; of different things, which one has more.
pub(super) fn apart(
    said: &mut Said<'_>,
    [one, other]: [Text; 2],
    [x, y]: [f64; 2],
    measure: &'static Measure,
    (of_things, vertex): (bool, report::format::Noun),
) {
    let ([one, other], [x, y]) = match x < y {
        true => ([other, one], [y, x]),
        false => ([one, other], [x, y]),
    };
    let ratio = match (x > 0.0, y > 0.0) {
        (true, true) if x / y < ALIKE => text!("（{by}）", " ({by})", by = Change::between(y, x)),
        (true, true) => text!("，为 {ratio}", ", {ratio}", ratio = Ratio(x / y)),
        _ => Text::default(),
    };
    let n = measure.shown((x - y).abs(), vertex);
    let is_time = matches!(measure.unit, Unit::Ms | Unit::Seconds);
    let than = match (of_things, is_time) {
        (false, _) => text!(
            "{one} 与 {other}",
            "{one} against {other}",
            one = one,
            other = other
        ),
        (true, true) => text!(
            "{one} 比 {other} 长，",
            "{one} is longer than {other}",
            one = one,
            other = other
        ),
        (true, false) => text!(
            "{one} 比 {other} 多，",
            "{one} has more than {other}",
            one = one,
            other = other
        ),
    };
    said.say(text!(
        "{than}相差 {n}{ratio}",
        "{than}: a difference of {n}{ratio}",
        than = than,
        n = n,
        ratio = ratio
    ));
}
