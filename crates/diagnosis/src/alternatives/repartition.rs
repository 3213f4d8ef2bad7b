//! Alternatives that save an exchange by the keys of another partitioning: the rows' current one,
//! the possible output of an earlier exchange, or another stored layout of the
//! inputs.

use job::model::{Application, Edge, ExchangeKind, Operator, OperatorKind, Table};

use super::cost::{Rates, Work, node_rows, read_ms, sort_ms, write_ms};
use crate::impact::Saved;
use crate::properties::{Change, Exchange, Function, Keys, Partitioning, Required};
use crate::view::View;

/// Least share of a table's rows for a job that reads the whole table.
const WHOLE: f64 = 0.95;

/// An exchange that could be left out.
#[derive(Debug)]
pub(crate) struct Needless {
    pub(crate) edge: usize,
    /// Keys of the rows' partitioning before the exchange, or of the one that it could have.
    pub(crate) have: Vec<String>,
    /// Earlier exchanges that would have to use these keys; empty if the rows already have this
    /// partitioning.
    pub(crate) instead_of: Vec<usize>,
    pub(crate) saved: Option<Saved>,
}

/// Every hash exchange without which all requirements are still met.
pub(crate) fn needless(view: &View<'_>, rates: &Rates) -> Vec<Needless> {
    let edges = view.job.edges.iter().enumerate();
    let hashed = edges.filter(|(_, e)| e.exchange == ExchangeKind::Hash && !e.keys.is_empty());
    hashed
        .filter_map(|(edge, _)| dropped(view, rates, edge).or_else(|| reused(view, rates, edge)))
        .collect()
}

/// Upper bound of a core's time to move a byte, over the usual time: machines differ, and some columns are
/// computed on the way.
const SLOWEST_MOVE: f64 = 4.0;

/// An exchange that an application's code requests, and that the next step makes useless.
pub(crate) struct Requested {
    pub(crate) edge: usize,
    /// Whether its reader aggregates the rows, else only passes them on.
    pub(crate) aggregates: bool,
    pub(crate) saved: Option<Saved>,
}

/// Largest share of the rows of an exchange that is left after an aggregation, which could do most of its work before the exchange.
const AGGREGATED: f64 = 0.1;

/// Exchanges that an application's code requests in vain: neither the number of tasks nor the sort order has an effect
/// later, and their readers pass the rows on to the next exchange, or aggregate them.
pub(crate) fn requested(view: &View<'_>, app: &Application, rates: &Rates) -> Vec<Requested> {
    use OperatorKind::{Aggregate, Join, PartialAggregate, Process, Window};
    let asked = |e: &&job::model::Exchange| {
        let origin = e.origin.as_deref();
        origin.is_some_and(|o| o.starts_with("REPARTITION_BY"))
    };
    let has = |s: usize, kinds: &[OperatorKind]| {
        let operators = &view.job.stages[s].operators;
        operators.iter().any(|o| kinds.contains(&o.kind))
    };
    // the next exchange destroys any sort order
    let hands_on =
        |s: usize| !app.stages[s].writes.is_empty() && !has(s, &[Aggregate, Join, Process, Window]);
    let aggregates = |e: &Edge| {
        let s = e.to;
        let is_only = has(s, &[PartialAggregate]) && !has(s, &[Join, Process, Window]);
        let nodes = view.derived().flow.of_stage(s);
        let kept = nodes.filter(|(_, node)| node.operator.kind == Aggregate);
        let kept = kept
            .filter_map(|(_, node)| node_rows(view, node))
            .reduce(f64::min);
        let all = e.rows_written.unwrap_or(0.0);
        is_only && kept.is_some_and(|kept| kept <= AGGREGATED * all)
    };
    let edges = view.job.edges.iter().enumerate();
    let slots = view.run.as_ref().map_or(1, |r| r.tokens) as u64;
    let busy = |s: usize| view.vertices(s).is_some_and(|n| n >= slots) && !view.is_uneven(s);
    let uids: Vec<u32> = app.exchanges.iter().filter(asked).map(|e| e.uid).collect();
    let asked = edges.filter(|(_, e)| e.uid.is_some_and(|uid| uids.contains(&uid)));
    let useless = asked.filter(|(_, e)| busy(e.from) && !app.stages[e.to].python);
    let found = useless.filter_map(|(edge, e)| {
        let aggregates = aggregates(e);
        let saved = match aggregates {
            true => unmoved(view, rates, edge),
            false if hands_on(e.to) => passed_by(view, rates, edge),
            false => return None,
        };
        Some(Requested {
            edge,
            aggregates,
            saved,
        })
    });
    found.collect()
}

