//! Uneven input of a stage: where it is, how much it costs and which of the five kinds it is.
//!
//! Shared by the five skew rules, which only pick their kind and word it. The
//! saving with even input counts, not the ratio: if the largest vertex of a stage has ten times the
//! rows and still ends with the others, this is not a problem.

use job::facts::{OperatorFacts, value};
use job::model::{Edge, ExchangeKind, Operator, OperatorKind};

use super::hot::classify;
use super::{failure, spill};
use crate::impact::{Basis, Saved, VertexWork, flatten};
use crate::settings::{MIN_SHARE, threshold};
use crate::uneven::Uneven;
use crate::view::View;
use report::Cause;

threshold! {
    /// Least ratio of largest to mean input for a shuffled stage to be examined.
    pub(crate) MIN_RATIO = 2.0, "ratio", "skew.max_over_mean";
    "哈希分区在没有热点键时的最大值与均值之比很少超过 1.5；2 以下属于正常波动", "hash partitions without a hot key rarely exceed 1.5; below 2 it is ordinary imbalance";
    "balanced stages of simulated jobs; PrtnSkewFactor of real plans (1.0003)"
}

threshold! {
    /// Least ratio of largest to mean input if the statistics name a value that explains it.
    pub(crate) MIN_NAMED_RATIO = 1.25, "ratio", "skew.named_max_over_mean";
    "分区少时最大值与均值之比不可能很大；统计信息点名的热点值可以补足证据", "with few partitions the ratio cannot be large; a hot value in the statistics compensates for that";
    "four partitions, one of them with a third of the rows: 1.33"
}

threshold! {
    /// Least ratio of largest to mean input for stored partitions to be examined.
    pub(crate) MIN_LAYOUT_RATIO = 2.5, "ratio", "skew.layout_max_over_mean";
    "存储分区按区段切分，最大值达均值两倍很常见", "stored partitions are cut at extents; twice the mean is common without harm";
    "healthy simulated jobs reach 1.9"
}

/// Assumed partitions of data without partitioning by a column: values with 1 % of the rows then
/// stand out.
const USUAL_PARTITIONS: u64 = 25;

/// Whether a value with this share of the rows would make its partition larger than the mean by
/// enough to count as uneven.
pub(crate) fn stands_out(share: f64, partitions: Option<u64>) -> bool {
    let partitions = partitions.unwrap_or(USUAL_PARTITIONS).max(1) as f64;
    1.0 + share * partitions >= MIN_NAMED_RATIO.default
}

/// Every stage with uneven input, or with a join that makes it uneven.
pub(crate) fn find(view: &View<'_>) -> Vec<Uneven> {
    let stages = (0..view.job.stages.len()).filter(|s| !is_repeated(view, *s));
    stages
        .filter_map(|s| uneven(view, s).or_else(|| uneven_join(view, s)))
        .collect()
}

/// Whether a stage failed and was attempted again: its tasks are only part of its work.
fn is_repeated(view: &View<'_>, stage: usize) -> bool {
    let app = view.job.spark.as_ref().filter(|_| !view.failed());
    app.is_some_and(|app| app.stages[stage].failure.is_some())
}

/// A join without an exchange on its key (the larger side stays in place) that still produces
/// most rows in one vertex: the key with the most matches is there.
fn uneven_join(view: &View<'_>, stage: usize) -> Option<Uneven> {
    let vertices = view.vertices(stage).filter(|n| *n >= 2)?;
    if view.failed() || view.basis(stage) < Basis::SomeEvents {
        return None;
    }
    let operators = view.job.stages[stage].operators.iter().enumerate();
    let joins = operators.filter(|(_, o)| o.kind == OperatorKind::Join);
    let ratio = |(at, join): (usize, &Operator)| {
        let spread = view.facts[stage].rows_spread(view.node(stage, join.uid)?)?;
        Some((at, spread.max_over_mean))
    };
    let (join, ratio) = joins.filter_map(ratio).max_by(|a, b| a.1.total_cmp(&b.1))?;
    if ratio < view.limit(&MIN_RATIO) {
        return None;
    }
    let (saved, at_most) = saving(view, stage);
    let share = saved.as_ref().map_or(at_most, |s| s.share);
    let matters = share >= view.limit(&MIN_SHARE);
    matters.then_some(Uneven {
        stage,
        edge: None,
        join: Some(join),
        ratio,
        of_rows: true,
        largest_share: ratio / vertices as f64,
        vertices,
        empty: 0,
        distinct: None,
        hot: None,
        cause: Cause::JoinHotKey,
        saved,
        at_most,
        matters,
    })
}

