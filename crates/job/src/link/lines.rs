//! Operators and script lines.
//!
//! Where the definition of the stages names file and line, that is the tie. Where it does not (local
//! runs), an operator is tied to the statement that has its keys, class or columns; what lies
//! between (sorts, partitioners, filters) to the statement of its neighbours. Each step away costs
//! confidence.

use super::{Lines, Located, edges::bare};
use crate::model::{Job, Operator, OperatorKind, Source};
use crate::script::{JoinKind, Query, RowsetSource, Script, Statement, StatementKind};

/// The class of the operator is named by one statement.
const BY_CLASS: f64 = 0.95;
/// One statement has its keys, or is the only one of its kind.
const BY_KEYS: f64 = 0.85;
/// Several statements fit; it is the one in the same position.
const BY_ORDER: f64 = 0.6;
/// What a step to a neighbour costs.
const PER_STEP: f64 = 0.85;
/// Below this a tie is not told.
const LEAST: f64 = 0.4;

impl Job {
    /// Script lines of the statement that an operator came from.
    pub fn line_of(&self, stage: usize, operator: usize) -> Option<Located<Lines>> {
        let found = self.stages.get(stage)?;
        let op = found.operators.get(operator)?;
        if let Some(line) = op.line {
            let place = format!("{}/operator[@id={}]/@line", found.name, op.id);
            let source = found.defined_in.clone().map(|file| Source {
                file,
                locator: Some(place),
            });
            return Some(Located {
                value: self.lines_around(op, line),
                confidence: 1.0,
                source,
            });
        }
        let (statement, confidence) = self.statement_of(stage, operator)?;
        let statement = self.script.as_ref()?.statements.get(statement)?;
        Some(Located {
            value: lines(statement),
            confidence,
            source: None,
        })
    }

    /// Lines of the statement at a line, if the operator's file is the script that was read.
    fn lines_around(&self, op: &Operator, line: u32) -> Lines {
        let only = Lines {
            first: line,
            last: line,
        };
        let Some(script) = &self.script else {
            return only;
        };
        let base = |name: &str| {
            name.rsplit(['/', '\\'])
                .next()
                .unwrap_or(name)
                .to_lowercase()
        };
        if op
            .file
            .as_deref()
            .is_some_and(|file| base(file) != base(&script.file))
        {
            return only;
        }
        script.statement_at_line(line).map_or(only, lines)
    }

    /// The statement of an operator, and how sure that is.
    pub fn statement_of(&self, stage: usize, operator: usize) -> Option<(usize, f64)> {
        let script = self.script.as_ref()?;
        let op = self.stages.get(stage)?.operators.get(operator)?;
        if let Some(line) = op.line {
            return script.statement_at_line(line).map(|s| (s.index, 1.0));
        }
        self.direct(script, op)
            .or_else(|| self.by_neighbour(script, stage, operator))
    }

    /// By what the operator itself shows.
    fn direct(&self, script: &Script, op: &Operator) -> Option<(usize, f64)> {
        use OperatorKind as K;
        let statements = || script.statements.iter();
        let class = op.class_name.rsplit('.').next().unwrap_or(&op.class_name);
        let by_class: Vec<usize> = statements()
            .filter(|s| {
                any_query(&s.query, &|q| {
                    q.using_class
                        .as_deref()
                        .is_some_and(|c| c.rsplit('.').next() == Some(class))
                })
            })
            .map(|s| s.index)
            .collect();
        if let [only] = by_class.as_slice() {
            return Some((*only, BY_CLASS));
        }
        let fits: Vec<usize> = match op.kind {
            K::Join => statements()
                .filter(|s| any_query(&s.query, &|q| joins_on(q, op)))
                .map(|s| s.index)
                .collect(),
            K::Aggregate | K::PartialAggregate => statements()
                .filter(|s| any_query(&s.query, &|q| groups_by(q, op)))
                .map(|s| s.index)
                .collect(),
            K::Extract => statements()
                .filter(|s| reads(script, s, op, self))
                .map(|s| s.index)
                .collect(),
            K::Output => statements()
                .filter(|s| s.kind == StatementKind::Output)
                .map(|s| s.index)
                .collect(),
            _ => by_class,
        };
        match fits.as_slice() {
            [] => None,
            [only] => Some((*only, BY_KEYS)),
            several => {
                // operators are numbered in the order of their statements
                let rank = self.rank_among(op);
                several
                    .get(rank)
                    .or(several.last())
                    .map(|at| (*at, BY_ORDER))
            }
        }
    }