/// Saving without an exchange with a reader that only passes rows on. If the reader has no other work, its writer
/// takes its place and writes its output, so that all the reader's work is saved.
fn passed_by(view: &View<'_>, rates: &Rates, edge: usize) -> Option<Saved> {
    let e = &view.job.edges[edge];
    let operators = &view.job.stages[e.to].operators;
    let reduces = |o: &Operator| o.kind == OperatorKind::PartialAggregate;
    if operators.iter().any(reduces) {
        return without(view, rates, edge, 1.0);
    }
    let written: f64 = view.outputs(e.to).map(|o| write_ms(view, rates, o)).sum();
    let moving = (read_ms(view, rates, e) + written) * SLOWEST_MOVE;
    let mut work = Work::default();
    work.add(e.to, -view.stage_ms(e.to).min(moving));
    work.merge(e.to, e.from);
    work.saved(view)
}

/// An exchange of rows that already have the required partitioning.
fn dropped(view: &View<'_>, rates: &Rates, edge: usize) -> Option<Needless> {
    let derived = view.derived();
    let Partitioning::Keyed(before) = &derived.delivered(writer(view, edge)?).partitioning else {
        return None;
    };
    // An exchange that spreads uneven rows is not for the keys alone.
    if view.is_uneven(view.job.edges[edge].from) {
        return None;
    }
    let mut change = Change::from([(edge, Exchange::Dropped)]);
    let (consumer, input) = consumer(view, edge)?;
    match derived.required(consumer) {
        Required::Together(_) => {}
        Required::Matched => change.extend(matching(view, consumer, input, before)?),
        Required::Any | Required::Unknown => return None,
    }
    derived.unmet(&change).is_empty().then(|| Needless {
        edge,
        have: before
            .names
            .iter()
            .filter_map(|n| n.first().cloned())
            .collect(),
        instead_of: Vec::new(),
        saved: without(view, rates, edge, 1.0),
    })
}

/// The first operator behind an edge with a requirement on its input, and that input.
fn consumer(view: &View<'_>, edge: usize) -> Option<(usize, usize)> {
    let derived = view.derived();
    let (mut node, mut input) = derived.flow.reader(view.job, edge)?;
    for _ in 0..derived.flow.nodes.len() {
        if *derived.required(node) != Required::Any {
            break;
        }
        (node, input) = *derived.flow.nodes[node].readers.first()?;
    }
    Some((node, input))
}

/// Changes to the exchanges of a join's other input that spread it by the same keys; `None` if
/// impossible. Empty if the other input is already partitioned alike.
fn matching(
    view: &View<'_>,
    join: usize,
    input: usize,
    keys: &Keys,
) -> Option<Vec<(usize, Exchange)>> {
    let derived = view.derived();
    let operator = derived.flow.nodes[join].operator;
    let (own, other) = match input {
        0 => (&operator.keys, &operator.right_keys),
        _ => (&operator.right_keys, &operator.keys),
    };
    let hashed = keys.function == Function::Hash;
    let paired = |names: &Vec<String>| {
        let at = own.iter().position(|k| names.contains(k))?;
        other.get(at).cloned()
    };
    let wanted: Option<Vec<String>> = keys.names.iter().map(paired).collect();
    let wanted = wanted.filter(|_| hashed)?;
    let edges = derived.arrivals(join, 1 - input.min(1)).unwrap_or_default();
    let to = Exchange::To(Partitioning::Keyed(Keys::hash(&wanted, keys.parts)));
    Some(edges.into_iter().map(|e| (e, to.clone())).collect())
}

/// An exchange with keys that an earlier exchange could use, because the consumers in between need no more.
/// The earlier stage may then be as uneven as the later one.
fn reused(view: &View<'_>, rates: &Rates, edge: usize) -> Option<Needless> {
    let derived = view.derived();
    let e = &view.job.edges[edge];
    let (consumer, _) = consumer(view, edge)?;
    matches!(derived.required(consumer), Required::Together(_)).then_some(())?;
    let earlier: Vec<usize> = (0..view.job.edges.len())
        .filter(|i| view.job.edges[*i].to == e.from)
        .filter(|i| view.job.edges[*i].exchange == ExchangeKind::Hash)
        .collect();
    let traced = |at: &usize| Some((*at, traced_to(view, edge, *at)?));
    let keys: Vec<(usize, Vec<String>)> = earlier.iter().map(traced).collect::<Option<_>>()?;
    let mut change = Change::from([(edge, Exchange::Dropped)]);
    for (at, keys) in &keys {
        let parts = view.job.edges[*at].partitions;
        let to = Partitioning::Keyed(Keys::hash(keys, parts));
        change.insert(*at, Exchange::To(to));
    }
    if keys.is_empty() || !derived.unmet(&change).is_empty() {
        return None;
    }
    let read = view.node(e.to, e.uid)?;
    let uneven = view.facts[e.to].rows_spread(read)?.max_over_mean;
    Some(Needless {
        edge,
        have: keys.first().map(|(_, k)| k.clone()).unwrap_or_default(),
        instead_of: earlier,
        saved: without(view, rates, edge, uneven.max(1.0)),
    })
}

