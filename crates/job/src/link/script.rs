//! Whether a script is the one that ran, and how its lines differ from the lines of the plan.
//!
//! The keys of an operator, the path or columns of its input, or its class name candidate statements. In the script that ran,
//! nearly every such operator has a candidate, at the line that the plan gives.

use super::fit;
use crate::bounds::Quota;
use crate::model::{Job, Operator, OperatorKind};
use crate::script::Script;
use crate::text::base_name;

/// Least share of operators with a candidate statement.
const LEAST_FITTING: f64 = 0.75;
/// Least share of these operators whose line is in a candidate statement, before or after shifting the lines.
const LEAST_IN_PLACE: f64 = 0.7;
/// Limit on comparisons of operators with statements; beyond it, a script is accepted as it is.
const MAX_COMPARISONS: usize = 20_000_000;
/// Maximum number of operators to compare.
const MAX_OPERATORS: usize = 2_000;

/// Fit of a script and a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptFit {
    /// The script has the lines of the plan, or there is no evidence.
    Same,
    /// From a line of the plan on, the script's lines are further down by the given number.
    Shifted(Vec<(u32, i64)>),
    /// Another script: number of witness operators with a statement in it, and of all witness operators.
    Other { found: usize, of: usize },
}

/// An operator with its candidate statements.
struct Witness {
    line: Option<u32>,
    statements: Vec<usize>,
}

impl Job {
    /// Compares statements, keys, inputs and classes of a script with the operators of the plan.
    pub fn fit_of(&self, script: &Script) -> ScriptFit {
        let operators = Quota::Operators.most() - self.room_for(Quota::Operators);
        let compared = operators.min(MAX_OPERATORS) * script.statements.len();
        if compared > MAX_COMPARISONS || script.statements.is_empty() {
            return ScriptFit::Same;
        }
        let own = self.operators_of(script);
        let witnesses = own.iter().filter_map(|op| self.witness(script, op));
        let witnesses: Vec<Witness> = witnesses.collect();
        let of = witnesses.len();
        let lines = own.iter().filter_map(|op| op.line).max();
        let own: Vec<&Witness> = witnesses
            .iter()
            .filter(|w| !w.statements.is_empty())
            .collect();
        if (own.len() as f64) < LEAST_FITTING * of as f64 {
            return ScriptFit::Other {
                found: own.len(),
                of,
            };
        }
        let placed: Vec<&Witness> = own.into_iter().filter(|w| w.line.is_some()).collect();
        let enough = |n: usize| n as f64 >= LEAST_IN_PLACE * placed.len() as f64;
        let ends = |shifts: &[(u32, i64)]| {
            let last = script.statements.iter().map(|s| s.lines.1).max();
            lines.is_none_or(|line| last.is_some_and(|last| shifted(shifts, line) <= last))
        };
        let found = in_place(script, &placed, &[]);
        if enough(found) && ends(&[]) {
            return ScriptFit::Same;
        }
        let shifts = shifts(script, &placed);
        let aligned = in_place(script, &placed, &shifts);
        match enough(aligned) && aligned > found && ends(&shifts) {
            true => ScriptFit::Shifted(shifts),
            false => ScriptFit::Other {
                found: found.min(of.saturating_sub(1)),
                of,
            },
        }
    }

    /// The operators that were compiled from a script, without operators from the files of imported modules.
    fn operators_of(&self, script: &Script) -> Vec<&Operator> {
        let own = base_name(&script.file);
        let all = || self.stages.iter().flat_map(|s| &s.operators);
        let is_own = |op: &&Operator| op.file.as_deref().is_some_and(|f| base_name(f) == own);
        let of_script: Vec<&Operator> = all().filter(is_own).take(MAX_OPERATORS).collect();
        match of_script.is_empty() {
            true => all().take(MAX_OPERATORS).collect(),
            false => of_script,
        }
    }

