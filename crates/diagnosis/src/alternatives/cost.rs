//! Cost of an alternative: added and removed operator time, at the rates that the
//! job measured, replayed as a run.

use std::collections::BTreeMap;

use job::facts::{Role, value};
use job::model::{Edge, OperatorKind};

use crate::impact::{Saved, merge_into, scale_run};
use crate::measurements::contention::contention;
use crate::properties::dataflow::Node;
use crate::view::View;

/// Milliseconds per byte written to or read from a channel without a measurement in the job: 40 MB/s,
/// the rate of one stream on a shared disk and network.
const MOVE_MS_PER_BYTE: f64 = 2.5e-5;

/// Milliseconds per row that is sorted, hashed or grouped where the job measured none: two
/// million rows a second, the pace of a native operator on one core.
const ROW_MS: f64 = 0.5e-3;

/// Mean rates of the job's operators, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    /// Per byte of an exchange.
    pub(crate) write: f64,
    pub(crate) read: f64,
    /// Per row.
    pub(crate) sort: f64,
    pub(crate) join: f64,
    pub(crate) group: f64,
    /// Whether writing and reading were measured.
    pub(crate) measured: bool,
}

impl Rates {
    pub(crate) fn of(view: &View<'_>) -> Rates {
        let shuffles = || view.job.edges.iter().filter(|e| View::is_shuffle(e));
        let written =
            shuffles().filter_map(|e| Some((view.node_ms(e.from, e.uid)?, e.bytes_written?)));
        let read = shuffles().filter_map(|e| Some((view.node_ms(e.to, e.uid)?, e.bytes_read?)));
        // the tasks of an application time the write to disk, but not the work before it
        let timed = view.job.spark.is_none();
        let (write, read) = (
            rate(written).filter(|_| timed),
            rate(read).filter(|_| timed),
        );
        let nodes = || view.derived().flow.nodes.iter();
        let rows_in = |n: &Node<'_>| {
            let facts = &view.facts[n.stage];
            let at = facts.position(n.operator.uid)?;
            Some(facts.rows_in(at).iter().sum::<f64>()).filter(|rows| *rows > 0.0)
        };
        let of_kind = |kind: OperatorKind| {
            let all = nodes().filter(|n| n.operator.kind == kind);
            rate(all.filter_map(|n| Some((view.node_ms(n.stage, n.operator.uid)?, rows_in(n)?))))
        };
        let per_row = |kind| of_kind(kind).unwrap_or(ROW_MS);
        let sorts = view.facts.iter().flat_map(|f| &f.operators);
        let sorts = sorts.filter(|o| o.role == Role::Sort);
        let sort = rate(sorts.filter_map(|o| Some((value(&o.own_ms)?, value(&o.rows)?))));
        let usual = MOVE_MS_PER_BYTE * contention(view);
        Rates {
            write: write.unwrap_or(usual),
            read: read.unwrap_or(usual),
            sort: sort.unwrap_or(ROW_MS),
            join: per_row(OperatorKind::Join),
            group: of_kind(OperatorKind::PartialAggregate)
                .unwrap_or_else(|| per_row(OperatorKind::Aggregate)),
            measured: write.is_some() && read.is_some(),
        }
    }

    /// Writing and reading a byte of an exchange.
    pub(crate) fn moving(&self) -> f64 {
        self.write + self.read
    }
}

fn rate(all: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (ms, amount) = all.fold((0.0, 0.0), |(ms, n), (a, b)| (ms + a, n + b));
    (amount > 0.0 && ms > 0.0).then(|| ms / amount)
}

/// Milliseconds that an operator takes itself; 0 if they were not measured.
pub(crate) fn node_ms(view: &View<'_>, node: &Node<'_>) -> f64 {
    view.node_ms(node.stage, node.operator.uid).unwrap_or(0.0)
}

/// Output rows of an operator.
pub(crate) fn node_rows(view: &View<'_>, node: &Node<'_>) -> Option<f64> {
    value(&view.node(node.stage, node.operator.uid)?.rows)
}

