//! Rule for `cardinality.misestimate`: the plan is wrong for the data because the rows of an
//! input or operator were estimated far off.
//!
//! A wrong number alone is no problem. It counts if its consequence shows: too few partitions
//! for the actual rows, or a broadcast of a side that is far too big.

use job::info::Information;
use job::model::{Edge, ExchangeKind, OperatorKind};

use super::missed_broadcast::MAX_BYTES;
use super::parallelism_too_low::{not_too_few, unexplained};
use super::support::{Symptom, rule};
use crate::impact::{regroup, scale_run};
use crate::measurements::estimate::{MIN_FACTOR, Misestimate, fact, misestimated_upstream};
use crate::measurements::load::{evidence as load_evidence, lines as stage_lines, reason};
use crate::measurements::sizing::{fitting_vertices, reads_exchange, too_few};
use crate::measurements::spill::surplus_ms;
use crate::rule::Examination;
use crate::view::View;
use report::format::{Bytes, PARTITION, ROW};
use report::{Cause, Evidence, Text, text};

rule! { RULE = Misestimate, examine;
    "估计行数与实际相差太大，计划不适合数据（包括 ROWCOUNT 提示）", "estimated and actual rows differ so much that the plan is wrong for the data (ROWCOUNT hints included)";
    needs Estimates, RuntimeCounters, StageGraph;
    helps TableStatistics, Script;
    thresholds MIN_FACTOR, MAX_BYTES;
    unless "估计虽错，但分区数与连接方式仍合适", "the estimate is off, yet partitions and joins suit the data";
    unless "聚合前后的中间估计总有偏差", "estimates around aggregations are always off";
    unless "ROWCOUNT 提示接近实际", "the ROWCOUNT hint is close to the truth";
    cleared "没有估计误差影响到分区数或连接方式", "no estimate is so far off that partitions or joins do not suit the data";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    for stage in 0..view.job.stages.len() {
        let gathered = view
            .inputs(stage)
            .any(|e| e.exchange == ExchangeKind::Gather);
        let few = too_few(view, stage, false);
        let wrong = few.and_then(|_| misestimated_upstream(view, stage));
        match (few, wrong) {
            _ if view.failed() => {}
            (None, _) if reads_exchange(view, stage) => {
                not_too_few(view, stage, result);
            }
            (None, _) => {}
            (Some(_), _) if gathered => result.attributed(view, Cause::SerialGather, stage),
            (Some(per_vertex), Some(wrong)) => {
                result.found(view, too_few_partitions(view, stage, per_vertex, &wrong));
            }
            (Some(_), None) if !view.has_estimates(stage) && reason(view, stage).is_none() => {
                unexplained(view, stage, result);
            }
            (Some(_), None) => result.attributed(view, Cause::ParallelismTooLow, stage),
        }
    }
    for edge in &view.job.edges {
        if edge.exchange == ExchangeKind::Broadcast && !view.failed() {
            broadcast(view, edge, result);
        }
    }
}

/// A broadcast: small enough, too big because of an estimate, or of unknown size.
fn broadcast(view: &View<'_>, edge: &Edge, result: &mut Examination) {
    let limit = view.limit(&MAX_BYTES);
    let place = view.name(edge.to);
    let (info, reason) = match (edge.bytes_written, misestimated_upstream(view, edge.to)) {
        (Some(size), Some(wrong)) if size >= limit => {
            return result.found(view, too_big_broadcast(view, edge, &wrong));
        }
        (Some(size), None) if size >= limit && !view.has_estimates(edge.to) => (
            Information::Estimates,
            text!(
                "{size} 被广播到 {place} 的每个顶点，但没有优化器的估计可以说明原因",
                "{size} is broadcast to every vertex of {place}, and without the optimizer's estimates the reason is unknown",
                size = Bytes(size),
            ),
        ),
        (Some(size), _) => {
            let read = view.node(edge.to, edge.uid);
            let fact = || read.and_then(|o| view.measured(&o.bytes, "bytes"));
            return result.under((size / limit).min(0.99), || fact().into_iter().collect());
        }
        (None, _) => (
            Information::RuntimeCounters,
            text!(
                "不知道广播到 {place} 的数据有多大",
                "the size of the broadcast to {place} is unknown",
            ),
        ),
    };
    result.lacks(info, view, Some(edge.to), reason);
}

