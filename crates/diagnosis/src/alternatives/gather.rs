//! Alternative: do the work of a gather's single vertex on the vertices with the rows, and gather only
//! the results.

use job::model::OperatorKind;

use super::broadcast::width;
use super::cost::{Rates, node_rows};
use crate::impact::{Saved, regroup};
use crate::properties::Partitioning;
use crate::properties::dataflow::Node;
use crate::view::View;

/// A gather that could run on many vertices.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) edge: usize,
    pub(crate) bytes: f64,
    /// Vertices that would share its work: the writers of the rows.
    pub(crate) vertices: u64,
    pub(crate) saved: Option<Saved>,
}

/// Every gather into a single vertex with divisible work: a sort by ranges of its keys, groups
/// by their keys, a top-N or an aggregate without keys in part.
pub(crate) fn alternatives(view: &View<'_>, rates: &Rates) -> Vec<Gathered> {
    let edges = view.job.edges.iter().enumerate();
    let gathers = edges.filter(|(_, e)| Partitioning::of_exchange(e) == Partitioning::Single);
    gathers
        .filter(|(_, e)| view.vertices(e.to).is_none_or(|n| n == 1))
        .filter_map(|(edge, _)| divided(view, rates, edge))
        .collect()
}

fn divided(view: &View<'_>, rates: &Rates, edge: usize) -> Option<Gathered> {
    let e = &view.job.edges[edge];
    let counted = view.run.as_ref().map(|r| r.stages[e.to].bytes());
    let bytes = e.bytes_written.or(counted.filter(|b| *b > 0.0))?;
    let vertices = view.vertices(e.from).filter(|n| *n > 1)?;
    let flow = &view.derived().flow;
    let own = || flow.of_stage(e.to);
    // a function of an application takes one row at a time
    let by_row = view.job.spark.is_some();
    let keyless = |n: &Node<'_>| !by_row && n.is_user_code() && n.operator.keys.is_empty();
    if own().any(|(_, n)| keyless(n)) {
        return None;
    }
    // Partial results of all vertices are gathered in the end if they are smaller than the rows; otherwise the
    // result is written piece by piece.
    let reduces = |n: &Node<'_>| {
        let kind = n.operator.kind;
        matches!(kind, OperatorKind::Aggregate | OperatorKind::Top)
    };
    let reducer = own().find(|(_, n)| reduces(n));
    let left_bytes =
        reducer.and_then(|(at, n)| Some(node_rows(view, n)? * vertices as f64 * width(view, at)));
    let final_s = left_bytes.map_or(0.0, |b| b.min(bytes) * rates.moving() / 1000.0);
    let counts = std::iter::successors(Some(vertices), |n| Some(n / 2).filter(|n| *n > 1));
    let (vertices, saved) = counts
        .map(|n| (n, spread_over(view, e.to, n, final_s)))
        .max_by(|a, b| seconds(&a.1).total_cmp(&seconds(&b.1)))?;
    Some(Gathered {
        edge,
        bytes,
        vertices,
        saved,
    })
}

fn seconds(saved: &Option<Saved>) -> f64 {
    saved.as_ref().map_or(0.0, |s| s.seconds)
}

/// Saving with a stage's work spread over some vertices, followed by a last one.
fn spread_over(view: &View<'_>, stage: usize, vertices: u64, final_s: f64) -> Option<Saved> {
    view.saved_in(stage, move |stage| {
        let start_s = stage.vertices.first().map_or(0.0, |v| v.start_s);
        regroup(stage, vertices as usize, 0.0);
        // The last vertex follows the slowest of the others: its time comes on top of each.
        for vertex in &mut stage.vertices {
            vertex.run_s += start_s + final_s;
        }
    })
}
