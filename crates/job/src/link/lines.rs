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
/// At most, for a statement between two others.
const BETWEEN: f64 = 0.75;
/// Statements looked at on the way from one to another.
const MAX_STATEMENTS: usize = 1_000;
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
            K::Window => statements()
                .filter(|s| any_query(&s.query, &|q| q.aggregates.iter().any(|a| a.over)))
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

    /// By the operators around it: what only moves or sorts rows serves its reader; what filters or
    /// projects belongs to a statement between that of its feeder and that of its reader.
    fn by_neighbour(&self, script: &Script, stage: usize, operator: usize) -> Option<(usize, f64)> {
        use OperatorKind as K;
        let below = self.nearest(script, (stage, operator), &|at| self.reader_of(at.0, at.1));
        let kind = self.stages[stage].operators[operator].kind;
        if !matches!(kind, K::Transform | K::Process | K::Other | K::Union) {
            return below;
        }
        let above = self.nearest(script, (stage, operator), &|at| self.feeder_of(at.0, at.1));
        match (above, below) {
            (Some((from, sure)), Some((to, also))) => {
                let tie = sure.min(also).min(BETWEEN);
                let between = between(script, from, to);
                between.map(|at| (at, tie)).or(Some((to, also)))
            }
            (above, below) => below.or(above),
        }
        .filter(|(_, sure)| *sure >= LEAST)
    }

    /// The first operator with a tie of its own along a way, and what the way costs.
    fn nearest(
        &self,
        script: &Script,
        from: (usize, usize),
        step: &Step<'_>,
    ) -> Option<(usize, f64)> {
        let (mut at, mut confidence) = (from, PER_STEP);
        while confidence >= LEAST {
            at = step(at)?;
            if let Some((statement, sure)) = self.direct(script, &self.stages[at.0].operators[at.1])
            {
                return Some((statement, sure * confidence)).filter(|(_, sure)| *sure >= LEAST);
            }
            confidence *= PER_STEP;
        }
        None
    }

    /// The first operator that feeds another, in its stage or across an edge.
    fn feeder_of(&self, stage: usize, operator: usize) -> Option<(usize, usize)> {
        let op = &self.stages[stage].operators[operator];
        let feeds = |other: &Operator| {
            other
                .outputs
                .iter()
                .any(|o| op.inputs.iter().any(|i| bare(&i.id) == bare(&o.id)))
        };
        let own = &self.stages[stage].operators[..operator];
        if let Some(at) = own.iter().position(feeds) {
            return Some((stage, at));
        }
        let edges = self.edges.iter().filter(|e| e.to == stage);
        edges
            .map(|e| e.from)
            .find_map(|from| Some((from, self.stages[from].operators.iter().position(feeds)?)))
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

/// From an operator to a neighbour.
type Step<'a> = dyn Fn((usize, usize)) -> Option<(usize, usize)> + 'a;

/// The statement after `from` on the way to `to` in the data flow; `None` if nothing lies between.
fn between(script: &Script, from: usize, to: usize) -> Option<usize> {
    let flow = script.flow();
    let inputs = |statement: usize| -> Vec<usize> {
        match flow.of_statement(statement) {
            Some(rowset) => rowset
                .inputs
                .iter()
                .filter_map(|i| Some(flow.rowsets.get(*i)?.statement))
                .collect(),
            // an OUTPUT makes no rowset
            None => {
                let query = script.statements.get(statement).map(|s| &s.query);
                query
                    .into_iter()
                    .flat_map(|q| q.inputs.iter().filter_map(|i| i.definition))
                    .collect()
            }
        }
    };
    let (mut open, mut seen) = (vec![to], vec![to]);
    while let Some(at) = open.pop() {
        for input in inputs(at) {
            if input == from {
                return Some(at).filter(|at| *at != to);
            }
            if !seen.contains(&input) && seen.len() < MAX_STATEMENTS {
                seen.push(input);
                open.push(input);
            }
        }
    }
    None
}

/// Whether a query reads a path: written in it, or declared as its parameter.
fn reads_path(script: &Script, query: &Query, path: &str) -> bool {
    let file = path
        .rsplit(['/', '\\'])
        .next()
        .filter(|f| !f.is_empty())
        .unwrap_or(path);
    let declared = |name: &str| {
        let name = name.trim_start_matches('@');
        script.statements.iter().any(|s| {
            s.kind == StatementKind::Declare
                && s.target
                    .as_deref()
                    .is_some_and(|t| t.trim_start_matches('@').eq_ignore_ascii_case(name))
                && script.slice(&s.span).contains(file)
        })
    };
    query.paths.iter().any(|expression| {
        script.slice(&expression.span).contains(file)
            || expression.parameters.iter().any(|p| declared(p))
    })
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
    let path = table.and_then(|t| t.path.as_deref());
    if let Some(path) = path
        && any_query(&statement.query, &|q| reads_path(script, q, path))
    {
        return true;
    }
    if statement.kind == StatementKind::Extract {
        let columns = &statement.query.columns;
        let schema = op.inputs.first().map_or(&[][..], |input| &input.schema);
        let names = || columns.iter().filter_map(|c| c.name.as_deref());
        return !schema.is_empty()
            && names().count() == schema.len()
            && names().all(|name| schema.iter().any(|c| c.name.eq_ignore_ascii_case(name)));
    }
    table.is_some_and(|t| {
        any_query(&statement.query, &|q| {
            q.inputs.iter().any(|i| {
                let name = i.name.rsplit('.').next().unwrap_or(&i.name);
                let plain = name.trim_matches(['[', ']']);
                i.definition.is_none() && plain.eq_ignore_ascii_case(&t.name)
            })
        })
    })
}