    /// How many operators of the same kind and keys have a smaller number.
    fn rank_among(&self, op: &Operator) -> usize {
        let number = |id: &str| id.rsplit('_').next().and_then(|n| n.parse::<u64>().ok());
        let own = number(&op.id);
        let all = self.stages.iter().flat_map(|s| &s.operators);
        all.filter(|o| o.kind == op.kind && o.keys == op.keys && number(&o.id) < own)
            .count()
    }

    /// By the operators that read its output, then by those that feed it.
    fn by_neighbour(&self, script: &Script, stage: usize, operator: usize) -> Option<(usize, f64)> {
        let (mut at, mut confidence) = ((stage, operator), 1.0);
        // sorts, partitioners, splits and gathers serve their reader
        while confidence * PER_STEP >= LEAST {
            confidence *= PER_STEP;
            let Some(next) = self.reader_of(at.0, at.1) else {
                break;
            };
            if let Some((statement, sure)) =
                self.direct(script, &self.stages[next.0].operators[next.1])
            {
                let total = sure * confidence;
                return (total >= LEAST).then_some((statement, total));
            }
            at = next;
        }
        let op = &self.stages[stage].operators[operator];
        let feeder = self.stages[stage].operators.iter().find(|o| {
            o.outputs
                .iter()
                .any(|c| op.inputs.iter().any(|i| bare(&i.id) == bare(&c.id)))
        })?;
        let (statement, sure) = self.direct(script, feeder)?;
        let total = sure * PER_STEP * PER_STEP;
        (total >= LEAST).then_some((statement, total))
    }

    /// The first operator that reads the output of another, in its stage or across an edge.
    fn reader_of(&self, stage: usize, operator: usize) -> Option<(usize, usize)> {
        let op = &self.stages[stage].operators[operator];
        let reads = |other: &Operator| {
            other
                .inputs
                .iter()
                .any(|i| op.outputs.iter().any(|o| bare(&o.id) == bare(&i.id)))
        };
        let own = self.stages[stage].operators.iter().enumerate();
        if let Some((at, _)) = own.skip(operator + 1).find(|(_, o)| reads(o)) {
            return Some((stage, at));
        }
        let edges = self.edges.iter().filter(|e| e.from == stage);
        edges
            .map(|e| e.to)
            .find_map(|to| Some((to, self.stages[to].operators.iter().position(reads)?)))
    }

    /// Stages (indices) that run a statement of the script, by the statement's index; the stage
    /// with most operators of it first.
    pub fn stage_of(&self, statement: usize) -> Vec<Located<usize>> {
        self.stages_where(|stage, op| {
            self.statement_of(stage, op)
                .filter(|(s, _)| *s == statement)
                .map(|(_, sure)| sure)
        })
    }

    /// Stages (indices) that run code of these script lines; the stage with most operators first.
    pub fn stages_of_lines(&self, lines: Lines) -> Vec<Located<usize>> {
        self.stages_where(|stage, op| {
            let found = self.line_of(stage, op)?;
            let overlaps = found.value.first <= lines.last && lines.first <= found.value.last;
            overlaps.then_some(found.confidence)
        })
    }

    fn stages_where(&self, fits: impl Fn(usize, usize) -> Option<f64>) -> Vec<Located<usize>> {
        let mut found: Vec<(usize, Located<usize>)> = Vec::new();
        for (at, stage) in self.stages.iter().enumerate() {
            let sure: Vec<f64> = (0..stage.operators.len())
                .filter_map(|op| fits(at, op))
                .collect();
            if let Some(confidence) = sure.iter().copied().reduce(f64::max) {
                let source = stage
                    .definition("operator/@line")
                    .filter(|_| confidence >= 1.0);
                found.push((
                    sure.len(),
                    Located {
                        value: at,
                        confidence,
                        source,
                    },
                ));
            }
        }
        found.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
        found.into_iter().map(|(_, located)| located).collect()
    }
}

