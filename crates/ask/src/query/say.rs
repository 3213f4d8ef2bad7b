//! Sentences about values: each of them, their list, ranking, sum, share, ratio, difference and rate.

use report::Text;
use report::format::{Number, Share};
use report::measure::{Entity, Measure, Unit, book};
use report::text;

use super::Query;
use super::pair::{RANKED, apart};
use super::rows::Row;
use crate::said::{Said, names};
use crate::subject::Subject;
use crate::word::{Thing, Word};
use crate::{rank, record, thing};

/// Things with a sentence of their own; more are listed in one sentence.
const SENTENCES: usize = 2;

/// Things that one sentence lists.
const LISTED: usize = 8;

impl Query<'_> {
    /// Says each value, then their share, sum, ratio or difference if that is asked for.
    pub(super) fn say(
        &self,
        said: &mut Said<'_>,
        rows: &[Row<'_>],
        measures: &[&'static Measure],
    ) -> bool {
        let vertex = self.run.vertex();
        let mut known = Vec::new();
        let begun = said.len();
        let bytes = measures.iter().filter(|m| m.unit == Unit::Bytes);
        let bytes: Vec<&'static Measure> = bytes.copied().collect();
        // "which one reads more data?"
        let is_data = self.is_choice() && self.has(Word::Data) && !bytes.is_empty();
        let measures = if is_data { &bytes[..] } else { measures };
        for measure in measures {
            let of_rows = rows
                .iter()
                .filter_map(|r| Some((r, r.values.value(measure)?)));
            let of_rows: Vec<_> = of_rows.collect();
            let is_named = self
                .scan
                .phrases
                .iter()
                .any(|(words, _)| *words == [Word::Of(measure)]);
            if of_rows.is_empty() && measures.len() > 1 && is_named {
                self.unknown(said, rows, measure);
                continue;
            }
            known.extend(
                of_rows
                    .iter()
                    .map(|(row, value)| (*row, *measure, value.number())),
            );
            if of_rows.len() <= SENTENCES {
                for (row, value) in of_rows {
                    said.say_value(measure, value, &row.name, vertex);
                }
                continue;
            }
            let named = of_rows
                .iter()
                .map(|(row, value)| (row.name.clone(), *value));
            rank::list(
                said,
                measure,
                &named.collect::<Vec<_>>(),
                LISTED,
                false,
                vertex,
            );
        }
        let values = said.len();
        self.combined(said, measures, &known);
        if self.is_choice() {
            said.put_first(begun, values);
        }
        let of_vertex =
            |row: &&Row<'_>| is_of_one_input(row) && measures.contains(&&book::ROWS_MAX);
        if rows.iter().any(|row| of_vertex(&row)) {
            said.say(text!(
                "有多个输入的顶点，最多行数只是其中最大的一个输入的；没有文件给出一个顶点所有输入的行数",
                "For vertices with several inputs, that counts the largest input only; no file gives the rows of a vertex over all of them"
            ));
        }
        // the description of an input has the known values instead
        if known.is_empty() && measures.iter().any(|m| m.entity == Entity::Input) {
            return false;
        }
        if let (true, [_, ..], Some(measure)) = (known.is_empty(), rows, measures.first()) {
            self.unknown(said, rows, measure);
        }
        !rows.is_empty() && !measures.is_empty()
    }

    /// Says the sum, the share, the ratio or the difference of values if it is asked for.
    fn combined(
        &self,
        said: &mut Said<'_>,
        measures: &[&'static Measure],
        known: &[(&Row<'_>, &'static Measure, f64)],
    ) {
        let vertex = self.run.vertex();
        let is_sum = self.has(Word::Sum) && measures.len() == 1 && known.len() > 1;
        if let (true, Some((_, measure, _))) = (is_sum && is_additive(measures[0]), known.first()) {
            let total = known.iter().map(|(.., n)| n).sum();
            said.say(text!(
                "合计 {total}",
                "In all {total}",
                total = measure.shown(total, vertex)
            ));
        }
        if let (true, [(one, measure, n)]) = (self.has(Word::Share), known) {
            self.share(said, one, measure, *n);
        }
        // "which of the two reads more?" compares the values of each measure
        let compares = self.scan.has_any(&[Word::Times, Word::Apart]);
        let is_choice = self.is_choice();
        let by_measure = known.chunk_by(|a, b| a.1 == b.1 || known.len() == 2);
        for pair in by_measure.filter(|_| compares || is_choice) {
            let [(one, a, x), (other, b, y)] = *pair else {
                continue;
            };
            // "does SV2 read more than SV1?"
            if self.subjects.len() == 2 && one.name != other.name {
                let is_first = self.names_first(one);
                let is_more = if x > y { is_first } else { !is_first };
                said.affirm(x != y && is_more != self.has(Word::Least));
            }
            let label = |row: &Row<'_>, measure: &'static Measure| match one.name == other.name {
                true => measure.title(vertex),
                false => text!("{name}", "{name}", name = row.name),
            };
            if a.unit == b.unit {
                let labels = [label(one, a), label(other, b)];
                apart(said, labels, [x, y], a, (one.name != other.name, vertex));
            }
        }
    }

    /// Whether it asks which of two things it is.
    fn is_choice(&self) -> bool {
        self.scan.has_any(&[Word::Which, Word::Who]) && self.subjects.len() == 2
    }

    /// Whether the question names a thing before the others.
    fn names_first(&self, row: &Row<'_>) -> bool {
        match self.subjects.first() {
            Some(Subject::Stage(at)) => row.stage == Some(*at),
            Some(Subject::Input(at)) => self.run.summary.inputs[*at].name == row.name,
            _ => false,
        }
    }

    /// Says that no file gives a measure.
    fn unknown(&self, said: &mut Said<'_>, rows: &[Row<'_>], measure: &'static Measure) {
        let name = match rows {
            [row] => Some(row.name.as_str()),
            _ => None,
        };
        rank::unknown(said, measure, name, self.run.vertex());
    }

    /// Says the keys of operators and exchanges.
    pub(super) fn keys(&self, said: &mut Said<'_>, entity: Entity, rows: &[Row<'_>]) -> bool {
        let asks = self.has(Word::Key) || self.names(Thing::Column);
        if !asks || !matches!(entity, Entity::Operator | Entity::Exchange) {
            return false;
        }
        self.tell_keys(said, entity, rows)
    }

    pub(super) fn tell_keys(&self, said: &mut Said<'_>, entity: Entity, rows: &[Row<'_>]) -> bool {
        let known = rows
            .iter()
            .filter_map(|row| match (row.operator, row.edge) {
                (Some(o), _) if !o.keys.is_empty() => Some(runs::with_keys(&row.name, &o.keys)),
                (_, Some(e)) if e.keys.is_empty() => Some(format!("{} ({})", row.name, e.exchange)),
                (_, Some(e)) => Some(format!(
                    "{} ({}: {})",
                    row.name,
                    e.exchange,
                    e.keys.join(", ")
                )),
                _ => None,
            });
        let known: Vec<String> = known.take(LISTED).collect();
        if known.is_empty() {
            let begun = said.len();
            for row in rows.iter().take(SENTENCES) {
                let own = row.operator.zip(row.stage);
                own.iter().for_each(|(o, at)| {
                    record::arguments(said, &self.run.summary.stages[*at].name, o);
                });
            }
            return said.len() > begun;
        }
        let shown = names(&known, said.language());
        if !known.is_empty() {
            said.say(match entity {
                Entity::Exchange => text!("分区方式（键）：{shown}", "Partitioned by key: {shown}"),
                _ => text!("键：{shown}", "Keys: {shown}"),
            });
        }
        !known.is_empty()
    }

    fn share(&self, said: &mut Said<'_>, row: &Row<'_>, measure: &'static Measure, number: f64) {
        let all = self.all(measure.entity);
        let total: f64 = all.iter().filter_map(|r| r.values.get(measure)).sum();
        if total > 0.0 && is_additive(measure) {
            said.say(text!(
                "占全部{title}的 {share}（{name}）",
                "{name} has {share} of all {title}",
                title = measure.title(self.run.vertex()),
                share = Share(number / total),
                name = row.name
            ));
        }
    }

    /// Says which things have most or least of a measure.
    pub(super) fn ranked(
        &self,
        said: &mut Said<'_>,
        entity: Entity,
        mut rows: Vec<Row<'_>>,
        measures: &[&'static Measure],
    ) -> bool {
        let is_least = self.has(Word::Least);
        let is_data = self.has(Word::Data);
        let bytes = measures.iter().find(|m| m.unit == Unit::Bytes);
        let Some(measure) = bytes
            .filter(|_| is_data)
            .or(measures.first())
            .copied()
            .or_else(|| self.default_measure(entity))
        else {
            return false;
        };
        // the account of the time ranks stages by the critical path
        // the busiest executor is not the slowest
        let is_speed = *measure == book::EXECUTOR_BUSY && self.has(Word::Time);
        if *measure == book::SPAN && !is_least || is_speed || measure.entity != entity {
            return false;
        }
        let number = |row: &Row<'_>| row.values.get(measure).unwrap_or(0.0);
        rows.retain(|row| row.values.value(measure).is_some());
        rows.sort_by(|a, b| number(b).total_cmp(&number(a)));
        if is_least {
            rows.reverse();
        }
        self.first_of(said, measure, &rows);
        let inputs = &self.run.summary.inputs;
        let first = rows.first().filter(|_| entity == Entity::Input);
        let first = first.and_then(|row| inputs.iter().find(|i| i.name == row.name));
        let asks_layout = self.names(Thing::Partition) || self.has(Word::Key);
        first
            .filter(|_| asks_layout)
            .iter()
            .for_each(|input| thing::describe_input(said, input));
        // the rows of operators in a row are the same ones
        let adds = is_additive(measure) && entity != Entity::Operator;
        if self.has(Word::Sum) && adds {
            let total = rows.iter().map(number).sum();
            said.say(text!(
                "合计 {total}",
                "In all {total}",
                total = measure.shown(total, self.run.vertex())
            ));
        }
        let compares = self.scan.has_any(&[Word::Apart, Word::Times]);
        if let ([first, _], 2) = (&rows[..], self.subjects.len()) {
            said.affirm(self.names_first(first));
        }
        if let ([one, other, ..], true) = (&rows[..], compares) {
            let labels = [one, other].map(|row| text!("{name}", "{name}", name = row.name));
            let numbers = [number(one), number(other)];
            apart(said, labels, numbers, measure, (true, self.run.vertex()));
        }
        !rows.is_empty()
    }

    /// Says the first of some sorted things, and the next ones.
    fn first_of(&self, said: &mut Said<'_>, measure: &'static Measure, rows: &[Row<'_>]) {
        let is_least = self.has(Word::Least);
        let number = |row: &Row<'_>| row.values.get(measure).unwrap_or(0.0);
        let vertex = self.run.vertex();
        let Some(first) = rows.first() else {
            return;
        };
        let value = first.values.value(measure);
        let ids = value.map(|v| said.evidence_of(measure, v, &first.name, vertex));
        let shown = |row: &Row<'_>| {
            let mut inputs = self.run.summary.inputs.iter();
            match inputs.find(|i| measure.entity == Entity::Input && i.name == row.name) {
                Some(input) => thing::sizes(input),
                None => text!("（{n}）", " ({n})", n = measure.shown(number(row), vertex)),
            }
        };
        let others = rows
            .iter()
            .skip(1)
            .take(RANKED - 1)
            .map(|row| text!("{name}{n}", "{name}{n}", name = row.name, n = shown(row)));
        let others: Vec<Text> = others.collect();
        let (title, n) = (measure.title(vertex), shown(first));
        let then = match others.is_empty() {
            true => Text::default(),
            false => text!(
                "；其次 {then}",
                "; next: {then}",
                then = Text::joined(&others, ["、", ", "])
            ),
        };
        let (name, count) = (&first.name, Number(rows.len() as f64));
        let extreme = match is_least {
            true => text!("最小", "Smallest"),
            false => text!("最大", "Largest"),
        };
        let sentence = text!(
            "{title}{extreme}（共 {count} 个）：{name}{n}{then}",
            "{extreme} {title} of {count}: {name}{n}{then}",
            extreme = extreme,
            count = count,
            title = title,
            n = n,
            then = then
        );
        said.cite(sentence, &ids.unwrap_or_default());
    }

    /// Says how many stages have some of a measure, and which.
    pub(super) fn condition(
        &self,
        said: &mut Said<'_>,
        rows: &[Row<'_>],
        measures: &[&'static Measure],
    ) -> bool {
        let begun = said.len();
        for measure in measures {
            let known = rows
                .iter()
                .filter_map(|r| Some((r.name.clone(), r.values.value(measure)?)));
            let known: Vec<_> = known.collect();
            let mut some = known.clone();
            some.retain(|(_, value)| value.number() > 0.0);
            some.sort_by(|a, b| b.1.number().total_cmp(&a.1.number()));
            match (known.is_empty(), some.is_empty()) {
                (true, _) => self.unknown(said, rows, measure),
                (false, true) => rank::none(said, measure, self.run.vertex()),
                _ => {
                    said.say(text!(
                        "共 {count} 个阶段",
                        "{count} of {all} stages",
                        count = Number(some.len() as f64),
                        all = Number(rows.len() as f64)
                    ));
                    rank::list(said, measure, &some, LISTED, false, self.run.vertex());
                }
            }
        }
        said.len() > begun
    }

    /// Says how many things there are, and their names.
    pub(super) fn count(&self, said: &mut Said<'_>, entity: Entity, rows: &[Row<'_>]) -> bool {
        use Word::{Each, Filler, Kind, Noun, Sum, Which};
        let is_plain = |w: &Word| {
            matches!(
                w,
                Word::Number | Which | Noun(_) | Kind(_) | Sum | Each | Word::In | Filler
            )
        };
        let is_count =
            self.scan.has_any(&[Word::Number, Which]) && self.scan.words.iter().all(is_plain);
        let counted = match entity {
            Entity::Operator => Thing::Operator,
            Entity::Exchange => Thing::Exchange,
            Entity::Executor => Thing::Executor,
            Entity::Execution => Thing::Execution,
            Entity::Input if self.names(Thing::File) => Thing::File,
            _ => return false,
        };
        // "how many tasks does the shuffle stage have" counts no channels
        let is_other = |w: &Word| matches!(w, Noun(thing) if *thing != counted);
        let is_count = is_count && !self.scan.words.iter().any(is_other);
        let is_named = |s: &Subject| matches!(s, Subject::Operator(..) | Subject::Lines(..));
        let is_named = self.subjects.iter().any(is_named);
        if !is_count || is_named || rows.is_empty() || self.scan.inherits {
            return false;
        }
        let language = said.language();
        let mut shown: Vec<String> = rows.iter().take(LISTED).map(|r| r.name.clone()).collect();
        if let more @ 1.. = rows.len().saturating_sub(LISTED) {
            shown.push(text!("另外 {more} 个", "{more} more").into(language));
        }
        said.say(text!(
            "共 {count} 个：{shown}",
            "{count} in all: {shown}",
            count = Number(rows.len() as f64),
            shown = names(&shown, language)
        ));
        true
    }
}

/// Whether the counter of the rows of the largest vertex is about one of several inputs.
fn is_of_one_input(row: &Row<'_>) -> bool {
    let place = |measure| row.values.value(measure)?.source()?.locator;
    place(&book::ROWS_IN).is_some_and(|all| all.contains(" + "))
        && place(&book::ROWS_MAX).is_some_and(|most| most.contains("@maxRowCount"))
}

/// Whether values of several things add up.
fn is_additive(measure: &Measure) -> bool {
    let of_one =
        measure.id.contains("mean") || measure.id.contains("max") || measure.id.contains("median");
    let is_point = measure.entity == Entity::Executor && measure.unit == Unit::Seconds;
    !of_one && !is_point && !matches!(measure.unit, Unit::Share | Unit::Ratio)
}
