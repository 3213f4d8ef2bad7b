//! The things that a question is about, with their values.

use report::JobEngine;
use report::measure::{Entity, Values, book};

use super::Query;
use super::place::has_word;
use crate::subject::Subject;
use crate::word::Word::*;
use crate::word::{Thing, Word};
use runs::{EdgeSummary, OperatorSummary, StageSummary};

/// One thing and its values.
pub(super) struct Row<'a> {
    pub(super) name: String,
    pub(super) values: &'a Values,
    /// Its stage.
    pub(super) stage: Option<usize>,
    pub(super) operator: Option<&'a OperatorSummary>,
    pub(super) edge: Option<&'a EdgeSummary>,
}

/// Kinds of operators that a keyword of the script stands for.
pub(super) fn kinds(keyword: &str) -> &'static [&'static str] {
    match keyword {
        "JOIN" => &["join", "combine"],
        "COMBINE" => &["combine"],
        "GROUP BY" => &["aggregate"],
        "WHERE" => &["transform"],
        "ORDER BY" => &["sort"],
        "REDUCE" => &["reduce"],
        "PROCESS" => &["process"],
        "EXTRACT" => &["extract"],
        "OUTPUT" => &["output"],
        "UNION" => &["union"],
        "WINDOW" => &["window"],
        "DISTINCT" => &["window", "aggregate"],
        "BROADCAST" => &["broadcast"],
        _ => &[],
    }
}

impl<'a> Query<'a> {
    /// The keywords of the operators that are named; the outputs of the job if no operator is named that writes.
    pub(super) fn keywords(&self) -> impl Iterator<Item = &'static str> + '_ {
        let named = self.scan.words.iter().filter_map(|word| match word {
            Kind(keyword) => Some(*keyword),
            _ => None,
        });
        let outputs = Some("OUTPUT").filter(|_| self.is_about_outputs());
        named.chain(outputs)
    }

    pub(super) fn is_about_outputs(&self) -> bool {
        let is_thing = |word: &Word| matches!(word, Noun(_) | Kind(_) | Of(_));
        self.has(Out)
            && !self.has(In)
            && self.subjects == [Subject::Job]
            && !self.scan.words.iter().any(is_thing)
    }

    fn has_subject(&self, is_it: impl Fn(&Subject) -> bool) -> bool {
        self.subjects.iter().any(is_it)
    }

    /// The kind of the things that the question is about.
    pub(super) fn entity(&self) -> Entity {
        let has_stage = self.has_subject(|s| matches!(s, Subject::Stage(_)));
        let of_executors = [Thing::Executor, Thing::Execution];
        let is_load = self.scan.has_any(&[In, Out, Time, Mean]);
        match () {
            _ if self.has_subject(|s| matches!(s, Subject::Operator(..) | Subject::Lines(..))) => {
                Entity::Operator
            }
            _ if self.keywords().any(|k| k == "BROADCAST") || self.is_between() => Entity::Exchange,
            _ if self.keywords().next().is_some() => Entity::Operator,
            _ if self.has_subject(|s| matches!(s, Subject::Column(_))) => Entity::Column,
            _ if self.has_subject(|s| matches!(s, Subject::Input(_))) => Entity::Input,
            _ if self.has(Of(&book::BUSY_SLOTS)) && self.ids.is_empty() => Entity::Job,
            _ if self.names(Thing::Exchange) && !self.is_time() => Entity::Exchange,
            _ if self.names(Thing::Operator) => Entity::Operator,
            _ if self.names(of_executors[0]) && !has_stage => Entity::Executor,
            _ if self.names(of_executors[1]) && !has_stage => Entity::Execution,
            _ if self.names(Thing::Partition) && !is_load && !self.names(Thing::Input) => {
                Entity::Exchange
            }
            _ if has_stage || self.names(Thing::Stage) || self.names(Thing::Vertex) => {
                Entity::Stage
            }
            _ if self.names(Thing::Input) || self.names(Thing::File) && !self.has(Out) => {
                Entity::Input
            }
            _ => Entity::Job,
        }
    }

    /// Whether it asks for an amount that goes from one named stage to another.
    fn is_between(&self) -> bool {
        let stages = self.subjects.iter().filter_map(|s| match s {
            Subject::Stage(at) => Some(*at),
            _ => None,
        });
        let [a, b] = stages.collect::<Vec<_>>()[..] else {
            return false;
        };
        let other = [In, Apart, Times, Most, Least, Each];
        let amount = [Rows, Bytes, Data];
        let mut edges = self.run.summary.edges.iter();
        let is_edge = edges.any(|e| (e.from, e.to) == (a, b) || (e.from, e.to) == (b, a));
        is_edge && self.scan.has_any(&amount) && !self.scan.has_any(&other) && !self.is_time()
    }

