//! Rule for `shuffle.missed_broadcast`: a side small enough to broadcast is repartitioned together
//! with a big one.

use job::model::{Application, Exchange, ExchangeKind};

use super::support::{Symptom, lacks, rule};
use crate::alternatives::broadcast::{Broadcast, Limits, alternatives};
use crate::alternatives::cost::Rates;
use crate::alternatives::repartition::unmoved;
use crate::configuration::broadcast_limit;
use crate::measurements::estimate::wrong_fact_of;
use crate::measurements::exchange::{feeds_join, measured_write, partitioner_fact};
use crate::rule::Examination;
use crate::settings::threshold;
use crate::view::View;
use report::format::{Bytes, Names, Number};
use report::{Evidence, Text, text};

threshold! {
    /// Largest side that can be broadcast, in bytes.
    pub(crate) MAX_BYTES = 256e6, "bytes", "missed_broadcast.max_bytes";
    "每个顶点都要读入整侧并建哈希表；256 MB 在 6 GB 的顶点内仍安全", "every vertex reads and hashes the whole side; 256 MB is safe in a vertex of 6 GB";
    "vertex memory of the service; plans that broadcast 200 MB were seen to run well"
}

threshold! {
    /// Largest side that should be broadcast even if the optimizer knew its size, in bytes.
    pub(crate) SURE_BYTES = 64e6, "bytes", "missed_broadcast.sure_bytes";
    "优化器在估计正确时也会选择重分区；更大的一侧只有在被高估时才算错过", "an optimizer that knew the size had its reasons; a larger side counts if it was overestimated";
    "judgment"
}

rule! { RULE = MissedBroadcast, examine;
    "小到可以广播的一侧与大表一起被重分区", "a side small enough to broadcast is repartitioned together with a big one";
    needs StageGraph, RuntimeCounters;
    helps Estimates, TableStatistics;
    thresholds MAX_BYTES, SURE_BYTES;
    unless "后面的运算需要同样的键，而重分区连接结果并不更便宜", "later steps need the same keys, and repartitioning the join's result costs no less";
    unless "大侧已按连接键分区，不需要重分区", "the big side is partitioned on the key already";
    unless "小侧是外连接保留的一侧，不能广播", "the small side is the one that an outer join keeps";
    cleared "没有小到可以广播却被重分区的连接输入", "no join input that is small enough to broadcast is repartitioned";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let rates = Rates::of(view);
    // Spark broadcasts automatically up to its own limit, unless broadcasting is off or the size was unknown
    let (max, sure) = match view.job.spark.as_deref() {
        Some(app) => (broadcast_limit(app, None), broadcast_limit(app, None)),
        None => (view.limit(&MAX_BYTES), view.limit(&SURE_BYTES)),
    };
    let limits = Limits { max, sure };
    for found in alternatives(view, &rates, limits) {
        match found {
            Ok(found) => result.offer(view, symptom(view, &found, &rates)),
            Err(stage) => lacks! { result, view, Script, Some(stage);
            "不知道 {stage} 的连接保留哪一侧，无法判断小的一侧能否广播", "without the kind of the join in {stage}, it is not known whether its small side could be broadcast", stage = view.name(stage) },
        }
    }
    if let Some(app) = view.job.spark.as_deref() {
        for edge in repartitioned_first(view, app) {
            result.offer(view, broadcast_late(view, edge, &rates));
        }
    }
    result.exchanges(view, |e| {
        e.exchange == ExchangeKind::Hash && feeds_join(view, e)
    });
}

/// Exchanges that adaptive execution reads where they were written, because a join turned into a broadcast after it.
fn repartitioned_first(view: &View<'_>, app: &Application) -> Vec<usize> {
    let is_local = |e: &&Exchange| e.read.as_deref() == Some("local") && e.asked_for().is_none();
    let local: Vec<u32> = app
        .exchanges
        .iter()
        .filter(is_local)
        .map(|e| e.uid)
        .collect();
    let edges = view.job.edges.iter().enumerate();
    let edges = edges.filter(|(_, e)| e.uid.is_some_and(|uid| local.contains(&uid)));
    edges
        .filter(|(_, e)| feeds_join(view, e))
        .map(|(at, _)| at)
        .collect()
}

fn broadcast_late(view: &View<'_>, edge: usize, rates: &Rates) -> Symptom {
    let big = &view.job.edges[edge];
    let mut evidence = measured_write(view, big);
    evidence.extend(partitioner_fact(view, big));
    Symptom {
        stage: Some(big.to),
        lines: None,
        summary: text!(
            "{from} 为 {to} 的连接按 {keys} 重分区 {size}，之后 Spark 才发现另一侧可以广播",
            "{from} repartitions {size} on {keys} for the join in {to} before Spark finds that the other side can be broadcast",
            from = view.name(big.from),
            to = view.name(big.to),
            size = Bytes(big.bytes_written.unwrap_or(0.0)),
            keys = Names(&big.keys),
        ),
        evidence,
        saved: unmoved(view, rates, edge),
        method: "schedule replayed with the join run inside the stage that writes the exchange",
        strength: 0.9,
    }
}

fn symptom(view: &View<'_>, found: &Broadcast, rates: &Rates) -> Symptom {
    let big = &view.job.edges[found.big];
    let after = match found.exchanged_after > 0.0 {
        true => text!(
            "，之后只需重分区连接结果（约 {size}）",
            ", repartitioning only the join's result after it (about {size})",
            size = Bytes(found.exchanged_after)
        ),
        false => Text::default(),
    };
    Symptom {
        stage: Some(found.stage),
        lines: view.lines(found.stage, found.join),
        summary: text!(
            "{stage} 的连接为了一侧仅 {size}（{rows} 行）的小表，把另一侧 {size_2} 按 {keys} 重分区；小表可以广播{after}",
            "the join in {stage} repartitions {size_2} on {keys} to meet a side of only {size} ({rows} rows), which could be broadcast{after}",
            stage = view.name(found.stage),
            size = Bytes(found.small_bytes),
            rows = Number(found.small_rows),
            size_2 = Bytes(big.bytes_written.unwrap_or(0.0)),
            keys = Names(&big.keys),
            after = after
        ),
        evidence: evidence(view, found),
        saved: found.saved.clone(),
        method: match rates.measured {
            true => {
                "schedule replayed with the small side broadcast into the stage that writes the big one, at the job's own rates"
            }
            false => {
                "schedule replayed with the small side broadcast into the stage that writes the big one, at 40 MB/s because the job measured no exchange"
            }
        },
        strength: 0.7 + 0.3 * (1.0 - found.small_bytes / view.limit(&MAX_BYTES)).clamp(0.0, 1.0),
    }
}

fn evidence(view: &View<'_>, found: &Broadcast) -> Vec<Evidence> {
    let mut facts = Vec::new();
    for small in found.small.iter().map(|e| &view.job.edges[*e]) {
        facts.extend(measured_write(view, small));
        facts.extend(partitioner_fact(view, small));
        facts.extend(wrong_fact_of(view, small));
    }
    let big = &view.job.edges[found.big];
    let mut written = measured_write(view, big);
    if let Some(bytes) = written.first_mut() {
        let expected = view.language.select("不重新分区", "not repartitioned");
        bytes.expected = Some(expected.to_owned());
    }
    facts.extend(written);
    facts.extend(partitioner_fact(view, big));
    facts
}
