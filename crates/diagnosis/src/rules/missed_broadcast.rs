//! Rule for `shuffle.missed_broadcast`: a side small enough to broadcast is repartitioned together
//! with a big one.

use job::info::Information;
use job::model::{Edge, ExchangeKind, Operator, OperatorKind};

use super::support::{Symptom, both};
use crate::impact::{Saved, merge_into, scale_run};
use crate::measurements::exchange::partitioner_fact;
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::{Bytes, Number};
use report::{Cause, Evidence, text};

/// Bytes up to which a side can be broadcast.
pub(crate) static MAX_BYTES: Threshold = Threshold {
    name: "missed_broadcast.max_bytes",
    default: 256e6,
    unit: "bytes",
    reason_zh: "每个顶点都要读入整侧并建哈希表；256 MB 在 6 GB 的顶点内仍安全",
    reason_en: "every vertex reads and hashes the whole side; 256 MB is safe in a vertex of 6 GB",
    source: "vertex memory of the service; plans that broadcast 200 MB were seen to run well",
};

/// Bytes up to which a side should be broadcast although the optimizer knew its size.
pub(crate) static SURE_BYTES: Threshold = Threshold {
    name: "missed_broadcast.sure_bytes",
    default: 64e6,
    unit: "bytes",
    reason_zh: "优化器在估计正确时也会选择重分区；更大的一侧只有在被高估时才算错过",
    reason_en: "an optimizer that knew the size had its reasons; a larger side counts if it was overestimated",
    source: "judgement",
};

/// How many times its rows a side must have been estimated to count as overestimated.
const OVERESTIMATE: f64 = 4.0;

/// How many times larger the other side must be.
pub(crate) static MIN_FACTOR: Threshold = Threshold {
    name: "missed_broadcast.min_factor",
    default: 10.0,
    unit: "ratio",
    reason_zh: "大侧不够大时，重分区两侧与广播相差不多",
    reason_en: "with a side that is not much bigger, repartitioning both costs about the same",
    source: "physics: what broadcasting adds grows with the number of vertices",
};

/// Milliseconds per byte to read a broadcast copy, and per row to put it into a hash table:
/// fitted to the broadcast joins of simulated jobs.
const BROADCAST_MS_PER_BYTE: f64 = 2.4e-5;
const BUILD_MS_PER_ROW: f64 = 0.35e-3;

/// The rule.
pub(crate) struct MissedBroadcast;

static ABOUT: About = About {
    cause: Cause::MissedBroadcast,
    what: both(
        "小到可以广播的一侧与大表一起被重分区",
        "a side small enough to broadcast is repartitioned together with a big one",
    ),
    needs: &[Information::StageGraph, Information::RuntimeCounters],
    helps: &[Information::Estimates, Information::TableStatistics],
    thresholds: &[&MAX_BYTES, &SURE_BYTES, &MIN_FACTOR],
    counter_evidence: &[
        both(
            "连接之后还要按同样的键聚合，大侧仍需重分区",
            "an aggregation on the same keys follows: the big side must be repartitioned anyway",
        ),
        both(
            "大侧已按连接键分区，不需要重分区",
            "the big side is partitioned on the key already",
        ),
        both(
            "小侧是外连接保留的一侧，不能广播",
            "the small side is the one that an outer join keeps",
        ),
    ],
};

impl Rule for MissedBroadcast {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for (stage, s) in view.job.stages.iter().enumerate() {
            for (index, join) in s
                .operators
                .iter()
                .enumerate()
                .filter(|(_, o)| o.kind == OperatorKind::Join)
            {
                if let Some((small, big)) =
                    sides(view, stage, index).filter(|_| frees_big_side(view, stage, join))
                {
                    result.found(view, symptom(view, stage, index, small, big));
                }
            }
        }
        result.cleared_by(text!(
            "没有小到可以广播却被重分区的连接输入",
            "no join input that is small enough to broadcast is repartitioned"
        ))
    }
}

/// The small and the big repartitioned input of a join.
fn sides<'a>(view: &View<'a>, stage: usize, join: usize) -> Option<(&'a Edge, &'a Edge)> {
    let edges: Vec<&Edge> = view
        .inputs(stage)
        .filter(|e| {
            e.exchange == ExchangeKind::Hash && view.consumer_of(e).is_some_and(|(i, _)| i == join)
        })
        .collect();
    let [a, b] = edges.as_slice() else {
        return None;
    };
    let size = |e: &Edge| e.bytes_written.unwrap_or(f64::MAX);
    let (small, big) = if size(a) <= size(b) {
        (*a, *b)
    } else {
        (*b, *a)
    };
    let small_enough = size(small) <= view.limit(&SURE_BYTES) || overestimated(view, small);
    let fits = small_enough
        && size(small) <= view.limit(&MAX_BYTES)
        && size(big) >= size(small) * view.limit(&MIN_FACTOR);
    (fits && size(big) < f64::MAX && !kept_by_outer_join(view, stage, join, small))
        .then_some((small, big))
}