fn lines(statement: &Statement) -> Lines {
    Lines {
        first: statement.lines.0,
        last: statement.lines.1,
    }
}

/// Whether a query, a branch of it, or a query in its FROM clause fits.
fn any_query(query: &Query, fits: &dyn Fn(&Query) -> bool) -> bool {
    fits(query)
        || query.branches.iter().any(|branch| any_query(branch, fits))
        || query.inputs.iter().any(|input| match &input.source {
            RowsetSource::Query(inner) => any_query(inner, fits),
            _ => false,
        })
}

/// The compiler renames a second column of the same name: `Postcode1`.
fn same_column(script: &str, compiled: &str) -> bool {
    let plain = compiled.trim_end_matches(|c: char| c.is_ascii_digit());
    script.eq_ignore_ascii_case(compiled)
        || (!plain.is_empty() && script.eq_ignore_ascii_case(plain))
}

/// Whether one of a query's joins has the keys of an operator, in either order of the sides.
fn joins_on(query: &Query, op: &Operator) -> bool {
    query.joins.iter().any(|join| {
        let n = join.keys.len();
        if n == 0 || op.keys.is_empty() {
            return op.keys.is_empty() && matches!(join.kind, JoinKind::Cross);
        }
        n == op.keys.len()
            && join.keys.iter().all(|(left, right)| {
                let in_order = op
                    .keys
                    .iter()
                    .zip(&op.right_keys)
                    .any(|(l, r)| same_column(&left.name, l) && same_column(&right.name, r));
                in_order
                    || op
                        .keys
                        .iter()
                        .zip(&op.right_keys)
                        .any(|(l, r)| same_column(&left.name, r) && same_column(&right.name, l))
            })
    })
}

/// Whether a query groups by the keys of an operator, in any order.
fn groups_by(query: &Query, op: &Operator) -> bool {
    let names: Vec<&str> = query
        .group_by
        .iter()
        .filter_map(|e| e.uses.last().map(|c| c.name.as_str()))
        .collect();
    if op.keys.is_empty() {
        return query.group_by.is_empty() && !query.aggregates.is_empty();
    }
    names.len() == op.keys.len()
        && names
            .iter()
            .all(|name| op.keys.iter().any(|key| same_column(name, key)))
}

/// Whether a statement reads what an extracting operator reads: by the columns of an `EXTRACT`, or
/// by the table's name.
fn reads(script: &Script, statement: &Statement, op: &Operator, job: &Job) -> bool {
    let table = op
        .inputs
        .first()
        .map(|input| bare(&input.id))
        .and_then(|id| {
            job.tables
                .iter()
                .find(|t| t.stream_id.as_deref() == Some(id))
        });
    match statement.kind {
        StatementKind::Extract => {
            let columns = &statement.query.columns;
            let schema = op.inputs.first().map_or(&[][..], |input| &input.schema);
            let names = || columns.iter().filter_map(|c| c.name.as_deref());
            !schema.is_empty()
                && names().count() == schema.len()
                && names().all(|name| schema.iter().any(|c| c.name.eq_ignore_ascii_case(name)))
        }
        StatementKind::SStream => table.is_some_and(|t| {
            let text = script.slice(&statement.span);
            t.path.as_deref().is_some_and(|path| text.contains(path)) || text.contains(&t.name)
        }),
        _ => table.is_some_and(|t| {
            any_query(&statement.query, &|q| {
                q.inputs.iter().any(|i| {
                    let name = i.name.rsplit('.').next().unwrap_or(&i.name);
                    i.definition.is_none()
                        && name.trim_matches(['[', ']']).eq_ignore_ascii_case(&t.name)
                })
            })
        }),
    }
}
