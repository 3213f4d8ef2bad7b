//! Joins that compare every pair of rows, because their condition has no equality.

use job::model::{Application, SparkNode};

use super::support::Symptom;
use crate::facts::fact;
use crate::impact::scale_run;
use crate::measurements::plan_parts::{inputs_of, rows_from};
use crate::view::View;
use report::format::{Number, ROW};
use report::text;

/// Least pairs of rows that matter: a core compares some ten million a second.
const LEAST_PAIRS: f64 = 1e8;

/// Least pairs per row of output; a join with more output needs its pairs.
const LEAST_IN_VAIN: f64 = 100.0;

/// Share of the stage's time that an equality on a key would leave.
const LEFT: f64 = 0.1;

/// A symptom for each join with a condition that compares many pairs of rows for few rows of output.
pub(super) fn symptoms(view: &View<'_>, app: &Application) -> Vec<Symptom> {
    let plans = app
        .executions
        .iter()
        .map(|execution| (execution.line, &execution.plan));
    let joins = plans.flat_map(|(line, plan)| {
        let nodes = plan.iter().enumerate();
        nodes.filter_map(move |(at, node)| Some((line, node, compared(plan, at)?)))
    });
    joins
        .filter_map(|(line, node, pairs)| symptom(view, app, line, node, pairs))
        .collect()
}

/// Pairs of rows that a join compares; `None` for another operator, or for a join without a condition.
fn compared(plan: &[SparkNode], at: usize) -> Option<f64> {
    let node = &plan[at];
    let is_nested = ["BroadcastNestedLoopJoin", "CartesianProduct"].contains(&node.name.as_str());
    let has_condition = node.text.contains('(') && node.text.contains('#');
    (is_nested && has_condition).then_some(())?;
    let sides = inputs_of(plan, at).map(|side| rows_from(plan, side));
    let rows: Option<Vec<f64>> = sides.collect();
    let rows = rows.filter(|rows| rows.len() == 2)?;
    Some(rows.iter().product())
}

fn symptom(
    view: &View<'_>,
    app: &Application,
    line: u64,
    node: &SparkNode,
    pairs: f64,
) -> Option<Symptom> {
    let out = node.metric("number of output rows")?;
    let is_in_vain = pairs >= LEAST_PAIRS && pairs >= LEAST_IN_VAIN * out;
    let stage = *node.stages.last().filter(|_| is_in_vain)?;
    let compared = text!(
        "{join} 比较了 {pairs} 对行，输出 {rows}",
        "{join} compares {pairs} pairs of rows and returns {rows}",
        join = node.name,
        pairs = Number(pairs),
        rows = ROW.count(out)
    );
    Some(Symptom {
        stage: Some(stage),
        lines: None,
        summary: text!(
            "{stage} 的 {compared}：连接条件中没有对所有行都成立的相等条件",
            "in {stage}, {compared}: its condition has no equality that holds for all rows",
            stage = view.name(stage),
            compared = compared,
        ),
        evidence: vec![
            fact! { view, "compared pairs of rows", pairs, "count", app.at_line(line);
            "{compared}", "{compared}", compared = compared },
        ],
        saved: view.saved_in(stage, |stage| scale_run(stage, LEFT)),
        method: "schedule replayed with a tenth of the stage's time, as with an equality on a key",
        strength: 0.9,
    })
}