/// The keys of an exchange by their names on an earlier one that brings the rows into its stage.
fn traced_to(view: &View<'_>, edge: usize, earlier: usize) -> Option<Vec<String>> {
    let nodes = &view.derived().flow.nodes;
    let keys = view.job.edges[edge].keys.iter();
    let trace = |key: &String| {
        let mut open = vec![(writer(view, edge)?, key.as_str())];
        let mut steps = 0;
        while let Some((at, name)) = open.pop() {
            steps += 1;
            let node = &nodes[at];
            if steps > 10_000 {
                return None;
            }
            let inputs = 0..node.inputs.len();
            let mut ways: Vec<(usize, &str)> = inputs
                .filter_map(|i| Some((i, node.source(name, i)?)))
                .collect();
            // Both sides of a join have its keys.
            let pairs = node.operator.keys.iter().zip(&node.operator.right_keys);
            let equal = pairs.filter_map(|(l, r)| match ways.first()? {
                (0, name) if l == name => Some((1, r.as_str())),
                (1, name) if r == name => Some((0, l.as_str())),
                _ => None,
            });
            let equal: Vec<(usize, &str)> = equal.collect();
            ways.extend(equal);
            for (input, name) in ways {
                let Some(feed) = node.inputs.get(input) else {
                    continue;
                };
                match (feed.edge, feed.node) {
                    (Some(e), _) if e == earlier => return Some(name.to_owned()),
                    (None, Some(before)) => open.push((before, name)),
                    _ => {}
                }
            }
        }
        None
    };
    keys.map(trace).collect()
}

/// The operator that writes an edge.
fn writer(view: &View<'_>, edge: usize) -> Option<usize> {
    let flow = &view.derived().flow;
    let (node, input) = flow.reader(view.job, edge)?;
    flow.nodes[node].inputs[input].node
}

/// Saving if the reader of an edge runs inside its writer, which then takes `stretched`
/// times as long: no writing, no reading, no start-up, and no second sort of sorted rows.
pub(crate) fn without(
    view: &View<'_>,
    rates: &Rates,
    edge: usize,
    stretched: f64,
) -> Option<Saved> {
    let derived = view.derived();
    let e = &view.job.edges[edge];
    let reader = derived.flow.reader(view.job, edge);
    let sorted = reader.is_some_and(|(node, _)| {
        let keys = &derived.flow.nodes[node].operator.keys;
        writer(view, edge).is_some_and(|w| derived.delivered(w).is_sorted_on(keys))
    });
    let sort = if sorted { sort_ms(view, e) } else { 0.0 };
    let mut work = Work::default();
    work.add(e.from, -write_ms(view, rates, e));
    work.add(e.from, (view.stage_ms(e.from)) * (stretched - 1.0));
    work.add(e.to, -read_ms(view, rates, e) - sort);
    work.merge(e.to, e.from);
    work.saved(view)
}

/// Largest share of a stage's time that writing or reading an exchange takes if the rows remain to be computed and aggregated.
const MOVING: f64 = 1.0 / 3.0;

/// Saving of an application if the reader of an edge runs inside its writer and does the same work there.
pub(crate) fn unmoved(view: &View<'_>, rates: &Rates, edge: usize) -> Option<Saved> {
    let run = view.run.as_ref()?;
    let e = &view.job.edges[edge];
    let most = |stage: usize| run.stages[stage].run_s() * 1000.0 * MOVING;
    let mut work = Work::default();
    work.add(e.from, -write_ms(view, rates, e).min(most(e.from)));
    work.add(e.to, -read_ms(view, rates, e).min(most(e.to)));
    work.merge(e.to, e.from);
    work.saved(view)
}

