//! Plans of applications without a needless `distinct`.

use job::model::{Application, Execution, SparkNode};

use super::cost::Rates;
use super::repartition::without;
use crate::impact::Saved;
use crate::measurements::plan_parts::{input_of, opaque_above, opaque_below, rows_from};
use crate::view::View;

/// Least share of the rows that a needless `distinct` keeps.
const ALL: f64 = 0.999;

/// A `distinct` over all columns that finds no row twice.
pub(crate) struct Needless {
    pub(crate) edge: usize,
    /// Rows into it and out of it.
    pub(crate) rows: f64,
    pub(crate) kept: f64,
    /// Line of the execution in the log.
    pub(crate) line: u64,
    pub(crate) saved: Option<Saved>,
}

pub(crate) fn needless(view: &View<'_>, app: &Application, rates: &Rates) -> Vec<Needless> {
    let of_execution = |execution: &Execution| {
        let own = (0..execution.plan.len()).filter(|at| is_own_distinct(&execution.plan, *at));
        let found = own.filter_map(|at| finds_nothing(view, rates, execution, at));
        found.collect::<Vec<Needless>>()
    };
    app.executions.iter().flat_map(of_execution).collect()
}

fn finds_nothing(
    view: &View<'_>,
    rates: &Rates,
    execution: &Execution,
    at: usize,
) -> Option<Needless> {
    let plan = execution.plan.as_slice();
    let exchange = opaque_below(plan, at).filter(|at| plan[*at].name == "Exchange")?;
    let partial = opaque_below(plan, exchange).filter(|at| is_distinct(&plan[*at]))?;
    let rows = rows_from(plan, input_of(plan, partial)?)?;
    let kept = plan[at].metric("number of output rows")?;
    let edge = edge_of(view, &plan[exchange]).filter(|_| rows > 0.0 && kept >= ALL * rows)?;
    Some(Needless {
        edge,
        rows,
        kept,
        line: execution.line,
        saved: without(view, rates, edge, 1.0),
    })
}

fn is_distinct(node: &SparkNode) -> bool {
    node.name.contains("Aggregate") && node.text.contains("functions=[]")
}

/// Whether a node is the `distinct` of a query, not a part of `count(DISTINCT …)`.
fn is_own_distinct(plan: &[SparkNode], at: usize) -> bool {
    let counts = |node: &SparkNode| ["distinct", "gid#"].iter().any(|w| node.text.contains(w));
    let node = &plan[at];
    let above = || node.parent.map(|parent| &plan[opaque_above(plan, parent)]);
    is_distinct(node) && !counts(node) && !above().is_some_and(counts)
}

fn edge_of(view: &View<'_>, exchange: &SparkNode) -> Option<usize> {
    view.job
        .edges
        .iter()
        .position(|e| e.uid == Some(exchange.uid))
}