pub(crate) fn write_ms(view: &View<'_>, rates: &Rates, edge: &Edge) -> f64 {
    let measured = view
        .node_ms(edge.from, edge.uid)
        .filter(|_| view.job.spark.is_none());
    let usual = edge.bytes_written.unwrap_or(0.0) * rates.write;
    measured.unwrap_or_else(|| within(view, edge.from, usual))
}

pub(crate) fn read_ms(view: &View<'_>, rates: &Rates, edge: &Edge) -> f64 {
    let bytes = edge.bytes_read.or(edge.bytes_written).unwrap_or(0.0);
    view.node_ms(edge.to, edge.uid)
        .filter(|_| view.job.spark.is_none())
        .unwrap_or_else(|| within(view, edge.to, bytes * rates.read))
}

/// Largest share of the time of an application's stage that writing or reading an exchange takes: the rest goes to its rows.
const MOST_MOVING: f64 = 0.5;

fn within(view: &View<'_>, stage: usize, usual_ms: f64) -> f64 {
    let run = view.run.as_ref().filter(|_| view.job.spark.is_some());
    let most = run
        .and_then(|run| run.stages.get(stage))
        .map(|work| work.run_s() * 1000.0 * MOST_MOVING);
    most.map_or(usual_ms, |most| usual_ms.min(most))
}

/// Milliseconds of sorting an edge, if its reader sorts first.
pub(crate) fn sort_ms(view: &View<'_>, edge: &Edge) -> f64 {
    let sort = view.sort_of(edge).and_then(|s| value(&s.own_ms));
    sort.unwrap_or(0.0)
}

/// How a change alters the work of the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work {
    /// Additional milliseconds of operator time per stage; negative for a saving.
    ms: BTreeMap<usize, f64>,
    /// Stages that run inside others, in merge sequence: from, into.
    merged: Vec<(usize, usize)>,
    /// Share of its data that a stage keeps.
    kept: BTreeMap<usize, f64>,
}

impl Work {
    pub(crate) fn add(&mut self, stage: usize, ms: f64) {
        *self.ms.entry(stage).or_insert(0.0) += ms;
    }

    pub(crate) fn merge(&mut self, from: usize, into: usize) {
        self.merged.push((from, into));
    }

    /// Leaves a stage a share of its data. The optimizer derives the number of partitions from the expected
    /// bytes. Its new estimate is unknown, so half of the reduction, on a scale of
    /// ratios, goes into fewer vertices and half into less time per vertex.
    pub(crate) fn shrink(&mut self, stage: usize, share: f64) {
        *self.kept.entry(stage).or_insert(1.0) *= share;
    }

    /// Saving of the run; `None` if its work is unknown. If a stage has no operator counters,
    /// its operator time is run time.
    pub(crate) fn saved(self, view: &View<'_>) -> Option<Saved> {
        let run = view.run.as_ref()?;
        if self.ms.keys().any(|stage| view.is_untimed(*stage)) {
            return None;
        }
        let factors: Vec<(usize, f64)> = self
            .ms
            .iter()
            .filter_map(|(stage, ms)| {
                let run_s = run.stages.get(*stage)?.run_s();
                let all_ms = view.stage_ms(*stage);
                let seconds = match all_ms > 0.0 {
                    true => run_s * ms / all_ms,
                    false => ms / 1000.0,
                };
                let vertices = self.kept.get(stage).map_or(1.0, |share| share.sqrt());
                (run_s > 0.0).then(|| (*stage, (1.0 + seconds / run_s) / vertices.max(0.01)))
            })
            .collect();
        let merged = self.merged;
        view.saved(move |stages| {
            for (stage, factor) in &factors {
                scale_run(&mut stages[*stage], *factor);
            }
            for (from, into) in &merged {
                let kept_s = stages[*from].run_s();
                merge_into(stages, *from, *into, kept_s);
            }
        })
    }
}