/// Returns true if no counter shows how a join's output is distributed across vertices.
pub(crate) fn has_unknown_join(view: &View<'_>, stage: usize) -> bool {
    let several = view.vertices(stage).is_some_and(|n| n >= 2);
    let mut joins = view.job.stages[stage].operators.iter();
    let is_open = |join: &Operator| {
        let counted = view.node(stage, join.uid);
        join.kind == OperatorKind::Join
            && counted.is_some_and(|o| o.rows.is_some() && o.rows_max.is_none())
    };
    // the operators of an application count no rows of single tasks
    several && view.job.spark.is_none() && !view.failed() && joins.any(is_open)
}

/// Ratio of largest to mean input of a stage, and the exchange of that input.
pub(crate) struct Imbalance {
    /// `None` for stored data.
    pub(crate) edge: Option<usize>,
    pub(crate) ratio: f64,
    /// Whether the ratio is one of rows; else of bytes.
    pub(crate) of_rows: bool,
    /// Vertices without rows, if known.
    empty: u64,
}

/// Rows and bytes are equally uneven within this factor: rows of a table differ little in size.
const SAME_RATIO: f64 = 0.95;

/// Imbalance of a stage's input over its vertices; `None` if no file shows it.
pub(crate) fn imbalance(view: &View<'_>, stage: usize) -> Option<Imbalance> {
    let vertices = view.vertices(stage)?;
    let facts = &view.facts[stage];
    let counted = |o: &OperatorFacts| o.role.is_input() && o.rows.is_some() && o.rows_max.is_some();
    if facts.bytes_read.is_none() && !facts.operators.iter().any(counted) {
        return None;
    }
    let ended = counted_vertices(view, stage, vertices);
    let (edge, rows_ratio) = most_uneven_edge(view, stage, ended);
    let (bytes_ratio, empty) = bytes_of_vertices(view, stage);
    // an unfinished vertex may not have read its input yet
    let empty = if ended < vertices { 0 } else { empty };
    let ratio = rows_ratio
        .max(bytes_ratio)
        .max(unfinished_ratio(view, stage, vertices));
    Some(Imbalance {
        edge,
        ratio,
        of_rows: rows_ratio >= ratio * SAME_RATIO,
        empty,
    })
}

fn uneven(view: &View<'_>, stage: usize) -> Option<Uneven> {
    let vertices = view.vertices(stage).filter(|n| *n >= 2)?;
    let Imbalance {
        edge,
        ratio,
        of_rows,
        empty,
    } = imbalance(view, stage)?;
    let stored = edge.is_none();
    // few tasks can't have a large ratio, but if each was timed, one that delays the run is visible
    let timed = view.job.spark.is_some();
    let limit = if stored && !timed {
        &MIN_LAYOUT_RATIO
    } else {
        &MIN_NAMED_RATIO
    };
    if ratio < view.limit(limit) || (stored && view.extracts(stage).next().is_none()) {
        return None;
    }
    let (saved, at_most) = saving(view, stage);
    let matters = match &saved {
        _ if view.failed() => failure::hit_limit(view) && failed_here(view, stage),
        Some(saved) => saved.share >= view.limit(&MIN_SHARE),
        None => at_most >= view.limit(&MIN_SHARE),
    };
    let mut found = Uneven {
        stage,
        edge,
        join: None,
        ratio,
        of_rows,
        largest_share: ratio / vertices as f64,
        vertices,
        empty,
        distinct: None,
        hot: None,
        cause: Cause::PartitionLayout,
        saved,
        at_most,
        matters,
    };
    classify(view, &mut found);
    let named = found
        .hot
        .as_ref()
        .is_some_and(|h| h.share >= 0.5 * (found.largest_share - 1.0 / vertices as f64));
    // few partitions can't have a large ratio, but one of them can still delay the run
    let costs = view.basis(stage) >= Basis::SomeEvents
        && ratio > by_chance(view, found.distinct, vertices)
        && found
            .saved
            .as_ref()
            .is_some_and(|s| s.share >= view.limit(&MIN_SHARE));
    let far = match stored {
        true => ratio >= view.limit(&MIN_LAYOUT_RATIO) || (costs && holds_up(&found)),
        false => ratio >= view.limit(&MIN_RATIO) || named || costs,
    };
    far.then_some(found)
}

