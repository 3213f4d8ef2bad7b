//! Records that are no numbers: which of them a question is about.

use report::measure::Entity;
use runs::OperatorSummary;

use super::Query;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::{self, *};
use crate::word::{Cue, Quantity, Record, Thing};
use crate::{found, job, record, setting, stage, thing};

/// Operators with their arguments, and operators with a sentence of their own.
const ARGUMENTS: usize = 4;
const SENTENCES: usize = 2;

impl<'a> Query<'a> {
    fn asks_record(&self, record: Record) -> bool {
        self.scan.has(Word::Record(record))
    }

    /// Says the records that the question names.
    pub(super) fn records(&self, said: &mut Said<'_>) {
        let (run, summary) = (self.run, self.run.summary);
        let of_columns = self.names(Thing::Column) || self.asks_record(Record::Columns);
        let is_written = self.has(Out) || self.keywords().any(|keyword| keyword == "OUTPUT");
        self.of_inputs(said, of_columns && !is_written);
        if of_columns && is_written {
            let operators = summary.stages.iter();
            let operators = operators.flat_map(|s| s.operators.iter().map(move |o| (s, o)));
            let outputs = operators.filter(|(_, o)| record::is_output(o));
            outputs.for_each(|(s, o)| record::columns(said, &o.name_in(&s.name), &o.columns));
        }
        self.of_operators(said);
        let stages: Vec<usize> = self.stage_indices().collect();
        for at in stages.iter().copied() {
            let stage = &summary.stages[at];
            if self.has(Place) {
                stage::place(said, run, stage);
            }
            if self.asks_record(Record::Flow) || self.intent.asks(Quantity::Flow) {
                record::flow(said, run, at);
            }
        }
        if self.asks_record(Record::Attempts) {
            let is_meant = |at: &usize| stages.is_empty() || stages.contains(at);
            let meant = (0..summary.stages.len()).filter(is_meant);
            meant.for_each(|at| record::attempts(said, &summary.stages[at]));
        }
        if self.names(Thing::Cache) {
            record::cache(said, run);
        }
        if self.asks_record(Record::Hints) {
            setting::hints(said, run);
        }
        if self.is_whole() && summary.error.is_some() && self.scan.shows(Cue::Failure) {
            job::failure(said, run);
            let first = run.report.findings.first();
            first.iter().for_each(|f| found::finding(said, f, true));
        }
    }

    /// Says the records of the named inputs; of all of them if the question names no part of the run.
    fn of_inputs(&self, said: &mut Said<'_>, of_columns: bool) {
        let (run, summary) = (self.run, self.run.summary);
        let of_keys = self.names(Thing::Input) && self.has(Key);
        let of_layout = of_keys || self.asks_record(Record::Layout);
        let is_meant = |at: &usize| {
            self.subjects.contains(&Subject::Input(*at))
                || self.is_whole() && self.keywords().next().is_none()
        };
        for at in (0..summary.inputs.len()).filter(is_meant) {
            let input = &summary.inputs[at];
            if of_columns {
                record::columns(said, &input.name, &record::columns_of(run, input));
                record::format(said, input);
            }
            if of_layout {
                thing::describe_input(said, input);
            }
            if self.asks_record(Record::Reads) {
                record::reads(said, run, input);
            }
        }
    }

    /// Says the keys, the kinds and the arguments of the named operators.
    fn of_operators(&self, said: &mut Said<'_>) {
        let is_named = !self.is_whole() || self.keywords().next().is_some();
        let operators: Vec<_> = self.operators().collect();
        let of_columns = self.names(Thing::Column) && !self.has(Number);
        if self.has(Key) && is_named {
            self.tell_keys(said, Entity::Operator, &self.rows(Entity::Operator));
        }
        if self.asks_record(Record::Strategy) {
            let joins = operators.iter().filter(|(.., o)| record::is_join(o));
            let joins = joins.take(SENTENCES);
            joins.for_each(|(at, o, _)| record::strategy(said, self.run, *at, *o));
        }
        if is_named && (of_columns || self.asks_record(Record::Arguments)) {
            let all = operators.iter().filter(|(.., o)| !o.args.is_empty());
            let all = all.take(ARGUMENTS);
            all.for_each(|(at, _, o)| {
                record::arguments(said, &self.run.summary.stages[*at].name, o);
            });
        }
    }

    /// The operators that are meant, with the indices of their stage and their own.
    fn operators(&self) -> impl Iterator<Item = (usize, usize, &'a OperatorSummary)> {
        let stages = &self.run.summary.stages;
        let rows = self.rows(Entity::Operator).into_iter();
        rows.filter_map(|row| {
            let (at, own) = (row.stage?, row.operator?);
            let operator = stages[at].operators.iter().position(|o| o.id == own.id)?;
            Some((at, operator, own))
        })
    }

    fn stage_indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.subjects.iter().filter_map(|subject| match subject {
            Subject::Stage(at) | Subject::Operator(at, _) => Some(*at),
            _ => None,
        })
    }
}
