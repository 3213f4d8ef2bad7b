//! How many rows joins put out for those that they take in.

use job::facts::value;
use job::model::{Operator, OperatorKind};

use crate::settings::Threshold;
use crate::view::View;

/// Output rows over the rows of the larger input.
pub(crate) static MIN_FACTOR: Threshold = Threshold {
    name: "join_explosion.min_factor",
    default: 2.0,
    unit: "ratio",
    reason_zh: "一对多连接的输出不会超过较大一侧；超过就说明键在两侧都有重复，历史表可能重复一两次",
    reason_en: "a one-to-many join puts out at most its larger side; more proves that the key repeats on both, as it may once or twice in a table with history",
    source: "arithmetic; healthy simulated joins put out at most 1.6 times the larger side",
};

/// Rows out of a join and into each of its sides.
pub(crate) fn rows(view: &View<'_>, stage: usize, join: &Operator) -> Option<(f64, Vec<f64>)> {
    let facts = &view.facts[stage];
    let position = facts.position(join.uid)?;
    let node = &facts.operators[position];
    let out = value(&node.rows)?;
    if let (Some(build), Some(probe)) = (value(&node.build_rows), value(&node.probe_rows)) {
        return Some((out, vec![build, probe]));
    }
    let inputs = facts.rows_in(position);
    (inputs.len() >= 2).then_some((out, inputs))
}

/// Whether the rows that a stage reads come from a join that put out far too many.
pub(crate) fn is_upstream(view: &View<'_>, stage: usize) -> bool {
    let multiplies = |s: usize, join: &Operator| {
        let found = rows(view, s, join);
        found.is_some_and(|(out, inputs)| {
            let larger = inputs.iter().copied().fold(1.0, f64::max);
            out / larger >= view.limit(&MIN_FACTOR)
        })
    };
    let is_join = |o: &&Operator| matches!(o.kind, OperatorKind::Join | OperatorKind::Combine);
    let upstream = view.upstream(stage).into_iter().filter(|s| *s != stage);
    upstream.into_iter().any(|s| {
        let mut joins = view.job.stages[s].operators.iter().filter(is_join);
        joins.any(|join| multiplies(s, join))
    })
}
