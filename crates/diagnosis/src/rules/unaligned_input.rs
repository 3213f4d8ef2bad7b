//! Rule for `shuffle.unaligned_input`: large inputs stored on other keys than every consumer
//! needs, repartitioned in each run.
//!
//! Only where all inputs of the consumer are stored partitioned, just on other keys: an input
//! that is not partitioned at all is a different decision of its owner.

use job::info::Information;
use job::model::{Edge, ExchangeKind, Operator, Table};

use super::support::{Symptom, both};
use crate::flow::stored_input;
use crate::impact::{merge_into, scale_run};
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::Bytes;
use report::{Cause, Evidence, text};

/// Bytes that must be repartitioned because of the layout.
pub(crate) static MIN_BYTES: Threshold = Threshold {
    name: "unaligned_input.min_bytes",
    default: 1e9,
    unit: "bytes",
    reason_zh: "小输入的重分区不值得改存储布局",
    reason_en: "repartitioning a small input is not worth another stored layout",
    source: "judgement; the replayed saving decides",
};

/// The rule.
pub(crate) struct UnalignedInput;

static ABOUT: About = About {
    cause: Cause::UnalignedInput,
    what: both(
        "大输入的存储分区键与所有使用者需要的键不同，每次运行都要重分区",
        "large inputs stored on other keys than every consumer needs, repartitioned in each run",
    ),
    needs: &[Information::StageGraph, Information::StoredLayout],
    helps: &[Information::RuntimeCounters],
    thresholds: &[&MIN_BYTES],
    counter_evidence: &[
        both(
            "输入没有按任何键分区存储",
            "the input is not stored by any key",
        ),
        both(
            "另一侧也要重分区，改一张表没有用",
            "the other side has to be repartitioned as well, so that one table changes nothing",
        ),
        both(
            "分区键已与使用者一致",
            "the stored keys are those that the consumer needs",
        ),
    ],
};

/// An exchange of data that was stored on other keys.
struct Unaligned<'a> {
    edge: &'a Edge,
    extract: &'a Operator,
    table: &'a Table,
}

impl Rule for UnalignedInput {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for stage in 0..view.job.stages.len() {
            let edges: Vec<&Edge> = view
                .inputs(stage)
                .filter(|e| e.exchange == ExchangeKind::Hash)
                .collect();
            let unaligned: Vec<Unaligned<'_>> =
                edges.iter().filter_map(|e| unaligned(view, e)).collect();
            let moved: f64 = unaligned.iter().filter_map(|u| u.edge.bytes_written).sum();
            if !edges.is_empty()
                && unaligned.len() == edges.len()
                && moved >= view.limit(&MIN_BYTES)
            {
                result.found(view, symptom(view, stage, &unaligned, moved));
            }
        }
        result.cleared_by(text!(
            "没有按其他键分区存储、且所有使用者都要重分区的大输入",
            "no large inputs that are stored on other keys and repartitioned by every consumer"
        ))
    }
}

fn unaligned<'a>(view: &View<'a>, edge: &'a Edge) -> Option<Unaligned<'a>> {
    let (stage, extract) = stored_input(view, edge)?;
    let table = view.table_of(stage, extract)?;
    let clustering = table.clustering.as_ref()?;
    // Range partitions, by time for instance, serve those who read a part of the data.
    let partitioned = !clustering.keys.is_empty() && clustering.kind.contains("hash");
    let fits = clustering.keys.iter().all(|k| edge.keys.contains(k));
    // Every other reader of the same data must need it repartitioned too.
    let others = view.outputs(stage).filter(|e| e.channel != edge.channel);
    let wanted_elsewhere = others
        .filter(|e| e.exchange == ExchangeKind::Hash)
        .any(|e| clustering.keys.iter().all(|k| e.keys.contains(k)));
    (partitioned && !fits && !wanted_elsewhere).then_some(Unaligned {
        edge,
        extract,
        table,
    })
}

fn symptom(view: &View<'_>, stage: usize, unaligned: &[Unaligned<'_>], moved: f64) -> Symptom {
    let largest = unaligned.iter().max_by(|a, b| {
        a.edge
            .bytes_written
            .unwrap_or(0.0)
            .total_cmp(&b.edge.bytes_written.unwrap_or(0.0))
    });
    let main = largest.unwrap_or(&unaligned[0]);
    let stored: Vec<String> = unaligned
        .iter()
        .map(|u| {
            format!(
                "{} ({})",
                u.table.name,
                u.table
                    .clustering
                    .as_ref()
                    .map(|c| c.keys.join(", "))
                    .unwrap_or_default()
            )
        })
        .collect();
    let keys = main.edge.keys.join(", ");
    let consumer = view.consumer_of(main.edge);
    let unwritten = |u: &Unaligned<'_>| {
        let (from, written) = (u.edge.from, view.node_ms(u.edge.from, u.edge.uid));
        (from, 1.0 - view.fraction(from, written.unwrap_or(0.0)))
    };
    let writers: Vec<(usize, f64)> = unaligned.iter().map(unwritten).collect();
    let into = main.edge.from;
    let read: f64 = unaligned.iter().map(|u| view.read_ms(u.edge)).sum();
    let kept = view.fraction(stage, view.stage_ms(stage) - read);
    let saved = view.saved(move |stages| {
        for (from, factor) in &writers {
            scale_run(&mut stages[*from], *factor);
        }
        // The smaller inputs are then read by the vertices of the largest.
        for (from, _) in writers.iter().filter(|(from, _)| *from != into) {
            let work = stages[*from].run_s();
            merge_into(stages, *from, into, work);
        }
        let work = stages[stage].run_s() * kept;
        merge_into(stages, stage, into, work);
    });
    Symptom {
        cause: Cause::UnalignedInput,
        stage: Some(main.edge.from),
        lines: consumer.and_then(|(op, _)| view.lines(stage, op)),
        summary: text!(
            "{stage} 按 {keys} 重分区了 {size}，因为输入按其他键存储：{stored}",
            "{stage} repartitions {size} on {keys} because its inputs are stored on other keys: {stored_2}",
            stage = view.name(stage),
            size = Bytes(moved),
            stored = stored.join("，"),
            stored_2 = stored.join(", ")
        ),
        evidence: evidence(view, unaligned),
        saved,
        method: "schedule replayed with inputs stored on the consumer's keys",
        strength: 0.8,
    }
}

fn evidence(view: &View<'_>, unaligned: &[Unaligned<'_>]) -> Vec<Evidence> {
    let mut facts = Vec::new();
    for u in unaligned {
        if let Some(written) = view.node(u.edge.from, u.edge.uid) {
            facts.extend(
                view.measured(&written.bytes, "bytes")
                    .map(|f| f.expecting("0")),
            );
        }
        let (Some(source), Some(clustering)) = (
            u.table
                .sources
                .get("clustering")
                .or_else(|| u.table.sources.values().next()),
            &u.table.clustering,
        ) else {
            continue;
        };
        let keys = clustering.keys.join(", ");
        let sentence = text!(
            "{table}（{id}）按 {keys} 存储",
            "{table} ({id}) is stored on {keys}",
            table = u.table.name,
            id = u.extract.id
        );
        facts.push(
            view.word("clustering keys", &keys, source.clone(), sentence)
                .expecting(u.edge.keys.join(", ")),
        );
    }
    facts
}
