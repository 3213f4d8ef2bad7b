//! Alternative: copy the small side of a join to every vertex that has rows of the big one, which
//! then stays where it is.

use job::model::OperatorKind;

use super::cost::{Rates, Work, node_ms, node_rows, read_ms, sort_ms, write_ms};
use crate::impact::Saved;
use crate::properties::{Change, Exchange, Partitioning};
use crate::view::View;

/// Bytes of memory that a byte of a hash table's rows takes, with its pointers and free space.
const HASH_TABLE_FACTOR: f64 = 2.0;

/// A join with its small side broadcast.
#[derive(Debug)]
pub(crate) struct Broadcast {
    pub(crate) stage: usize,
    /// The join, by its index in the stage.
    pub(crate) join: usize,
    /// Edges that bring the small side, and the big one.
    pub(crate) small: Vec<usize>,
    pub(crate) big: usize,
    pub(crate) small_bytes: f64,
    pub(crate) small_rows: f64,
    /// Bytes that have to be repartitioned after the join instead, because an operator behind it
    /// needs them together.
    pub(crate) exchanged_after: f64,
    pub(crate) saved: Option<Saved>,
}

/// Sizes up to which a side can be broadcast, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) max: f64,
    /// The limit if the optimizer knew the size and repartitioned nevertheless.
    pub(crate) sure: f64,
}

/// Least overestimate of a side's rows that shows that the optimizer did not know its size.
const OVERESTIMATE: f64 = 4.0;

/// Every join that repartitions both sides, with the smaller one broadcast instead if a vertex can
/// hold it. `Err` with the stage where no file says which side an outer join keeps.
pub(crate) fn alternatives(
    view: &View<'_>,
    rates: &Rates,
    limits: Limits,
) -> Vec<Result<Broadcast, usize>> {
    let nodes = view.derived().flow.nodes.iter().enumerate();
    let joins = nodes.filter(|(_, n)| n.operator.kind == OperatorKind::Join);
    joins
        .filter_map(|(at, _)| alternative(view, rates, limits, at))
        .collect()
}

fn alternative(
    view: &View<'_>,
    rates: &Rates,
    limits: Limits,
    join: usize,
) -> Option<Result<Broadcast, usize>> {
    let derived = view.derived();
    let node = &derived.flow.nodes[join];
    let sides = [0, 1].map(|i| side(view, join, i));
    let [Some(left), Some(right)] = &sides else {
        return None;
    };
    let (at, small, other) = match right.bytes <= left.bytes {
        true => (1, right, left),
        false => (0, left, right),
    };
    let [big] = other.edges.as_slice() else {
        return None;
    };
    let into = view.job.edges[*big].from;
    if !fits(view, limits, (join, at), small, into) {
        return None;
    }
    let kept = match derived.outer_sides(join) {
        Some(kept) => kept,
        None => return Some(Err(node.stage)),
    };
    if [kept.left, kept.right][at] {
        return None;
    }
    let mut change = Change::from([(*big, Exchange::Dropped)]);
    broadcast(&mut change, &small.edges);
    let unmet = settle(view, &mut change, limits, into);
    let (work, exchanged_after) = price(view, rates, &change, *big, &unmet);
    Some(Ok(Broadcast {
        stage: node.stage,
        join: node.index,
        small: small.edges.clone(),
        big: *big,
        small_bytes: small.bytes,
        small_rows: small.rows,
        exchanged_after,
        saved: work.saved(view),
    }))
}

/// A side of a join that comes over exchanges.
struct Side {
    edges: Vec<usize>,
    bytes: f64,
    rows: f64,
}

fn side(view: &View<'_>, join: usize, input: usize) -> Option<Side> {
    let edges = view.derived().arrivals(join, input)?;
    let all = || edges.iter().map(|e| &view.job.edges[*e]);
    Some(Side {
        bytes: all().map(|e| e.bytes_written).sum::<Option<f64>>()?,
        rows: all().map(|e| e.rows_written).sum::<Option<f64>>()?,
        edges,
    })
}

/// Whether a side of a join can be broadcast into a stage: a vertex there can hold it, and the
/// optimizer did not reject it knowing its size.
fn fits(
    view: &View<'_>,
    limits: Limits,
    (join, input): (usize, usize),
    side: &Side,
    into: usize,
) -> bool {
    let node = &view.derived().flow.nodes[join];
    let estimated = || {
        let planned = view.job.estimate_of(node.stage, node.index)?.value;
        let child = *planned.children.get(input)?;
        view.job.plan.as_ref()?.nodes.get(child)?.card
    };
    let overestimated = || estimated().is_some_and(|n| n >= side.rows.max(1.0) * OVERESTIMATE);
    let memory = view.facts[into].memory_limit;
    side.bytes <= limits.max
        && memory.is_none_or(|m| side.bytes * HASH_TABLE_FACTOR <= m)
        && (side.bytes <= limits.sure || overestimated())
}

fn broadcast(change: &mut Change, edges: &[usize]) {
    let everywhere = || Exchange::To(Partitioning::Everywhere);
    change.extend(edges.iter().map(|e| (*e, everywhere())));
}

