//! Rule for `shuffle.serial_gather`: a large intermediate that is gathered into one vertex for a
//! global sort, an aggregate without partitions or a write.

use job::model::ExchangeKind;

use super::support::{Symptom, rule};
use crate::alternatives::cost::Rates;
use crate::alternatives::gather::{Gathered, alternatives};
use crate::measurements::exchange::partitioner_fact;
use crate::measurements::load::evidence as load_evidence;
use crate::rule::Examination;
use crate::view::View;
use report::format::{Bytes, ROW, Seconds, VERTEX};
use report::text;

rule! { RULE = SerialGather, examine;
    "大的中间结果被汇集到一个顶点（全局排序、无分区的聚合）", "a large intermediate is gathered into one vertex (global sort, unpartitioned aggregate)";
    needs StageGraph;
    helps RuntimeCounters, VertexEvents;
    unless "汇集的数据很少，例如对少量行排序", "little is gathered, such as an ORDER BY over few rows";
    unless "汇集不在关键路径上", "the gather is not on the critical path";
    cleared "汇集到一个顶点的数据不多", "little is gathered into one vertex";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let gathers = alternatives(view, &Rates::of(view));
    for found in &gathers {
        result.offer(view, symptom(view, found));
    }
    result.exchanges(view, |e| e.exchange == ExchangeKind::Gather);
}

fn symptom(view: &View<'_>, found: &Gathered) -> Symptom {
    let edge = &view.job.edges[found.edge];
    let stage = edge.to;
    let run = view.run.as_ref().map_or(0.0, |r| r.stages[stage].run_s());
    let consumer = view.consumer_of(edge);
    let mut evidence = Vec::new();
    if let Some(read) = view.node(stage, edge.uid) {
        evidence.extend(view.measured(&read.rows, "rows"));
        evidence.extend(view.measured(&read.bytes, "bytes"));
        let counted = view.facts[stage].counted.as_ref();
        evidence.extend(counted.and_then(|c| view.measured(&c.run_ms, "ms")));
    }
    evidence.extend(partitioner_fact(view, edge));
    if evidence.is_empty() {
        evidence.extend(load_evidence(view, stage, found.bytes));
    }
    Symptom {
        stage: Some(stage),
        lines: consumer.and_then(|(op, _)| view.lines(stage, op)),
        summary: text!(
            "{rows}（{size}）被汇集到 {stage} 的一个顶点，单独运行 {time}；可由 {vertices} 分担",
            "{rows} ({size}) are gathered into the one vertex of {stage}, which runs {time}; {vertices} could share its work",
            rows = ROW.count(edge.rows_written.unwrap_or(0.0)),
            size = Bytes(found.bytes),
            stage = view.name(stage),
            time = Seconds(run),
            vertices = VERTEX.count(found.vertices as f64)
        ),
        evidence,
        saved: found.saved.clone(),
        method: "schedule replayed with the work spread over vertices and only the rest gathered",
        strength: 0.6 + 0.4 * (found.bytes / 1e9).min(1.0),
    }
}
