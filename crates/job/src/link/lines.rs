//! Operators and script lines.
//!
//! If the definition of the stages names file and line, that is the link. Otherwise (local runs), an
//! operator is linked to the statement with its keys, class or columns; an operator in between (sort,
//! partitioner, filter) gets the statement of its neighbor. Each step to a neighbor lowers the
//! confidence.

use super::{Lines, Located, edges::bare, fit, script::shifted};
use crate::bounds::Quota;
use crate::model::{Job, Operator, OperatorKind};
use crate::script::{Script, Statement};
use crate::text::base_name;

/// One statement names the class of the operator.
const BY_CLASS: f64 = 0.95;
/// One statement has the operator's keys, or is the only one of its kind.
const BY_KEYS: f64 = 0.85;
/// Several statements fit; the one in the same position is taken.
const BY_ORDER: f64 = 0.6;
/// Factor on the confidence per step to a neighbor.
const PER_STEP: f64 = 0.85;
/// Highest confidence for a statement between two others.
const BETWEEN: f64 = 0.75;
/// Limit on comparisons of operators with statements and each other, some seconds of work. Jobs of 3,000 operators
/// and 1,000 statements take 4 million.
const MAX_COMPARISONS: usize = 100_000_000;

/// Links below this are dropped.
const LEAST: f64 = 0.4;

