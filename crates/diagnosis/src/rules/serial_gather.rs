//! Rule for `shuffle.serial_gather`: a large intermediate that is gathered into one vertex for a
//! global sort, an aggregate without partitions or a write.

use job::info::Information;
use job::model::{Edge, ExchangeKind};

use super::support::{Symptom, both};
use crate::impact::{Saved, VertexWork, regroup};
use crate::measurements::exchange::partitioner_fact;
use crate::measurements::load::evidence as load_evidence;
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::{Bytes, ROW, Seconds};
use report::{Cause, Localize, text};

/// Bytes that must be gathered.
pub(crate) static MIN_BYTES: Threshold = Threshold {
    name: "serial_gather.min_bytes",
    default: 50e6,
    unit: "bytes",
    reason_zh: "几十 MB 以内一个顶点几秒就能处理，结果本来就要汇集",
    reason_en: "one vertex takes some tens of megabytes in seconds, and results have to come together somewhere",
    source: "pace of a vertex in simulated jobs (10 to 20 MB/s)",
};

/// Bytes that each vertex of a parallel version would take.
const PARALLEL_BYTES: f64 = 96e6;

/// Seconds of the small gather that would remain.
const FINAL_GATHER_S: f64 = 1.0;

/// The rule.
pub(crate) struct SerialGather;

static ABOUT: About = About {
    cause: Cause::SerialGather,
    what: both(
        "大的中间结果被汇集到一个顶点（全局排序、无分区的聚合）",
        "a large intermediate is gathered into one vertex (global sort, unpartitioned aggregate)",
    ),
    needs: &[Information::StageGraph],
    helps: &[Information::RuntimeCounters, Information::VertexEvents],
    thresholds: &[&MIN_BYTES],
    counter_evidence: &[
        both(
            "汇集的数据很少，例如对少量行排序",
            "little is gathered, such as an order by over few rows",
        ),
        both(
            "汇集不在关键路径上",
            "the gather is not on the critical path",
        ),
    ],
};

impl Rule for SerialGather {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        let mut largest = 0.0_f64;
        for edge in view
            .job
            .edges
            .iter()
            .filter(|e| e.exchange == ExchangeKind::Gather)
        {
            let gathered = gathered_bytes(view, edge);
            largest = largest.max(gathered.unwrap_or(0.0));
            if gathered.is_some_and(|b| b >= view.limit(&MIN_BYTES))
                && view.vertices(edge.to).is_none_or(|n| n == 1)
            {
                result.found(view, symptom(view, edge, gathered.unwrap_or(0.0)));
            }
        }
        result.cleared_by(text!(
            "汇集到一个顶点的数据最多 {size}",
            "at most {size} are gathered into one vertex",
            size = Bytes(largest)
        ))
    }
}

fn gathered_bytes(view: &View<'_>, edge: &Edge) -> Option<f64> {
    edge.bytes_written.or_else(|| {
        view.run
            .as_ref()
            .map(|r| r.stages[edge.to].bytes())
            .filter(|b| *b > 0.0)
    })
}

fn symptom(view: &View<'_>, edge: &Edge, gathered: f64) -> Symptom {
    let stage = edge.to;
    let run = view.run.as_ref().map_or(0.0, |r| r.stages[stage].run_s());
    let rows = ROW.count(edge.rows_written.unwrap_or(0.0));
    let consumer = view.consumer_of(edge);
    let mut evidence = Vec::new();
    if let Some(read) = view.node(stage, edge.uid) {
        evidence.extend(view.measured(&read.rows, "rows"));
        evidence.extend(view.measured(&read.bytes, "bytes").map(|f| {
            f.expecting(format!(
                "<= {}",
                Bytes(view.limit(&MIN_BYTES)).localize(view.language)
            ))
        }));
        if let Some(counted) = &view.facts[stage].counted {
            evidence.extend(view.measured(&counted.run_ms, "ms"));
        }
    }
    evidence.extend(partitioner_fact(view, edge));
    if evidence.is_empty() {
        evidence.extend(load_evidence(view, stage, gathered));
    }
    Symptom {
        cause: Cause::SerialGather,
        stage: Some(stage),
        lines: consumer.and_then(|(op, _)| view.lines(stage, op)),
        summary: text!(
            "{rows}（{size}）被汇集到 {stage} 的一个顶点，单独运行 {time}",
            "{rows} ({size}) are gathered into the one vertex of {stage}, which runs {time}",
            size = Bytes(gathered),
            stage = view.name(stage),
            time = Seconds(run),
            rows = rows
        ),
        evidence,
        saved: saved(view, stage, gathered),
        method: "schedule replayed with the work spread over vertices of 96 MB and a small final gather",
        strength: 0.6 + 0.4 * (gathered / 1e9).min(1.0),
    }
}

/// The work on several vertices, then a last vertex for what they found.
fn saved(view: &View<'_>, stage: usize, gathered: f64) -> Option<Saved> {
    let count = (gathered / PARALLEL_BYTES).ceil().max(2.0) as usize;
    view.saved(move |stages| {
        let last = stages[stage].vertices.first().copied().unwrap_or_default();
        regroup(&mut stages[stage], count, 0.0);
        // The final gather follows the slowest of them: its time comes on top of each.
        for vertex in &mut stages[stage].vertices {
            let extra = VertexWork {
                run_s: FINAL_GATHER_S,
                start_s: last.start_s,
                ..VertexWork::default()
            };
            vertex.run_s += extra.total_s();
        }
    })
}
