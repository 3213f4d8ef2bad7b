//! Rule for `shuffle.redundant_repartition`: rows are repartitioned on keys by which they are
//! partitioned already.
//!
//! Rows that are together by `P` are together by every set of keys that contains `P`; a grouping
//! needs no more. A join needs both sides partitioned in the same way, so there the keys must be
//! the same.

use job::info::Information;
use job::model::{Edge, ExchangeKind};

use super::support::{Symptom, both};
use crate::flow::partitioned_by;
use crate::impact::{Saved, merge_into, scale_run};
use crate::measurements::exchange::{feeds_join, partitioner_fact};
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::Bytes;
use report::{Cause, Evidence, text};

/// Vertices of the writing stage, as a share of the partitions written, that must suffice for the
/// work after it.
pub(crate) static MIN_PARALLEL: Threshold = Threshold {
    name: "redundant_repartition.min_vertices",
    default: 0.25,
    unit: "share",
    reason_zh: "若现有分区远少于目标分区，重分区是为了提高并行度，不算多余",
    reason_en: "a repartition into far more parts raises the parallelism and is not redundant",
    source: "judgement",
};

/// The rule.
pub(crate) struct RedundantRepartition;

static ABOUT: About = About {
    cause: Cause::RedundantRepartition,
    what: both(
        "数据已按这些键（或其子集）分区，却再次重分区",
        "rows are repartitioned on keys by which they are partitioned already, or on more keys",
    ),
    needs: &[Information::StageGraph],
    helps: &[Information::RuntimeCounters, Information::StoredLayout],
    thresholds: &[&MIN_PARALLEL],
    counter_evidence: &[
        both(
            "连接需要两侧同样分区，而键不同",
            "a join that needs both sides alike, and other keys",
        ),
        both(
            "重分区是为了提高并行度或打散倾斜",
            "the repartition raises the parallelism or spreads a skew",
        ),
    ],
};

impl Rule for RedundantRepartition {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for edge in view
            .job
            .edges
            .iter()
            .filter(|e| e.exchange == ExchangeKind::Hash && !e.keys.is_empty())
        {
            if let Some(have) = redundant(view, edge) {
                result.found(view, symptom(view, edge, &have));
            }
        }
        result.cleared_by(text!(
            "没有对已按兼容键分区的数据再次重分区",
            "no rows are repartitioned that were partitioned on compatible keys"
        ))
    }
}

/// Keys by which the rows of an edge are partitioned before it, if those make it redundant.
fn redundant(view: &View<'_>, edge: &Edge) -> Option<Vec<String>> {
    let vertices = view.vertices(edge.from)? as f64;
    let partitions = f64::from(edge.partitions?);
    if vertices < 2.0 || vertices < partitions * view.limit(&MIN_PARALLEL) {
        return None;
    }
    let join = feeds_join(view, edge);
    let stored = !view
        .inputs(edge.from)
        .any(|e| e.exchange == ExchangeKind::Hash);
    // A join of stored data on its own keys still has to bring the other side to it, and the
    // optimizer chooses the number of partitions for both.
    if join && stored && !all_stored_alike(view, edge) {
        return None;
    }
    partitioned_by(view, edge.from)
        .into_iter()
        .find(|have| fits(edge, have, join))
}

/// Whether rows partitioned on `have` are together as the reader of an edge needs them.
fn fits(edge: &Edge, have: &[String], join: bool) -> bool {
    let within = have.iter().all(|k| edge.keys.contains(k));
    let carried = have
        .iter()
        .all(|k| edge.schema.iter().any(|c| c.name == *k));
    within && carried && (!join || have.len() == edge.keys.len())
}

/// Whether every repartitioned input of the reader of an edge is stored on the keys already.
fn all_stored_alike(view: &View<'_>, edge: &Edge) -> bool {
    let mut hashed = view
        .inputs(edge.to)
        .filter(|e| e.exchange == ExchangeKind::Hash);
    hashed.all(|e| {
        partitioned_by(view, e.from)
            .iter()
            .any(|have| fits(e, have, true))
    })
}

fn symptom(view: &View<'_>, edge: &Edge, have: &[String]) -> Symptom {
    let (from, to) = (view.name(edge.from), view.name(edge.to));
    let moved = Bytes(edge.bytes_written.unwrap_or(0.0));
    let consumer = view.consumer_of(edge);
    Symptom {
        cause: Cause::RedundantRepartition,
        stage: Some(edge.to),
        lines: consumer.and_then(|(op, _)| view.lines(edge.to, op)),
        summary: text!(
            "{from} 到 {to} 按 {edge} 重分区（{moved}），但数据已按 {have} 分区",
            "{from} to {to} repartitions {moved} on {edge}, though the rows are partitioned on {have} already",
            edge = edge.keys.join(", "),
            moved = moved,
            have = have.join(", ")
        ),
        evidence: evidence(view, edge),
        saved: without_exchange(view, edge),
        method: "schedule replayed with the reading stage run inside the writing one",
        strength: 0.9,
    }
}

/// What is saved if the reader of an edge runs inside its writer: no writing, no reading, no
/// start-up of the reader.
pub(crate) fn without_exchange(view: &View<'_>, edge: &Edge) -> Option<Saved> {
    let read = view.node_ms(edge.to, edge.uid).unwrap_or(0.0);
    let written = view.node_ms(edge.from, edge.uid).unwrap_or(0.0);
    let kept = view.fraction(edge.to, view.stage_ms(edge.to) - read);
    let factor = 1.0 - view.fraction(edge.from, written);
    let (from, to) = (edge.from, edge.to);
    view.saved(move |stages| {
        scale_run(&mut stages[from], factor);
        let moved_s = stages[to].run_s() * kept;
        merge_into(stages, to, from, moved_s);
    })
}

fn evidence(view: &View<'_>, edge: &Edge) -> Vec<Evidence> {
    let mut facts = Vec::new();
    if let Some(written) = view.node(edge.from, edge.uid) {
        facts.extend(view.measured(&written.bytes, "bytes"));
        facts.extend(view.measured(&written.rows, "rows"));
    }
    facts.extend(partitioner_fact(view, edge));
    for before in view
        .inputs(edge.from)
        .filter(|e| e.exchange == ExchangeKind::Hash)
    {
        facts.extend(partitioner_fact(view, before));
    }
    facts
}