fn too_few_partitions(
    view: &View<'_>,
    stage: usize,
    per_vertex: f64,
    wrong: &Misestimate,
) -> Symptom {
    let vertices = view.vertices(stage).unwrap_or(1);
    let fitting = fitting_vertices(view, stage)
        .unwrap_or(1)
        .max(vertices as usize);
    let surplus = view.run_seconds(stage, surplus_ms(view, stage));
    let mut evidence = estimate_facts(view, wrong);
    evidence.extend(load_evidence(view, stage, per_vertex));
    let estimate = estimate_words(view, wrong);
    Symptom {
        stage: Some(stage),
        lines: lines_of(view, wrong).or_else(|| stage_lines(view, stage)),
        summary: text!(
            "{estimate}，于是 {stage} 只分成 {vertices}，每个 {size}（需要约 {fitting} 个）",
            "{estimate}, so that {stage} got only {vertices} of {size} (its data requires about {fitting})",
            estimate = estimate,
            stage = view.name(stage),
            size = Bytes(per_vertex),
            vertices = PARTITION.count(vertices as f64)
        ),
        evidence,
        saved: view.saved_in(stage, move |stage| regroup(stage, fitting, surplus)),
        method: "schedule replayed with as many vertices as the data requires",
        strength: 0.6 + 0.4 * (wrong.factor().log10() / 2.0).min(1.0),
    }
}

fn too_big_broadcast(view: &View<'_>, edge: &Edge, wrong: &Misestimate) -> Symptom {
    let size = edge.bytes_written.unwrap_or(0.0);
    let copies = view.vertices(edge.to).unwrap_or(1) as f64;
    let read = view.node_ms(edge.to, edge.uid).unwrap_or(0.0);
    let fraction = view.fraction(edge.to, read * (1.0 - 1.0 / copies));
    let estimate = estimate_words(view, wrong);
    let mut evidence = estimate_facts(view, wrong);
    let reader = edge.to;
    if let Some(read) = view.node(edge.to, edge.uid) {
        evidence.extend(view.measured(&read.bytes, "bytes"));
    }
    Symptom {
        stage: Some(edge.to),
        lines: lines_of(view, wrong),
        summary: text!(
            "{estimate}，于是 {size} 被广播到 {stage} 的每个顶点",
            "{estimate}, so that {size} is broadcast to every vertex of {stage}",
            estimate = estimate,
            size = Bytes(size),
            stage = view.name(edge.to)
        ),
        evidence,
        saved: view.saved_in(reader, move |stage| scale_run(stage, 1.0 - fraction)),
        method: "schedule replayed with the big side read once instead of by every vertex",
        strength: 0.7,
    }
}

fn lines_of(view: &View<'_>, wrong: &Misestimate) -> Option<(u32, u32)> {
    wrong
        .hint_lines
        .or_else(|| view.lines(wrong.stage, wrong.operator))
}

fn estimate_words(view: &View<'_>, wrong: &Misestimate) -> Text {
    let operator = &view.job.stages[wrong.stage].operators[wrong.operator];
    let estimated = ROW.count(wrong.estimated);
    if operator.kind != OperatorKind::Extract {
        return text!(
            "优化器估计 {stage} 的 {operator} 输出 {estimated}，实际 {actual}",
            "the optimizer expected {estimated} from {operator} in {stage}, but it produces {actual}",
            stage = view.name(wrong.stage),
            operator = operator.id,
            estimated = estimated,
            actual = ROW.count(wrong.actual),
        );
    }
    let table = view
        .table_of(wrong.stage, operator)
        .map_or(operator.id.as_str(), |t| t.name.as_str());
    if wrong.hint_lines.is_some() {
        text!(
            "ROWCOUNT 提示称 {table} 有 {estimated}，实际 {actual}",
            "a ROWCOUNT hint gives {table} {estimated}, but it has {actual}",
            estimated = estimated,
            actual = ROW.count(wrong.actual),
        )
    } else {
        text!(
            "优化器估计 {table} 有 {estimated}，实际 {actual}",
            "the optimizer expected {estimated} in {table}, but it has {actual}",
            estimated = estimated,
            actual = ROW.count(wrong.actual),
        )
    }
}

fn estimate_facts(view: &View<'_>, wrong: &Misestimate) -> Vec<Evidence> {
    let operator = &view.job.stages[wrong.stage].operators[wrong.operator];
    let counted = view.node(wrong.stage, operator.uid);
    let counted = counted.and_then(|counted| view.measured(&counted.rows, "rows"));
    fact(view, wrong).into_iter().chain(counted).collect()
}