/// Requirements that the change leaves unmet, after the small sides of the joins behind it are
/// broadcast as well.
fn settle(
    view: &View<'_>,
    change: &mut Change,
    limits: Limits,
    into: usize,
) -> Vec<(usize, usize)> {
    let derived = view.derived();
    loop {
        let unmet = derived.unmet(change);
        let also = unmet.iter().find_map(|(node, input)| {
            let kept = derived.outer_sides(*node)?;
            let at = 1 - (*input).min(1);
            let other = side(view, *node, at)?;
            let new = !other.edges.iter().any(|e| change.contains_key(e));
            let allowed = ![kept.left, kept.right][at];
            (new && allowed && fits(view, limits, (*node, at), &other, into)).then_some(other.edges)
        });
        match also {
            Some(edges) => broadcast(change, &edges),
            None => return unmet,
        }
    }
}

/// The work of the changed plan, and the bytes that are exchanged behind the join.
fn price(
    view: &View<'_>,
    rates: &Rates,
    change: &Change,
    big: usize,
    unmet: &[(usize, usize)],
) -> (Work, f64) {
    let edge = &view.job.edges[big];
    let (into, stage) = (edge.from, edge.to);
    let copies = view.vertices(into).unwrap_or(1) as f64;
    let mut work = Work::default();
    work.add(into, -write_ms(view, rates, edge));
    work.add(stage, -read_ms(view, rates, edge) - sort_ms(view, edge));
    for small in change.keys().filter(|e| **e != big) {
        let small = &view.job.edges[*small];
        work.add(
            small.to,
            -read_ms(view, rates, small) - sort_ms(view, small),
        );
        let (bytes, rows) = (small.bytes_written, small.rows_written);
        let copy = bytes.unwrap_or(0.0) * rates.read + rows.unwrap_or(0.0) * rates.join;
        work.add(into, copies * copy);
    }
    let mut exchanged = 0.0;
    for (node, input) in unmet {
        exchanged += enforce(view, rates, &mut work, big, (*node, *input));
    }
    let nodes = &view.derived().flow.nodes;
    if !unmet.iter().any(|(node, _)| nodes[*node].stage == stage) {
        work.merge(stage, into);
    }
    (work, exchanged)
}

/// Adds an exchange before an input with an unmet requirement: the operators before it
/// then run in the big side's stage. Before an aggregation, rows are aggregated in part first if
/// that reduces them. Returns the bytes exchanged.
fn enforce(
    view: &View<'_>,
    rates: &Rates,
    work: &mut Work,
    big: usize,
    (reader, input): (usize, usize),
) -> f64 {
    let edge = &view.job.edges[big];
    let (into, stage) = (edge.from, edge.to);
    let nodes = &view.derived().flow.nodes;
    let ms_of = |n: usize| node_ms(view, &nodes[n]);
    let rows_of = |n: usize| node_rows(view, &nodes[n]);
    // The exchange goes below a sort that the reader needs.
    let mut feed = nodes[reader].inputs[input];
    let mut sort = None;
    while let Some(at) = feed
        .node
        .filter(|n| nodes[*n].operator.kind == OperatorKind::Sort)
    {
        sort = Some(at);
        feed = nodes[at].inputs.first().copied().unwrap_or_default();
    }
    let Some(producer) = feed.node else {
        return 0.0;
    };
    let rows = rows_of(producer).or(edge.rows_written).unwrap_or(0.0);
    let (mut sent, mut bytes) = (rows, rows * width(view, producer));
    if nodes[reader].operator.kind == OperatorKind::Aggregate {
        let copies = view.vertices(into).unwrap_or(1) as f64;
        let groups = rows_of(reader).map_or(rows, |out| (out * copies).min(rows));
        let partial = groups * width(view, reader);
        if partial < bytes {
            work.add(into, rows * rates.group);
            (sent, bytes) = (groups, partial);
        }
    }
    work.add(into, bytes * rates.write);
    work.add(nodes[reader].stage, bytes * rates.read);
    match sort {
        Some(at) => work.add(nodes[at].stage, ms_of(at) * (sent / rows.max(1.0) - 1.0)),
        None => work.add(nodes[reader].stage, sent * rates.sort),
    }
    let mut open = vec![producer];
    let mut seen = Vec::new();
    while let Some(at) = open.pop() {
        let sorts = nodes[at].operator.kind == OperatorKind::Sort;
        if nodes[at].stage != stage || nodes[reader].stage != stage || seen.contains(&at) {
            continue;
        }
        seen.push(at);
        if !sorts {
            work.add(stage, -ms_of(at));
            work.add(into, ms_of(at));
        }
        let inner = nodes[at].inputs.iter().filter(|f| f.edge.is_none());
        open.extend(inner.filter_map(|f| f.node));
    }
    bytes
}

/// Mean bytes per output row of an operator.
pub(crate) fn width(view: &View<'_>, node: usize) -> f64 {
    let operator = view.derived().flow.nodes[node].operator;
    let schema = operator.outputs.first().map(|o| o.schema.as_slice());
    let columns = schema.unwrap_or_default().iter();
    columns
        .map(|c| view.column_width(&c.name, &c.type_name))
        .sum()
}
