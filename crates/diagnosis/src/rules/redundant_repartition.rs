//! Rule for `shuffle.redundant_repartition`: rows are repartitioned although their partitioning already
//! suffices, or would suffice if an earlier exchange used fewer keys.

use job::model::{Edge, ExchangeKind};

use super::support::{Symptom, rule};
use crate::alternatives::cost::Rates;
use crate::alternatives::deduplicated;
use crate::alternatives::repartition::{Needless, Requested, needless, requested};
use crate::facts::fact;
use crate::measurements::exchange::{measured_write, partitioner_fact};
use crate::rule::Examination;
use crate::view::View;
use report::format::{Bytes, Names, ROW};
use report::{Evidence, Text, text};

rule! { RULE = RedundantRepartition, examine;
    "数据已按这些键（或其子集）分区，却再次重分区", "rows are repartitioned although they are already partitioned on these keys or on a subset of them";
    needs StageGraph;
    helps RuntimeCounters, StoredLayout;
    unless "连接需要两侧同样分区，而键不同", "a join that needs both sides alike, and other keys";
    unless "重分区是为了提高并行度或打散倾斜", "the repartition raises the parallelism or spreads a skew";
    cleared "没有对已按兼容键分区的数据再次重分区", "no rows are repartitioned that were partitioned on compatible keys";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let rates = Rates::of(view);
    for found in needless(view, &rates) {
        result.offer(view, symptom(view, &found));
    }
    if let Some(app) = view.job.spark.as_deref() {
        for found in requested(view, app, &rates) {
            result.offer(view, in_vain(view, found));
        }
        for found in deduplicated::needless(view, app, &rates) {
            result.offer(view, finds_nothing(view, &found));
        }
    }
    result.exchanges(view, |e| e.exchange == ExchangeKind::Hash);
}

fn in_vain(view: &View<'_>, found: Requested) -> Symptom {
    let edge = &view.job.edges[found.edge];
    let then = match found.aggregates {
        true => text!(
            "，但 {to} 接着聚合这些行；去掉后，大部分行在 Shuffle 之前就已聚合",
            ", where they are aggregated; without it, most rows would be aggregated before the shuffle",
            to = view.name(edge.to)
        ),
        false => text!(
            "，但 {to} 只是把数据再次重分区",
            ", which only repartitions the rows again",
            to = view.name(edge.to)
        ),
    };
    Symptom {
        stage: Some(edge.to),
        lines: None,
        summary: text!(
            "{from} 到 {to} 按代码的要求重分区{moved}{then}",
            "the code repartitions{moved} from {from} to {to}{then}",
            from = view.name(edge.from),
            to = view.name(edge.to),
            moved = moved(edge),
            then = then,
        ),
        evidence: measured_write(view, edge),
        saved: found.saved,
        method: "schedule replayed with the reading stage run inside the writing one",
        strength: 0.9,
    }
}

fn finds_nothing(view: &View<'_>, found: &deduplicated::Needless) -> Symptom {
    let edge = &view.job.edges[found.edge];
    let mut evidence = measured_write(view, edge);
    let app = view.job.spark.iter();
    evidence.extend(app.map(|app| {
        fact! { view, "rows that distinct kept", found.kept, "rows", app.at_line(found.line);
        "distinct 保留 {kept}，读入 {rows}", "distinct keeps {kept} of {rows}",
        kept = ROW.count(found.kept), rows = ROW.count(found.rows) }
    }));
    Symptom {
        stage: Some(edge.to),
        lines: None,
        summary: text!(
            "distinct 为查找重复的行，从 {from} 到 {to} 重分区所有列{moved}，而 {rows} 中没有重复的",
            "distinct repartitions{moved} (all columns) from {from} to {to} to find rows that repeat, and none of {rows} does",
            from = view.name(edge.from),
            to = view.name(edge.to),
            moved = moved(edge),
            rows = ROW.count(found.rows),
        ),
        evidence,
        saved: found.saved.clone(),
        method: "schedule replayed with the reading stage run inside the writing one",
        strength: 0.8,
    }
}

/// Data moved by an exchange, if measured.
fn moved(edge: &Edge) -> Text {
    let size = edge.bytes_written.map(Bytes);
    size.map_or_else(Text::default, |size| {
        text!("（{size}）", " {size}", size = size)
    })
}

fn symptom(view: &View<'_>, found: &Needless) -> Symptom {
    let edge = &view.job.edges[found.edge];
    let consumer = view.consumer_of(edge);
    let already = match found.instead_of.is_empty() {
        true => text!(
            "但数据已按 {have} 分区",
            "though the rows are partitioned on {have} already",
            have = Names(&found.have)
        ),
        false => text!(
            "而之前的重分区只按 {have} 就够",
            "though the exchange before it could use {have} alone",
            have = Names(&found.have)
        ),
    };
    Symptom {
        stage: Some(edge.to),
        lines: consumer.and_then(|(op, _)| view.lines(edge.to, op)),
        summary: text!(
            "{from} 到 {to} 按 {keys} 重分区{moved}，{already}",
            "{from} to {to} repartitions{moved} on {keys}, {already}",
            from = view.name(edge.from),
            to = view.name(edge.to),
            keys = Names(&edge.keys),
            moved = moved(edge),
            already = already
        ),
        evidence: evidence(view, found),
        saved: found.saved.clone(),
        method: "schedule replayed with the reading stage run inside the writing one",
        strength: if found.instead_of.is_empty() {
            0.9
        } else {
            0.6
        },
    }
}

fn evidence(view: &View<'_>, found: &Needless) -> Vec<Evidence> {
    let edge = &view.job.edges[found.edge];
    let mut facts = measured_write(view, edge);
    facts.extend(partitioner_fact(view, edge));
    let before = view.hashed_inputs(edge.from);
    facts.extend(before.filter_map(|e| partitioner_fact(view, e)));
    facts
}