    /// The candidate statements of an operator; `None` if it gives no evidence of its origin.
    fn witness(&self, script: &Script, op: &Operator) -> Option<Witness> {
        use OperatorKind as K;
        let shows = match op.kind {
            K::Join => !op.keys.is_empty(),
            K::Aggregate | K::PartialAggregate => !op.keys.is_empty(),
            K::Extract | K::Window => true,
            _ => false,
        };
        let by_class = fit::by_class(script, op);
        let statements = match by_class {
            Some(only) => vec![only],
            None if shows => {
                let all = fit::statements(self, script, op);
                fit::narrowed(script, op, &all)
            }
            None => return None,
        };
        // a script cannot name a stream that is only known by its number
        let unnamed = op.kind == K::Extract && !fit::has_path(self, op);
        if statements.is_empty() && unnamed {
            return None;
        };
        Some(Witness {
            line: op.line,
            statements,
        })
    }
}

/// The line of the script for a line of the plan.
pub(super) fn shifted(shifts: &[(u32, i64)], line: u32) -> u32 {
    let from = shifts.partition_point(|(from, _)| *from <= line);
    let by = from
        .checked_sub(1)
        .and_then(|at| shifts.get(at))
        .map_or(0, |(_, by)| *by);
    u32::try_from(i64::from(line) + by).unwrap_or(0)
}

fn in_place(script: &Script, placed: &[&Witness], shifts: &[(u32, i64)]) -> usize {
    let is = |w: &&&Witness| {
        let line = w.line.map(|line| shifted(shifts, line));
        let at = line.and_then(|line| script.statement_at_line(line));
        at.is_some_and(|s| w.statements.contains(&s.index))
    };
    placed.iter().filter(is).count()
}

/// The shifts that align most operators with candidate statements: one for all lines; else one from each line
/// on that keeps the sequence of the statements.
fn shifts(script: &Script, placed: &[&Witness]) -> Vec<(u32, i64)> {
    let by = |line: u32, statement: usize| {
        let first = script.statements.get(statement).map_or(0, |s| s.lines.0);
        i64::from(first) - i64::from(line)
    };
    let mut all: Vec<i64> = Vec::new();
    for witness in placed {
        let line = witness.line.unwrap_or(0);
        all.extend(witness.statements.iter().map(|s| by(line, *s)));
    }
    all.sort_unstable_by_key(|d| (d.abs(), *d));
    all.dedup();
    all.truncate(200);
    let score = |d: i64| in_place(script, placed, &[(0, d)]);
    // among equals, the smallest shift
    let one = all
        .iter()
        .copied()
        .rev()
        .max_by_key(|d| score(*d))
        .unwrap_or(0);
    let pieces = pieces(placed, &by);
    match in_place(script, placed, &pieces) > score(one) {
        true => pieces,
        false => vec![(0, one)],
    }
}

/// The longest ascending sequence of plan lines with ascending candidate
/// statements.
fn pieces(placed: &[&Witness], by: &dyn Fn(u32, usize) -> i64) -> Vec<(u32, i64)> {
    /// Limit on compared pairs of line and statement.
    const MOST: usize = 2_000;
    let mut pairs: Vec<(u32, usize)> = Vec::new();
    for witness in placed {
        let line = witness.line.unwrap_or(0);
        pairs.extend(witness.statements.iter().map(|s| (line, *s)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs.truncate(MOST);
    let mut best: Vec<(usize, Option<usize>)> = Vec::new();
    for (at, (line, statement)) in pairs.iter().enumerate() {
        let before = (0..at).filter(|b| pairs[*b].0 < *line && pairs[*b].1 < *statement);
        let previous = before.max_by_key(|b| best[*b].0);
        best.push((previous.map_or(1, |b| best[b].0 + 1), previous));
    }
    let mut at = (0..pairs.len()).max_by_key(|at| best[*at].0);
    let mut found: Vec<(u32, i64)> = Vec::new();
    while let Some(here) = at {
        let (line, statement) = pairs[here];
        found.push((line, by(line, statement)));
        at = best[here].1;
    }
    found.reverse();
    found.dedup_by_key(|(_, by)| *by);
    found
}