/// An exchange of rows that are stored on other keys.
#[derive(Debug)]
pub(crate) struct Stored<'a> {
    pub(crate) edge: usize,
    pub(crate) extract: &'a Operator,
    pub(crate) table: &'a Table,
}

/// A stage with inputs that could be stored on the keys that it needs.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) stage: usize,
    pub(crate) inputs: Vec<Stored<'a>>,
    pub(crate) moved_bytes: f64,
    pub(crate) saved: Option<Saved>,
}

/// Every stage that repartitions only because inputs are stored on keys without a use in their
/// readers. An input without partitioning is a different decision of its owner, and other
/// exchanges would remain.
pub(crate) fn layouts<'a>(view: &View<'a>, rates: &Rates) -> Vec<Layout<'a>> {
    let of_stage = |stage: usize| {
        let edges = view.numbered_inputs(stage);
        let hashed = edges.filter(|(_, e)| e.exchange == ExchangeKind::Hash);
        let hashed: Vec<usize> = hashed.map(|(edge, _)| edge).collect();
        let inputs = hashed.iter().filter_map(|e| stored_on_others(view, *e));
        let inputs: Vec<Stored<'a>> = inputs.collect();
        let local = |e: &usize| inputs.iter().any(|s| s.edge == *e) || is_aligned(view, *e);
        if !hashed.iter().all(local) {
            return None;
        }
        let bytes = |s: &Stored<'_>| view.job.edges[s.edge].bytes_written.unwrap_or(0.0);
        (!inputs.is_empty()).then(|| Layout {
            stage,
            moved_bytes: inputs.iter().map(bytes).sum(),
            saved: stored_alike(view, rates, stage, &hashed),
            inputs,
        })
    };
    (0..view.job.stages.len()).filter_map(of_stage).collect()
}

fn stored_on_others<'a>(view: &View<'a>, edge: usize) -> Option<Stored<'a>> {
    let nodes = &view.derived().flow.nodes;
    let e = &view.job.edges[edge];
    let mut at = writer(view, edge)?;
    let mut keys = e.keys.clone();
    while nodes[at].operator.kind != OperatorKind::Extract {
        let [feed] = nodes[at].inputs.as_slice() else {
            return None;
        };
        let names = keys.iter().map(|k| nodes[at].source(k, 0));
        keys = names.map(|n| n.map(str::to_owned)).collect::<Option<_>>()?;
        at = feed.node.filter(|_| feed.edge.is_none())?;
    }
    let extract = &nodes[at];
    let table = view.table_of(extract.stage, extract.operator)?;
    let clustering = table.clustering.as_ref()?;
    // Ranges, for example of time, serve readers of a part of the data.
    let read = node_rows(view, extract).zip(table.rows);
    let whole = read.is_some_and(|(read, all)| read >= WHOLE * all as f64);
    let hashed = clustering.kind.contains("hash");
    let partitioned = !clustering.keys.is_empty() && (hashed || whole);
    let stored = Keys::hash(&clustering.keys, clustering.partitions);
    // Every other reader of the same data must need it repartitioned too.
    let mut others = view.outputs(e.from).filter(|o| o.channel != e.channel);
    let wanted = others.any(|o| o.exchange == ExchangeKind::Hash && stored.serve(&o.keys));
    let unaligned = partitioned && !stored.serve(&keys) && !wanted;
    unaligned.then_some(Stored {
        edge,
        extract: extract.operator,
        table,
    })
}

/// Whether rows are partitioned on the keys of their exchange before it.
fn is_aligned(view: &View<'_>, edge: usize) -> bool {
    let before = writer(view, edge).map(|w| &view.derived().delivered(w).partitioning);
    before.is_some_and(|p| p.serves(&view.job.edges[edge].keys))
}

/// Saving if all inputs of a stage were stored like the largest one, and the stage ran there.
fn stored_alike(view: &View<'_>, rates: &Rates, stage: usize, hashed: &[usize]) -> Option<Saved> {
    let edges = || hashed.iter().map(|e| &view.job.edges[*e]);
    let bytes = |e: &&job::model::Edge| e.bytes_written.unwrap_or(0.0);
    let main = edges().max_by(|a, b| bytes(a).total_cmp(&bytes(b)))?.from;
    let mut work = Work::default();
    for edge in edges() {
        work.add(edge.from, -write_ms(view, rates, edge));
        work.add(stage, -read_ms(view, rates, edge) - sort_ms(view, edge));
        if edge.from != main {
            work.merge(edge.from, main);
        }
    }
    work.merge(stage, main);
    work.saved(view)
}
