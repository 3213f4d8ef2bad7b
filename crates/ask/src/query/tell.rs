//! Which facts are about the things of a question, and how they are said.

use report::measure::{Entity, Measure, book};
use report::{JobState, text};
use runs::{OperatorSummary, StageSummary};

use super::facts::Fact;
use super::rows::Row;
use super::{Query, passed};
use crate::phrases::Quantity;
use crate::said::Said;
use crate::subject::Subject;
use crate::wording::Wording;
use crate::words::Thing;
use crate::words::Word::{Define, Number, Place};
use crate::{found, job, mention, rank, record, setting, stage, thing, time};

/// Operators with their arguments.
const ARGUMENTS: usize = 4;

/// Operators with a sentence of their own.
const SENTENCES: usize = 2;

/// Part of its weight that a fact has about the stage of an operator that is named, or about a cause that was ruled out.
const NEIGHBOR: f64 = 0.6;

/// The same for a finding that answers "why", or with a named cause.
const WANTED: f64 = 1.3;

impl<'a> Query<'a> {
    /// The things of a kind that the question is about and that have a measure.
    fn having(&self, measure: &'static Measure) -> Vec<Row<'a>> {
        let mut rows = self.rows(measure.entity);
        rows.retain(|row| row.values.value(measure).is_some());
        rows
    }

    /// Whether a kind of thing belongs to the named one.
    fn reaches(&self, entity: Entity) -> bool {
        let is_any = |is_it: fn(&Subject) -> bool| self.subjects.iter().any(is_it);
        let (stage, operator) = (
            is_any(|s| matches!(s, Subject::Stage(_))),
            is_any(|s| matches!(s, Subject::Operator(..))),
        );
        let names_operators = self.keywords().next().is_some() || self.names(Thing::Operator);
        match entity {
            _ if self.is_whole() => names_operators == (entity == Entity::Operator),
            Entity::Operator => operator || stage && names_operators,
            Entity::Stage => stage || operator,
            Entity::Exchange => stage && !operator,
            Entity::Input => is_any(|s| matches!(s, Subject::Input(_))),
            Entity::Column => is_any(|s| matches!(s, Subject::Column(_))),
            Entity::Job | Entity::Executor | Entity::Execution => false,
        }
    }

    /// Whether the question names no part of the run.
    fn is_whole(&self) -> bool {
        self.subjects == [Subject::Job]
    }

    /// Whether the question names a setting by the words of users.
    pub(super) fn names_setting(&self, fact: &Fact<'_>) -> bool {
        matches!(fact, Fact::Setting(key) if self.intent.names_setting(key))
    }

    /// Part of its weight that a fact about a neighbor of the named things has.
    pub(super) fn nearness(&self, fact: &Fact<'_>) -> f64 {
        let stages = &self.run.summary.stages;
        // a stage writes the rows of its output
        let is_operator = |s: &Subject| match s {
            Subject::Operator(at, o) => stages[*at].operators[*o].kind != "output",
            _ => false,
        };
        let counts = self.scan.has(Number);
        let report = self.run.report;
        let asks = |q| self.intent.asks(q);
        let asks_place = self.has(Place) || Wording::of(&self.intent.text).has("哪里", "where");
        let is_open = self.intent.asks_why
            || asks(Quantity::Reason)
            || asks(Quantity::Verdict)
            || asks(Quantity::Remedy)
            || report.job.state == JobState::Failed;
        match fact {
            Fact::Value(m)
                if m.entity != Entity::Operator && self.subjects.iter().any(is_operator) =>
            {
                NEIGHBOR
            }
            Fact::Value(m) if m.entity == Entity::Job && self.intent.names_job => 1.0 / NEIGHBOR,
            Fact::Mention(_) if asks_place => 1.0 / NEIGHBOR,
            Fact::Finding(_) if self.intent.asks_why && !self.has(Define) => WANTED,
            Fact::Finding(found) if self.intent.causes.contains(&found.cause) && !counts => WANTED,
            Fact::Finding(_) | Fact::Suggestion(_) if counts || !is_open => NEIGHBOR,
            Fact::Rule(_) if counts => NEIGHBOR * NEIGHBOR,
            Fact::Rule(_) => NEIGHBOR,
            _ => 1.0,
        }
    }

    /// Whether a text is about one of the subjects.
    fn is_about(&self, text: &str, of_stage: Option<&str>) -> bool {
        let stages = &self.run.summary.stages;
        self.subjects.iter().any(|subject| match subject {
            Subject::Job => true,
            Subject::Stage(at) => {
                of_stage == Some(stages[*at].name.as_str()) || text.contains(&stages[*at].name)
            }
            Subject::Operator(at, o) => {
                let operator = &stages[*at].operators[*o];
                let mut names = operator.names.iter().chain([&operator.id]);
                names.any(|name| text.contains(name.as_str()))
                    || of_stage == Some(stages[*at].name.as_str())
            }
            Subject::Input(at) => text.contains(&self.run.summary.inputs[*at].name),
            Subject::Column(name) => text.contains(name.as_str()),
            _ => false,
        })
    }

    /// Whether a fact is about the named thing, and is not empty.
    pub(super) fn fits(&self, fact: &Fact<'_>) -> bool {
        let is_whole = self.is_whole() && self.keywords().next().is_none();
        let has_stage = self
            .intent
            .subjects
            .iter()
            .any(|s| matches!(s, Subject::Stage(_) | Subject::Operator(..)));
        let is_input = matches!(self.intent.subjects[..], [Subject::Input(_)]);
        match fact {
            Fact::Value(measure) => {
                self.reaches(measure.entity) && !self.having(measure).is_empty()
            }
            Fact::Finding(found) => {
                let mut evidence = self.run.report.evidence_of(&found.evidence);
                self.is_about(&found.summary, found.stage.as_deref())
                    || evidence.any(|e| self.is_about(&e.text, None))
            }
            Fact::Suggestion(suggestion) => {
                let mut findings = self.run.report.findings.iter();
                let of = findings.find(|f| Some(&f.id) == suggestion.finding.as_ref());
                is_whole || of.is_some_and(|f| self.is_about(&f.summary, f.stage.as_deref()))
            }
            Fact::Rule(rule) => {
                self.intent.causes.contains(&rule.cause) && self.is_about(&rule.text, None)
            }
            Fact::Time(kind) => {
                is_whole
                    || self
                        .stages()
                        .any(|name| time::seconds_of(self.run, *kind, Some(name)) > 0.0)
            }
            Fact::Setting(_) | Fact::Answer(_) | Fact::Failure => is_whole,
            Fact::Term(_) | Fact::Mention(_) => true,
            Fact::Hints => true,
            Fact::Flow => has_stage || is_input && self.stages().next().is_some(),
            Fact::Place => has_stage,
            Fact::Keys(entity) => match entity {
                Entity::Operator => {
                    self.reaches(*entity) && !is_whole || self.keywords().next().is_some()
                }
                _ => is_whole || has_stage,
            },
            Fact::Columns(_) if self.is_whole() => true,
            Fact::Input(at) | Fact::Columns(at) => {
                is_whole || self.subjects.contains(&Subject::Input(*at))
            }
            Fact::Reads(at) => {
                let input = &self.run.summary.inputs[*at];
                let is_first = self
                    .run
                    .summary
                    .inputs
                    .iter()
                    .position(|i| i.name == input.name)
                    == Some(*at);
                is_first && (is_whole || self.subjects.contains(&Subject::Input(*at)))
            }
            Fact::Strategy => self.operators().any(|(.., o)| record::is_join(o)),
            Fact::Arguments => {
                let is_named = !is_whole || self.keywords().next().is_some();
                is_named && self.operators().any(|(.., o)| !o.args.is_empty())
            }
            Fact::Written => {
                (is_whole || self.operators().any(|(.., o)| record::is_output(o)))
                    && self.run.operators().any(record::is_output)
            }
            Fact::Cache => self.run.operators().any(record::reads_cache),
            Fact::Attempts => self
                .meant_stages()
                .any(|s| !s.lost.is_empty() || !s.messages.is_empty()),
        }
    }

    /// The stages of the subjects.
    fn stages(&self) -> impl Iterator<Item = &'a str> + '_ {
        let stages = &self.run.summary.stages;
        self.subjects
            .iter()
            .filter_map(move |subject| match subject {
                Subject::Stage(at) | Subject::Operator(at, _) => Some(stages[*at].name.as_str()),
                _ => None,
            })
    }

    /// Says a fact.
    pub(super) fn tell(&self, said: &mut Said<'_>, fact: &Fact<'_>) {
        let run = self.run;
        let at = self.subjects.iter().find_map(|s| match s {
            Subject::Stage(at) | Subject::Operator(at, _) => Some(*at),
            _ => None,
        });
        match fact {
            Fact::Value(measure) => self.value(said, measure),
            Fact::Finding(found) => found::finding_of(said, run, &found.id, false),
            Fact::Suggestion(suggestion) => thing::suggestion(said, run, &suggestion.id),
            Fact::Rule(rule) => {
                let (title, because) = (rule.cause.title(), &rule.text);
                let ids = &rule.evidence[..rule.evidence.len().min(found::CITED)];
                let sentence = text!("{title}：{because}", "{title}: {because}", title = title);
                said.cite(sentence, ids);
            }
            Fact::Time(kind) => match self.stages().next() {
                None => time::time_of(said, run, *kind, None),
                Some(stage) => time::time_of(said, run, *kind, Some(stage)),
            },
            Fact::Term(term) => said.say(term.says.into()),
            Fact::Setting(key) => setting::about(said, run, key, self.intent),
            Fact::Answer(quantity) => job::answer(said, run, *quantity, self.intent),
            Fact::Flow => at.iter().for_each(|at| record::flow(said, run, *at)),
            Fact::Place => at
                .iter()
                .for_each(|at| stage::place(said, run, &run.summary.stages[*at])),
            Fact::Keys(entity) => {
                let rows = self.rows(*entity);
                self.tell_keys(said, *entity, &rows);
            }
            Fact::Input(at) => thing::describe_input(said, &run.summary.inputs[*at]),
            Fact::Mention(name) => mention::say(said, run, name),
            Fact::Hints => {
                setting::hints(said, run);
            }
            Fact::Failure => job::failure(said, run),
            record => self.tell_record(said, record),
        }
    }

    /// Says a fact that is no number.
    fn tell_record(&self, said: &mut Said<'_>, fact: &Fact<'_>) {
        let run = self.run;
        match fact {
            Fact::Strategy => {
                let joins = self
                    .operators()
                    .filter(|(.., o)| record::is_join(o))
                    .take(SENTENCES);
                joins.for_each(|(at, o, _)| record::strategy(said, run, at, o));
            }
            Fact::Attempts => self.meant_stages().for_each(|s| record::attempts(said, s)),
            Fact::Cache => {
                record::cache(said, run);
            }
            Fact::Columns(at) => {
                let input = &run.summary.inputs[*at];
                record::columns(said, &input.name, &record::columns_of(run, input));
                if let Some(format) = &input.format {
                    let name = &input.name;
                    said.say(text!(
                        "{name} 的格式：{format}",
                        "The format of {name}: {format}"
                    ));
                }
            }
            Fact::Written => {
                let operators = run
                    .summary
                    .stages
                    .iter()
                    .flat_map(|s| s.operators.iter().map(|o| (o.name_in(&s.name), o)));
                let outputs = operators.filter(|(_, o)| record::is_output(o));
                outputs.for_each(|(name, o)| record::columns(said, &name, &o.columns));
            }
            Fact::Reads(at) => record::reads(said, run, &run.summary.inputs[*at]),
            Fact::Arguments => {
                let all = self
                    .operators()
                    .filter(|(.., o)| !o.args.is_empty())
                    .take(ARGUMENTS);
                all.for_each(|(at, _, o)| record::arguments(said, &run.summary.stages[at].name, o));
            }
            _ => {}
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

    /// The stages of the subjects; all of them if none is named.
    fn meant_stages(&self) -> impl Iterator<Item = &'a StageSummary> {
        let named: Vec<&str> = self.stages().collect();
        let all = self.run.summary.stages.iter();
        all.filter(move |s| named.is_empty() || named.contains(&s.name.as_str()))
    }

    /// Says the values of a measure: of each named thing, else the sum and the largest.
    fn value(&self, said: &mut Said<'_>, measure: &'static Measure) {
        let rows = self.having(measure);
        let is_rows = *measure == book::OPERATOR_ROWS || *measure == book::ROWS_TAKEN;
        if is_rows && rows.len() <= SENTENCES && rows.iter().all(passed::changes) {
            passed::both(said, self, &rows);
            return;
        }
        let is_whole = self.is_whole();
        match measure.entity {
            Entity::Job | Entity::Stage if is_whole => rank::most(said, self.run, &[measure]),
            entity if rows.len() > 2 => {
                self.ranked(said, entity, rows, &[measure]);
            }
            _ => {
                self.say(said, &rows, &[measure]);
            }
        }
    }
}