/// Whether the plan expected far more rows on an edge than came.
fn overestimated(view: &View<'_>, edge: &Edge) -> bool {
    let (Some(plan), Some(rows)) = (&view.job.plan, edge.rows_written) else {
        return false;
    };
    let keys = edge.keys.join(",");
    let exchanges = plan
        .nodes
        .iter()
        .filter(|n| n.name == "Exchange" && n.attributes.get("Partitioning") == Some(&keys));
    let least = exchanges.filter_map(|n| n.card).fold(f64::MAX, f64::min);
    least < f64::MAX && least >= rows.max(1.0) * OVERESTIMATE
}

/// Whether an outer join keeps the rows of the side that an edge feeds.
fn kept_by_outer_join(view: &View<'_>, stage: usize, join: usize, edge: &Edge) -> bool {
    let plan = view.job.estimate_of(stage, join).map(|l| l.value);
    let kind = plan
        .and_then(|p| p.attributes.get("JoinType"))
        .map(|t| t.to_lowercase())
        .unwrap_or_default();
    let left = {
        let operator = &view.job.stages[stage].operators[join];
        operator.inputs.first().is_some_and(|input| {
            edge.channel == input.id
                || view
                    .reader_of(edge)
                    .is_some_and(|(_, o)| o.outputs.iter().any(|c| c.id == input.id))
        })
    };
    kind.contains("full")
        || (kind.contains("leftouter") && left)
        || (kind.contains("rightouter") && !left)
}

/// Whether the big side would not have to be repartitioned any more: nothing else in the stage
/// groups by the join's keys without another exchange.
fn frees_big_side(view: &View<'_>, stage: usize, join: &Operator) -> bool {
    let operators = &view.job.stages[stage].operators;
    let mut open: Vec<&Operator> = vec![join];
    let mut seen = 0;
    while let Some(at) = open.pop() {
        seen += 1;
        if seen > operators.len() * 4 {
            break;
        }
        for (_, next) in view.readers_within(stage, at) {
            if matches!(
                next.kind,
                OperatorKind::Aggregate
                    | OperatorKind::Reduce
                    | OperatorKind::Join
                    | OperatorKind::Combine
            ) {
                return false;
            }
            let windowed = next.class_name.contains("SequenceProject");
            if windowed {
                return false;
            }
            open.push(next);
        }
    }
    true
}

fn symptom(view: &View<'_>, stage: usize, join: usize, small: &Edge, big: &Edge) -> Symptom {
    let (s, b) = (
        small.bytes_written.unwrap_or(0.0),
        big.bytes_written.unwrap_or(0.0),
    );
    let rows = Number(small.rows_written.unwrap_or(0.0));
    let keys = big.keys.join(", ");
    Symptom {
        cause: Cause::MissedBroadcast,
        stage: Some(stage),
        lines: view.lines(stage, join),
        summary: text!(
            "{stage} 的连接为了一侧仅 {size}（{rows} 行）的小表，把另一侧 {size_2} 按 {keys} 重分区；小表可以广播",
            "the join in {stage} repartitions {size_2} on {keys} to meet a side of only {size} ({rows} rows), which could be broadcast",
            stage = view.name(stage),
            size = Bytes(s),
            rows = rows,
            size_2 = Bytes(b)
        ),
        evidence: evidence(view, small, big),
        saved: saved(view, stage, small, big),
        method: "schedule replayed with the small side broadcast into the stage that writes the big one",
        strength: 0.7 + 0.3 * (1.0 - s / view.limit(&MAX_BYTES)).clamp(0.0, 1.0),
    }
}

fn saved(view: &View<'_>, stage: usize, small: &Edge, big: &Edge) -> Option<Saved> {
    let kept_ms = view.stage_ms(stage) - view.read_ms(small) - view.read_ms(big);
    let kept = view.fraction(stage, kept_ms);
    let written = view.fraction(big.from, view.node_ms(big.from, big.uid).unwrap_or(0.0));
    let copies = view.vertices(big.from).unwrap_or(1) as f64;
    let broadcast_ms = copies
        * (small.bytes_written.unwrap_or(0.0) * BROADCAST_MS_PER_BYTE
            + small.rows_written.unwrap_or(0.0) * BUILD_MS_PER_ROW);
    let writer = big.from;
    view.saved(move |stages| {
        scale_run(&mut stages[writer], 1.0 - written);
        let work = stages[stage].run_s() * kept + broadcast_ms / 1000.0;
        merge_into(stages, stage, writer, work);
    })
}

fn evidence(view: &View<'_>, small: &Edge, big: &Edge) -> Vec<Evidence> {
    let mut facts = Vec::new();
    for (edge, expected) in [(small, None), (big, Some("not repartitioned"))] {
        if let Some(written) = view.node(edge.from, edge.uid) {
            let fact = view.measured(&written.bytes, "bytes");
            facts.extend(fact.map(|f| match expected {
                Some(e) => f.expecting(e),
                None => f,
            }));
            facts.extend(view.measured(&written.rows, "rows"));
        }
        facts.extend(partitioner_fact(view, edge));
    }
    facts
}
