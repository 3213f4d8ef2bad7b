//! Alternative: run a filter below the exchanges that its rows cross.

use job::model::{ExchangeKind, OperatorKind};

use super::columns::condition_words;
use super::cost::{Rates, Work, node_ms, node_rows, read_ms, write_ms};
use crate::impact::Saved;
use crate::view::View;

/// A filter that could run below exchanges.
#[derive(Debug)]
pub(crate) struct Pushed {
    pub(crate) stage: usize,
    /// The filter, by its index in the stage.
    pub(crate) filter: usize,
    pub(crate) columns: Vec<String>,
    /// Share of the rows that it drops.
    pub(crate) dropped: f64,
    /// Edges that the dropped rows would not cross.
    pub(crate) edges: Vec<usize>,
    pub(crate) saved: Option<Saved>,
}

/// Every filter that drops rows, below as many exchanges as it can run.
pub(crate) fn alternatives(view: &View<'_>, rates: &Rates) -> Vec<Pushed> {
    let nodes = view.derived().flow.nodes.iter().enumerate();
    let filters = nodes.filter(|(_, n)| n.operator.kind == OperatorKind::Transform);
    filters
        .filter_map(|(at, _)| pushed(view, rates, at))
        .collect()
}

fn pushed(view: &View<'_>, rates: &Rates, filter: usize) -> Option<Pushed> {
    let node = &view.derived().flow.nodes[filter];
    let (rows, passed) = rows_through(view, filter)?;
    let dropped = 1.0 - passed / rows;
    let columns = columns_of(view, filter)?;
    let path = below(view, filter, &columns);
    if path.edges.is_empty() {
        return None;
    }
    let mut work = Work::default();
    for edge in path.edges.iter().map(|e| &view.job.edges[*e]) {
        work.add(edge.from, -write_ms(view, rates, edge) * dropped);
        work.add(edge.to, -read_ms(view, rates, edge) * dropped);
        work.shrink(edge.to, 1.0 - dropped);
    }
    let nodes = &view.derived().flow.nodes;
    for at in &path.passed {
        work.add(nodes[*at].stage, -node_ms(view, &nodes[*at]) * dropped);
    }
    // The filter itself sees the rows of the lowest exchange.
    let own = node_ms(view, node);
    work.add(node.stage, -own);
    for edge in path.lowest.iter().map(|e| &view.job.edges[*e]) {
        work.add(edge.from, own * edge.rows_written.unwrap_or(rows) / rows);
    }
    Some(Pushed {
        stage: node.stage,
        filter: node.index,
        columns,
        dropped,
        edges: path.edges,
        saved: work.saved(view),
    })
}

/// Rows into and out of a filter; `None` if it drops none or they are not known.
pub(crate) fn rows_through(view: &View<'_>, filter: usize) -> Option<(f64, f64)> {
    let nodes = &view.derived().flow.nodes;
    let node = &nodes[filter];
    let out = node_rows(view, node)?;
    let feed = node.inputs.first()?;
    let rows = match (feed.edge, feed.node) {
        (Some(edge), _) => view.job.edges[edge].rows_read,
        (None, before) => node_rows(view, &nodes[before?]),
    }?;
    (rows > 0.0 && out < rows).then_some((rows, out))
}

/// Columns of its input that a filter's condition reads.
pub(crate) fn columns_of(view: &View<'_>, filter: usize) -> Option<Vec<String>> {
    let node = &view.derived().flow.nodes[filter];
    let known = |name: &String| {
        let inputs = node.operator.inputs.iter();
        inputs.flat_map(|i| &i.schema).any(|c| c.name == *name)
    };
    let words = condition_words(view, node, true);
    let mut columns: Vec<String> = words.into_iter().filter(known).collect();
    columns.sort_unstable();
    columns.dedup();
    (!columns.is_empty()).then_some(columns)
}

/// Edges and operators that a filter passes on its way down.
#[derive(Debug, Default)]
struct Path {
    edges: Vec<usize>,
    /// Operators that would see fewer rows, down to the lowest exchange of their branch.
    passed: Vec<usize>,
    /// The lowest exchange of each branch.
    lowest: Vec<usize>,
}

/// The way of a filter on some columns down to the lowest places with the same result.
fn below(view: &View<'_>, filter: usize, columns: &[String]) -> Path {
    let flow = &view.derived().flow;
    let mut path = Path::default();
    // Input, columns there, operators since the last exchange, and that exchange.
    let mut open = vec![((filter, 0), columns.to_vec(), Vec::new(), None)];
    while let Some(((at, input), columns, mut since, mut last)) = open.pop() {
        let Some(feed) = flow.nodes[at].inputs.get(input) else {
            continue;
        };
        if let Some(edge) = feed.edge.filter(|e| View::is_shuffle(&view.job.edges[*e])) {
            path.edges.push(edge);
            path.passed.append(&mut since);
            last = Some(edge);
        }
        let broadcast = feed
            .edge
            .is_some_and(|e| view.job.edges[e].exchange == ExchangeKind::Broadcast);
        let next = match feed.node {
            Some(node) if !broadcast && path.passed.len() < 10_000 => {
                inputs_for(view, node, &columns)
            }
            _ => Vec::new(),
        };
        if next.is_empty() {
            path.lowest.extend(last);
        }
        for (node, input, columns) in next {
            let mut since = since.clone();
            since.push(node);
            open.push(((node, input), columns, since, last));
        }
    }
    path
}

/// Inputs of an operator that can be filtered instead of its output, with the names that the
/// columns have there; empty if that would change the result.
fn inputs_for(view: &View<'_>, at: usize, columns: &[String]) -> Vec<(usize, usize, Vec<String>)> {
    use OperatorKind as K;
    let derived = view.derived();
    let node = &derived.flow.nodes[at];
    // Another reader needs the dropped rows.
    if node.readers.len() != 1 {
        return Vec::new();
    }
    let names_in = |input: usize| -> Option<Vec<String>> {
        let names = columns.iter().map(|c| node.source(c, input));
        names.map(|n| n.map(str::to_owned)).collect()
    };
    let having = (0..node.inputs.len()).filter_map(|i| Some((at, i, names_in(i)?)));
    let having: Vec<_> = having.collect();
    let Some((_, input, names)) = having.first() else {
        return Vec::new();
    };
    let possible = match node.operator.kind {
        K::Transform
        | K::Union
        | K::Sort
        | K::Split
        | K::HashPartition
        | K::RangePartition
        | K::Gather => true,
        // Whole groups pass or don't.
        K::Aggregate | K::PartialAggregate => names.iter().all(|c| node.operator.keys.contains(c)),
        K::Join => derived.outer_sides(at).is_some_and(|kept| match input {
            0 => !kept.right,
            _ => !kept.left,
        }),
        _ => false,
    };
    let all = !node.unites() || having.len() == node.inputs.len();
    match possible && all {
        true => having,
        false => Vec::new(),
    }
}