impl Job {
    /// Script lines of the statement that an operator came from.
    pub fn line_of(&self, stage: usize, operator: usize) -> Option<Located<Lines>> {
        if let Some(place) = self.place_of_operator(stage, operator) {
            return Some(Located {
                value: self.lines_of(&place)?,
                confidence: BY_KEYS,
                source: None,
            });
        }
        let found = self.stages.get(stage)?;
        let op = found.operators.get(operator)?;
        if let Some(line) = op.line {
            return Some(Located {
                value: self.lines_around(op, shifted(&self.line_shifts, line)),
                confidence: 1.0,
                source: found.definition(&format!("operator[@id={}]/@line", op.id)),
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
        let own = base_name(&script.file);
        match &op.file {
            Some(file) if base_name(file) != own => only,
            _ => script.statement_at_line(line).map_or(only, lines),
        }
    }

    /// The statement of an operator, with a confidence.
    pub fn statement_of(&self, stage: usize, operator: usize) -> Option<(usize, f64)> {
        let script = self.script.as_ref()?;
        let op = self.stages.get(stage)?.operators.get(operator)?;
        if let Some(line) = op.line {
            let line = shifted(&self.line_shifts, line);
            return script.statement_at_line(line).map(|s| (s.index, 1.0));
        }
        self.direct(script, (stage, operator))
            .or_else(|| self.by_neighbor(script, stage, operator))
    }

    /// Whether the job is small enough to search the statement of each operator, which compares all
    /// operators with all statements.
    fn is_searchable(&self, script: &Script) -> bool {
        let operators = Quota::Operators.most() - self.room_for(Quota::Operators);
        operators * (script.statements.len() + operators / 10) <= MAX_COMPARISONS
    }

    fn direct(&self, script: &Script, (stage, at): At) -> Option<(usize, f64)> {
        if !self.is_searchable(script) {
            return None;
        }
        let op = &self.stages[stage].operators[at];
        if let Some(only) = fit::by_class(script, op) {
            return Some((only, BY_CLASS));
        }
        let all = match op.kind {
            // a sort for a join or an aggregation belongs to the statement of its reader
            OperatorKind::Sort if self.serves_keys((stage, at)) => return None,
            _ => fit::statements(self, script, op),
        };
        let narrowed = fit::narrowed(script, op, &all);
        match narrowed.as_slice() {
            [] => None,
            [only] => Some((*only, BY_KEYS)),
            several => {
                // operators are numbered like their statements, if each has one
                let (rank, peers) = self.rank_among(op);
                let in_order = all.get(rank).filter(|_| peers == all.len());
                let found = in_order.filter(|at| several.contains(at))?;
                Some((*found, BY_ORDER))
            }
        }
    }

    /// Whether the reader of an operator needs its rows sorted by its own keys.
    fn serves_keys(&self, (stage, operator): At) -> bool {
        use OperatorKind as K;
        let reader = self.reader_of(stage, operator);
        let kind = reader.map(|(stage, at)| self.stages[stage].operators[at].kind);
        let keyed = [
            K::Join,
            K::Aggregate,
            K::PartialAggregate,
            K::Reduce,
            K::Combine,
        ];
        kind.is_some_and(|kind| keyed.contains(&kind))
    }

    /// Number of operators of the same kind and keys with a smaller number, and their total number.
    fn rank_among(&self, op: &Operator) -> (usize, usize) {
        let number = |id: &str| id.rsplit('_').next().and_then(|n| n.parse::<u64>().ok());
        let own = number(&op.id);
        let all = self.stages.iter().flat_map(|s| &s.operators);
        let mut counts = (0, 0);
        for peer in all.filter(|o| o.kind == op.kind && o.keys == op.keys) {
            counts.0 += usize::from(number(&peer.id) < own);
            counts.1 += 1;
        }
        counts
    }

    /// Links an operator through its neighbors. An operator that only moves or sorts rows belongs to the
    /// statement of its reader; a filter or projection belongs to a statement between the feeder's and the reader's.
    fn by_neighbor(&self, script: &Script, stage: usize, operator: usize) -> Option<(usize, f64)> {
        use OperatorKind as K;
        let above = || self.nearest(script, (stage, operator), &|at| self.feeder_of(at.0, at.1));
        let below = || self.nearest(script, (stage, operator), &|at| self.reader_of(at.0, at.1));
        let op = &self.stages[stage].operators[operator];
        let found = match op.kind {
            // an extract belongs to the statement that names its stream, or to no statement
            K::Extract => None,
            K::Window => above().or_else(below),
            K::Transform | K::Process | K::Other | K::Union => {
                let (above, below) = (above(), below());
                let ends = (above.map(|(at, _)| at), below.map(|(at, _)| at));
                let known = above.iter().chain(&below).map(|(_, sure)| *sure);
                let sure = known.fold(BETWEEN, f64::min);
                fit::on_the_way(script, ends, op).map(|at| (at, sure))
            }
            _ => below(),
        };
        found.filter(|(_, sure)| *sure >= LEAST)
    }

    /// The statement of the nearest operator with a direct link, with a confidence.
    fn nearest(&self, script: &Script, from: At, step: &Step<'_>) -> Option<(usize, f64)> {
        let (mut at, mut confidence) = (from, PER_STEP);
        while confidence >= LEAST {
            at = step(at)?;
            if let Some((statement, sure)) = self.direct(script, at) {
                return Some((statement, sure * confidence)).filter(|(_, sure)| *sure >= LEAST);
            }
            confidence *= PER_STEP;
        }
        None
    }

    /// The first operator that feeds another, in its stage or across an edge.
    fn feeder_of(&self, stage: usize, operator: usize) -> Option<(usize, usize)> {
        let op = &self.stages[stage].operators[operator];
        let feeds = |other: &Operator| is_connected(other, op);
        let own = &self.stages[stage].operators[..operator];
        if let Some(at) = own.iter().position(feeds) {
            return Some((stage, at));
        }
        let mut edges = self.edges_into(stage);
        let in_stage = |from: usize| self.stages[from].operators.iter().position(feeds);
        edges.find_map(|e| Some((e.from, in_stage(e.from)?)))
    }

    /// The first operator that reads the output of another, in its stage or across an edge.
    fn reader_of(&self, stage: usize, operator: usize) -> Option<(usize, usize)> {
        let op = &self.stages[stage].operators[operator];
        let reads = |other: &Operator| is_connected(op, other);
        let own = self.stages[stage].operators.iter().enumerate();
        if let Some((at, _)) = own.skip(operator + 1).find(|(_, o)| reads(o)) {
            return Some((stage, at));
        }
        let mut edges = self.edges_out_of(stage);
        let in_stage = |to: usize| self.stages[to].operators.iter().position(reads);
        edges.find_map(|e| Some((e.to, in_stage(e.to)?)))
    }

    /// Stages (indices) that run a statement of the script, the one with most of its operators first.
    pub fn stages_of(&self, statement: usize) -> Vec<usize> {
        let operators = |stage: usize| {
            let all = 0..self.stages[stage].operators.len();
            all.filter(|op| matches!(self.statement_of(stage, *op), Some((s, _)) if s == statement))
                .count()
        };
        let counts = (0..self.stages.len()).map(|stage| (stage, operators(stage)));
        let mut found: Vec<(usize, usize)> = counts.filter(|(_, n)| *n > 0).collect();
        found.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        found.into_iter().map(|(stage, _)| stage).collect()
    }
}

/// Whether one operator writes a channel that the other reads.
fn is_connected(writer: &Operator, reader: &Operator) -> bool {
    let reads = |id: &str| reader.inputs.iter().any(|i| bare(&i.id) == id);
    writer.outputs.iter().any(|o| reads(bare(&o.id)))
}

type At = (usize, usize);

type Step<'a> = dyn Fn(At) -> Option<At> + 'a;

fn lines(statement: &Statement) -> Lines {
    Lines {
        first: statement.lines.0,
        last: statement.lines.1,
    }
}