    /// The things that are meant: the named ones, else all of their kind.
    pub(super) fn rows(&self, entity: Entity) -> Vec<Row<'a>> {
        let mut rows = self.all(entity);
        let subjects = &self.subjects;
        let mut stages: Vec<usize> = subjects
            .iter()
            .filter_map(|s| match s {
                Subject::Stage(at) | Subject::Operator(at, _) => Some(*at),
                _ => None,
            })
            .collect();
        let summary = self.run.summary;
        if entity == Entity::Operator {
            stages.extend(self.readers());
        }
        match entity {
            Entity::Operator => self.retain_operators(&mut rows, &stages),
            Entity::Stage if !stages.is_empty() => {
                rows.retain(|row| row.stage.is_some_and(|at| stages.contains(&at)));
            }
            Entity::Exchange => self.retain_exchanges(&mut rows, &stages),
            Entity::Executor | Entity::Execution if !self.ids.is_empty() => {
                let is_it = |row: &Row<'_>| {
                    let mut words = row.name.split(' ').skip(1);
                    words
                        .next()
                        .is_some_and(|id| self.ids.iter().any(|i| i == id))
                };
                rows.retain(is_it);
            }
            Entity::Input => {
                let named = |row: &Row<'_>| {
                    subjects.iter().any(
                        |s| matches!(s, Subject::Input(at) if summary.inputs[*at].name == row.name),
                    )
                };
                if rows.iter().any(named) {
                    rows.retain(named);
                }
            }
            Entity::Column => {
                rows.retain(|row| {
                    subjects.iter().any(
                        |s| matches!(s, Subject::Column(name) if row.name.ends_with(&format!(".{name}"))),
                    )
                });
            }
            _ => {}
        }
        rows
    }

    /// Keeps the operators that are named by themselves, their lines, their keys or their kind.
    fn retain_operators(&self, rows: &mut Vec<Row<'a>>, stages: &[usize]) {
        let (subjects, summary) = (&self.subjects, self.run.summary);
        let is_operator_named = subjects.iter().any(|s| matches!(s, Subject::Operator(..)));
        let is_named = subjects
            .iter()
            .any(|s| matches!(s, Subject::Operator(..) | Subject::Lines(..)));
        // "how many rows does Keep filter out": the filter at the lines of a join
        let at_lines = |row: &Row<'_>| {
            let line = row.operator.and_then(|o| o.line);
            let is_there = |line: u32| {
                subjects
                    .iter()
                    .any(|s| matches!(s, Subject::Lines(a, b) if (*a..=*b).contains(&line)))
            };
            let kind = row.operator.map_or("", |o| o.kind.as_str());
            line.is_some_and(is_there) && self.keywords().flat_map(kinds).any(|k| *k == kind)
        };
        let of_kind = rows.iter().any(at_lines);
        // "the join of Cities": an operator of another statement takes its rows
        let names_kind = self.keywords().next().is_some();
        let is_named = is_named && (of_kind || is_operator_named || !names_kind);
        rows.retain(|row| match is_named {
            true if of_kind => at_lines(row),
            true => subjects.iter().any(|s| is_operator(s, row, summary)),
            false => stages.is_empty() || row.stage.is_some_and(|at| stages.contains(&at)),
        });
        let keyed = |row: &Row<'_>| {
            let keys = row.operator.map_or(&[][..], |o| &o.keys);
            subjects
                .iter()
                .any(|s| matches!(s, Subject::Column(name) if keys.contains(name)))
        };
        // "the filter on IsFraud": the operators of the statements with the column
        let named = subjects.iter().filter_map(|s| match s {
            Subject::Column(name) => Some(name.to_uppercase()),
            _ => None,
        });
        let named: Vec<String> = named.collect();
        let has_column = |line: u32| {
            let mut statements = self.run.statements().iter();
            statements.any(|s| {
                let text = self.run.text_of(s);
                let is_there = (s.lines.0..=s.lines.1).contains(&line);
                is_there && named.iter().any(|name| has_word(text, name))
            })
        };
        let in_statement =
            |row: &Row<'_>| row.operator.is_some_and(|o| o.line.is_some_and(has_column));
        if rows.iter().any(keyed) {
            rows.retain(keyed);
        } else if rows.iter().any(in_statement) {
            rows.retain(in_statement);
        }
        let wanted: Vec<&str> = self.keywords().flat_map(kinds).copied().collect();
        let fits = |row: &Row<'_>| {
            row.operator
                .is_some_and(|o| wanted.contains(&o.kind.as_str()))
        };
        if rows.iter().any(fits) {
            rows.retain(fits);
        } else if !wanted.is_empty() && !is_operator_named {
            rows.clear();
        }
        // rows are deduplicated by a window that keeps the first one, else by an aggregation
        let picks = |row: &Row<'_>| {
            row.operator.is_some_and(|o| o.kind == "window") && super::passed::changes(row)
        };
        if self.keywords().any(|k| k == "DISTINCT") && rows.iter().any(picks) {
            rows.retain(picks);
        }
        // a plan of Spark has its projections as transforms too
        let filters = |row: &Row<'_>| row.operator.is_some_and(|o| o.id.starts_with("Filter"));
        let is_spark = self.run.report.job.engine == Some(JobEngine::Spark);
        if wanted == ["transform"] && (is_spark || rows.iter().any(filters)) {
            rows.retain(filters);
        }
    }

    /// Keeps the channels of the named stages, and of the named kind.
    fn retain_exchanges(&self, rows: &mut Vec<Row<'a>>, stages: &[usize]) {
        let summary = self.run.summary;
        let is_of = |at: &usize| stages.contains(at);
        let is_broadcast = self.keywords().any(|k| k == "BROADCAST");
        let meant: Vec<bool> = summary
            .edges
            .iter()
            .map(|e| {
                let fits = match stages.len() {
                    0 => true,
                    1 => is_of(&e.from) && !self.has(In) || is_of(&e.to) && !self.has(Out),
                    _ => is_of(&e.from) && is_of(&e.to),
                };
                fits && (!is_broadcast || e.exchange == "broadcast")
            })
            .collect();
        let mut at = meant.iter();
        rows.retain(|_| at.next().is_some_and(|is_meant| *is_meant));
    }

    /// The stages that read the named inputs, and the next ones.
    fn readers(&self) -> Vec<usize> {
        let summary = self.run.summary;
        let mut stages: Vec<usize> = Vec::new();
        for subject in &self.subjects {
            let Subject::Input(at) = subject else {
                continue;
            };
            let Some(reader) = &summary.inputs[*at].reader else {
                continue;
            };
            let reads = |s: &StageSummary| s.operators.iter().any(|o| o.id == *reader);
            let Some(stage) = summary.stages.iter().position(reads) else {
                continue;
            };
            let next = &self.run.channels().out_of[stage];
            stages.push(stage);
            stages.extend(next.iter().map(|edge| summary.edges[*edge].to));
        }
        stages
    }

    /// All things of a kind.
    pub(super) fn all(&self, entity: Entity) -> Vec<Row<'a>> {
        let run = self.run;
        let summary = run.summary;
        let plain = |name: String, values| Row {
            name,
            values,
            stage: None,
            operator: None,
            edge: None,
        };
        let stages = summary.stages.iter().enumerate();
        let stage = |at: usize| summary.stages.get(at).map_or("", |s| s.name.as_str());
        match entity {
            Entity::Job => vec![plain(run.report.job.label().to_owned(), &summary.values)],
            Entity::Stage => stages
                .map(|(at, s)| Row {
                    stage: Some(at),
                    ..plain(s.name.clone(), &s.values)
                })
                .collect(),
            Entity::Operator => stages
                .flat_map(|(at, s)| s.operators.iter().map(move |o| (at, s, o)))
                .map(|(at, s, o)| Row {
                    stage: Some(at),
                    operator: Some(o),
                    ..plain(o.name_in(&s.name), &o.values)
                })
                .collect(),
            Entity::Exchange => {
                let broadcast = run.report.language.select("（广播）", " (broadcast)");
                let row = |e: &'a EdgeSummary| {
                    let kind = if e.exchange == "broadcast" {
                        broadcast
                    } else {
                        ""
                    };
                    let name = format!("{} → {}{kind}", stage(e.from), stage(e.to));
                    Row {
                        edge: Some(e),
                        ..plain(name, &e.values)
                    }
                };
                summary.edges.iter().map(row).collect()
            }
            Entity::Input => {
                let inputs = summary.inputs.iter();
                inputs.map(|i| plain(i.name.clone(), &i.values)).collect()
            }
            Entity::Column => {
                let inputs = summary.inputs.iter();
                let columns = inputs.flat_map(|i| i.columns.iter().map(move |c| (i, c)));
                let named = columns.map(|(i, c)| (format!("{}.{}", i.name, c.name), &c.values));
                named.map(|(name, values)| plain(name, values)).collect()
            }
            Entity::Executor => {
                let named = summary.executors.iter();
                let named = named.map(|e| (format!("executor {}", e.id), &e.values));
                named.map(|(name, values)| plain(name, values)).collect()
            }
            Entity::Execution => {
                let named = summary.executions.iter().map(|e| {
                    let text = e.description.as_deref().unwrap_or_default();
                    let text = report::format::cut(text, 60);
                    (format!("execution {} ({text})", e.id), &e.values)
                });
                named.map(|(name, values)| plain(name, values)).collect()
            }
        }
    }
}

/// Whether a subject means an operator: by its name, or as the last one of some script lines that produces rows.
fn is_operator(subject: &Subject, row: &Row<'_>, summary: &runs::RunSummary) -> bool {
    let own = row.operator.map(|o| o.id.as_str());
    match subject {
        Subject::Operator(stage, at) => {
            let named = summary.stages[*stage].operators.get(*at);
            own.is_some() && named.map(|o| o.id.as_str()) == own
        }
        Subject::Lines(first, last) => {
            let operators = summary
                .stages
                .iter()
                .rev()
                .flat_map(|s| s.operators.iter().rev());
            let mut there = operators.filter(|o| {
                let is_exchange = o.kind.ends_with("partition") || o.kind == "gather";
                !is_exchange && o.line.is_some_and(|line| (*first..=*last).contains(&line))
            });
            there.next().map(|o| o.id.as_str()) == own && own.is_some()
        }
        _ => false,
    }
}