/// Least saving in seconds by even parts of stored data with an ordinary ratio: the last part of a
/// file is always smaller.
const MIN_HELD_UP_S: f64 = 5.0;

fn holds_up(found: &Uneven) -> bool {
    let saved = found.saved.as_ref();
    saved.is_some_and(|s| s.seconds >= MIN_HELD_UP_S)
}

/// Ratio of largest to mean input that hashing equally frequent key values gives by chance: the
/// maximum of `vertices` Poisson counts, by Bernstein's bound. 1 without a count of the values. An
/// event log never counts them, so it gets the largest ratio of hashing without a hot key.
fn by_chance(view: &View<'_>, distinct: Option<u64>, vertices: u64) -> f64 {
    let Some(distinct) = distinct else {
        return if view.job.spark.is_some() { 1.5 } else { 1.0 };
    };
    let per_vertex = distinct.max(1) as f64 / vertices as f64;
    let tail = (vertices as f64).ln() / per_vertex;
    1.0 + (2.0 * tail).sqrt() + tail / 3.0
}

/// Saving with even input, and its upper bound.
///
/// Without vertex events, the largest vertex may have been the first of its stage to
/// get a token, and hidden behind the others, or the last. If only one of the two is relevant, the saving
/// is unknown.
fn saving(view: &View<'_>, stage: usize) -> (Option<Saved>, f64) {
    let spilled = view.run_seconds(stage, spill::surplus_ms(view, stage));
    let saved = view.saved_in(stage, move |stage| flatten(stage, spilled));
    let basis = view.basis(stage);
    let saved = saved.filter(|_| basis != Basis::Unknown);
    let (Some(run), Some(share)) = (&view.run, saved.as_ref().map(|s| s.share)) else {
        return (saved, view.stake(stage));
    };
    if basis == Basis::Events || run.is_small(stage) {
        return (saved, share);
    }
    let limit = view.limit(&MIN_SHARE);
    let replayed = |edit: &dyn Fn(&mut Vec<VertexWork>)| {
        let mut stages = run.stages.clone();
        edit(&mut stages[stage].vertices);
        run.replay(&stages)
    };
    let by_size = |a: &VertexWork, b: &VertexWork| a.total_s().total_cmp(&b.total_s());
    let last = replayed(&|vertices| vertices.sort_by(by_size));
    let first = replayed(&|vertices| vertices.sort_by(|a, b| by_size(b, a)));
    let even = run.replayed_s * (1.0 - share);
    let share_of = |all: f64| ((all - even) / all.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let (least, most) = (share_of(first), share_of(last).max(share));
    (saved.filter(|_| least >= limit || most < limit), most)
}

/// Ratio of largest to mean input of an unfinished stage: the input that its completed vertices left unread,
/// over the mean. 0 in a job that did not fail.
fn unfinished_ratio(view: &View<'_>, stage: usize, vertices: u64) -> f64 {
    let ended = ended_vertices(view, stage).unwrap_or(vertices);
    if !view.failed() || ended >= vertices {
        return 0.0;
    }
    let written: f64 = view
        .hashed_inputs(stage)
        .filter_map(|e| e.bytes_written)
        .sum();
    let read: f64 = view.hashed_inputs(stage).filter_map(|e| e.bytes_read).sum();
    let left = (written - read).max(0.0) / (vertices - ended) as f64;
    if written > 0.0 {
        left / (written / vertices as f64)
    } else {
        0.0
    }
}

/// Vertices with counted rows. In a failed job these are the completed ones; 0 if their number is
/// unknown.
fn counted_vertices(view: &View<'_>, stage: usize, planned: u64) -> u64 {
    if !view.failed() {
        return planned;
    }
    ended_vertices(view, stage).unwrap_or(0).min(planned)
}

/// Completed vertices. Truncated events count too few of them.
fn ended_vertices(view: &View<'_>, stage: usize) -> Option<u64> {
    let by_events = view.job.stages[stage].runs.as_ref().map(|r| r.completed);
    let stated = view.facts[stage].stated.as_ref();
    let stated = stated.and_then(|s| value(&s.succeeded)).map(|n| n as u64);
    by_events.max(stated)
}

/// Whether a stage may be reported as uneven: in a failed job, only the failed stage may.
fn failed_here(view: &View<'_>, stage: usize) -> bool {
    let named = view
        .job
        .errors
        .iter()
        .filter_map(|e| e.stage.as_deref())
        .next();
    named.is_none_or(|name| name == view.name(stage))
}

/// The repartitioning edge with the largest max/mean of rows, by the reader's counters.
fn most_uneven_edge(view: &View<'_>, stage: usize, vertices: u64) -> (Option<usize>, f64) {
    let mut best: (Option<usize>, f64) = (None, 0.0);
    for (index, edge) in view.numbered_inputs(stage) {
        if !matches!(edge.exchange, ExchangeKind::Hash | ExchangeKind::Range) {
            continue;
        }
        let ratio = view.node(stage, edge.uid).and_then(|n| {
            let (rows, max) = (value(&n.rows)?, value(&n.rows_max)?);
            (rows > 0.0).then(|| max / rows * vertices as f64)
        });
        // among equally uneven inputs, the one with more bytes decides the vertex's work
        let ratio = ratio.unwrap_or(0.0);
        let better = match best.0 {
            None => true,
            Some(b) => {
                let bytes = |e: &Edge| e.bytes_written.unwrap_or(0.0);
                ratio > best.1 * 1.1
                    || (ratio > best.1 * 0.9 && bytes(edge) > bytes(&view.job.edges[b]))
            }
        };
        if better {
            best = (Some(index), ratio);
        }
    }
    best
}

/// Ratio of largest to mean bytes read, and the number of vertices that read almost no data.
fn bytes_of_vertices(view: &View<'_>, stage: usize) -> (f64, u64) {
    let Some(run) = &view.run else {
        return (0.0, 0);
    };
    let (work, basis) = (&run.stages[stage], run.basis[stage]);
    let mean = work.bytes() / work.vertices.len().max(1) as f64;
    if basis == Basis::Unknown || mean <= 0.0 {
        return (0.0, 0);
    }
    let max = work.vertices.iter().map(|v| v.bytes).fold(0.0, f64::max);
    // every vertex reads its part of a small second input; below a fiftieth, the vertex got only that part
    let others = (work.bytes() - max) / work.vertices.len().max(2).saturating_sub(1) as f64;
    let is_empty = |v: &&VertexWork| v.bytes < 0.02 * others;
    let empty = match basis {
        Basis::Events | Basis::SomeEvents => work.vertices.iter().filter(is_empty).count() as u64,
        _ => u64::from(least_read(view, stage).is_some_and(|least| least < 0.02 * others)),
    };
    (max / mean, empty)
}

/// Bytes read by the vertex with the fewest.
fn least_read(view: &View<'_>, stage: usize) -> Option<f64> {
    value(&view.facts[stage].stated.as_ref()?.bytes_read_min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_out_by_what_it_adds_to_a_partition() {
        for (share, partitions, expected) in [
            (0.096, Some(16), true),
            (0.001, Some(20), false),
            (0.001, Some(1000), true),
            (0.02, Some(4), false),
            (0.01, None, true),
            (0.009, None, false),
        ] {
            assert_eq!(stands_out(share, partitions), expected, "{share}");
        }
    }
}
