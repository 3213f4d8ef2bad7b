//! Output rows of joins in relation to their input rows.

use job::facts::value;
use job::model::{Edge, Operator, OperatorKind};

use crate::settings::threshold;
use crate::view::View;

threshold! {
    /// Output rows over the rows of the larger input.
    pub(crate) MIN_FACTOR = 3.0, "ratio", "join_explosion.min_factor";
    "一对多连接的输出不会超过较大一侧；超过就说明键在两侧都有重复，历史表可能重复一两次", "a one-to-many join produces at most as many rows as its larger side; more rows prove that the key repeats on both, as it may once or twice in a table with history";
    "arithmetic; healthy simulated joins produce at most 1.6 times the larger side, ordinary joins of two large tables up to 2.7 times"
}

/// Rows out of a join and into each of its sides.
fn rows(view: &View<'_>, stage: usize, join: &Operator) -> Option<(f64, Vec<f64>)> {
    let facts = &view.facts[stage];
    let position = facts.position(join.uid)?;
    let node = &facts.operators[position];
    let out = value(&node.rows)?;
    if let (Some(build), Some(probe)) = (value(&node.build_rows), value(&node.probe_rows)) {
        return Some((out, vec![build, probe]));
    }
    let mut inputs = facts.rows_in(position);
    if let Some(app) = view.job.spark.as_deref() {
        // a broadcast side comes through the driver
        let sent = app.exchanges.iter().filter(|e| e.readers.contains(&stage));
        inputs.extend(sent.filter_map(|e| e.rows));
        return (!inputs.is_empty()).then_some((out, inputs));
    }
    (inputs.len() >= 2).then_some((out, inputs))
}

/// Most output rows of a join if its key is unique on one side. A full outer join may add the unmatched
/// rows of the other side.
fn most_if_unique(view: &View<'_>, stage: usize, index: usize, inputs: &[f64]) -> f64 {
    let larger = inputs.iter().copied().fold(1.0, f64::max);
    let derived = view.derived();
    let join = derived.flow.of_stage(stage).nth(index);
    let kept = join.and_then(|(node, _)| derived.outer_sides(node));
    match kept.is_some_and(|k| k.left && k.right) {
        true => larger.max(inputs.iter().sum()),
        false => larger,
    }
}

/// With a key that repeats on both sides, a join's output of this many times the optimizer's estimate
/// shows that the optimizer's statistics of the key are outdated.
const UNEXPECTED: f64 = 4.0;

/// Least mean rows per value of a repeating key.
const REPEATS: f64 = 2.0;

/// Whether the key of a join repeats on both sides where it is stored.
fn repeats_on_both(view: &View<'_>, stage: usize) -> bool {
    let repeats = |edge: &Edge| {
        let [key] = edge.keys.as_slice() else {
            return false;
        };
        let column = view.column_statistics(edge, key);
        let mean =
            column.and_then(|(table, c)| Some(table.rows? as f64 / c.distinct?.max(1) as f64));
        mean.is_some_and(|mean| mean >= REPEATS)
    };
    let sides: Vec<bool> = view.hashed_inputs(stage).map(repeats).collect();
    sides.len() >= 2 && sides.into_iter().all(|repeats| repeats)
}

/// Actual and expected output rows of a join. Expected are the rows of its larger input; if the key repeats on
/// both sides, by the output or by statistics, the optimizer's estimate. `None` if unknown.
pub(crate) fn output(view: &View<'_>, stage: usize, index: usize) -> Option<(f64, f64)> {
    let join = &view.job.stages[stage].operators[index];
    let (out, inputs) = rows(view, stage, join)?;
    let most = most_if_unique(view, stage, index, &inputs);
    let expected = view
        .job
        .estimate_of(stage, index)
        .and_then(|l| l.value.card);
    let repeated = || out > most || repeats_on_both(view, stage);
    let unexpected = |e: &f64| *e >= 1.0 && out >= UNEXPECTED * e && repeated();
    let should = expected.filter(unexpected).map_or(most, |e| e.min(most));
    Some((out, should))
}

/// Whether the rows that a stage reads come from a join with far too many output rows.
pub(crate) fn is_upstream(view: &View<'_>, stage: usize) -> bool {
    let limit = view.limit(&MIN_FACTOR);
    let multiplies = |s: usize, at: usize| {
        output(view, s, at).is_some_and(|(out, should)| out / should >= limit)
    };
    let is_join = |o: &Operator| matches!(o.kind, OperatorKind::Join | OperatorKind::Combine);
    let upstream = view.upstream(stage).into_iter().filter(|s| *s != stage);
    upstream.into_iter().any(|s| {
        let operators = &view.job.stages[s].operators;
        (0..operators.len()).any(|at| is_join(&operators[at]) && multiplies(s, at))
    })
}
