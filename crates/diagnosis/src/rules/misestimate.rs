//! Rule for `cardinality.misestimate`: the plan is wrong for the data because the rows of an
//! input were estimated far off.
//!
//! A wrong number alone is no problem. It counts where its consequence shows: too few partitions
//! for what arrived, or a broadcast of a side that is far too big for one.

use job::info::Information;
use job::model::{Edge, ExchangeKind, Source};

use super::support::{Draft, says};
use crate::facts::{bytes, count, measured, number, text};
use crate::impact::{regroup, scale_run};
use crate::model::{Cause, Fact};
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::signs::estimate::{MIN_FACTOR, Misestimate, misestimated_upstream};
use crate::signs::load::{
    evidence as load_evidence, lines as stage_lines, reason as limiting_reason,
};
use crate::signs::sizing::{fitting_vertices, too_few};
use crate::signs::spill::surplus_ms;
use crate::view::View;

/// Bytes from which a broadcast is too big.
pub(crate) static MAX_BROADCAST: Threshold = Threshold {
    name: "misestimate.max_broadcast_bytes",
    default: 400e6,
    unit: "bytes",
    reason_zh: "广播侧须放进每个顶点的内存",
    reason_en: "what is broadcast has to fit into the memory of every vertex",
    source: "vertex memory of the service",
};

/// The rule.
pub(crate) struct CardinalityMisestimate;

static ABOUT: About = About {
    cause: Cause::Misestimate,
    what: says(
        "估计行数与实际相差太大，计划不适合数据（包括 ROWCOUNT 提示）",
        "estimated and actual rows differ so much that the plan is wrong for the data (ROWCOUNT hints included)",
    ),
    needs: &[
        Information::Estimates,
        Information::RuntimeCounters,
        Information::StageGraph,
    ],
    helps: &[Information::TableStatistics, Information::Script],
    thresholds: &[&MIN_FACTOR, &MAX_BROADCAST],
    counter_evidence: &[
        says(
            "估计虽错，但分区数与连接方式仍合适",
            "the estimate is off, yet partitions and joins suit the data",
        ),
        says(
            "聚合前后的中间估计总有偏差",
            "estimates around aggregations are always off",
        ),
        says(
            "ROWCOUNT 提示接近实际",
            "the ROWCOUNT hint is close to the truth",
        ),
    ],
};

impl Rule for CardinalityMisestimate {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for stage in 0..view.job.stages.len() {
            let gathered = view
                .inputs(stage)
                .any(|e| e.exchange == ExchangeKind::Gather);
            if let (false, Some(per_vertex)) = (gathered, too_few(view, stage, false))
                && let Some(wrong) = misestimated_upstream(view, stage)
            {
                result.found(view, too_few_partitions(view, stage, per_vertex, &wrong));
            }
        }
        for edge in view
            .job
            .edges
            .iter()
            .filter(|e| e.exchange == ExchangeKind::Broadcast)
        {
            if edge
                .bytes_written
                .is_some_and(|b| b >= view.limit(&MAX_BROADCAST))
                && let Some(wrong) = misestimated_upstream(view, edge.to)
            {
                result.found(view, too_big_broadcast(view, edge, &wrong));
            }
        }
        if view.job.plan.is_none() {
            for stage in 0..view.job.stages.len() {
                if !view.failed()
                    && too_few(view, stage, false).is_some()
                    && limiting_reason(view, stage).is_none()
                {
                    let reason = text(
                        format!(
                            "{} 分区太少，但没有优化器的估计可以说明原因",
                            view.name(stage)
                        ),
                        format!(
                            "{} has too few partitions, and without the optimizer's estimates the reason is unknown",
                            view.name(stage)
                        ),
                    );
                    result.lacks(Information::Estimates, view, Some(stage), reason);
                }
            }
        }
        result.cleared_by(
            "没有估计误差影响到分区数或连接方式",
            "no estimate is so far off that partitions or joins do not suit the data",
        )
    }
}

fn too_few_partitions(
    view: &View<'_>,
    stage: usize,
    per_vertex: f64,
    wrong: &Misestimate,
) -> Draft {
    let vertices = view.vertices(stage).unwrap_or(1);
    let fitting = fitting_vertices(view, stage)
        .unwrap_or(1)
        .max(vertices as usize);
    let surplus = view.run_seconds(stage, surplus_ms(view, stage));
    let mut evidence = estimate_facts(view, wrong);
    evidence.extend(load_evidence(view, stage, per_vertex));
    let (zh, en) = estimate_words(view, wrong);
    Draft {
        cause: Cause::Misestimate,
        stage: Some(stage),
        lines: lines_of(view, wrong).or_else(|| stage_lines(view, stage)),
        summary: text(
            format!(
                "{zh}，于是 {} 只分成 {vertices} 个分区，每个 {}（需要约 {fitting} 个）",
                view.name(stage),
                bytes(per_vertex)
            ),
            format!(
                "{en}, so that {} got only {vertices} partitions of {} (its data calls for about {fitting})",
                view.name(stage),
                bytes(per_vertex)
            ),
        ),
        evidence,
        saved: view.saved(|stages| regroup(&mut stages[stage], fitting, surplus)),
        method: "schedule replayed with as many vertices as the data calls for",
        strength: 0.6 + 0.4 * (wrong.factor().log10() / 2.0).min(1.0),
    }
}

fn too_big_broadcast(view: &View<'_>, edge: &Edge, wrong: &Misestimate) -> Draft {
    let size = edge.bytes_written.unwrap_or(0.0);
    let copies = view.vertices(edge.to).unwrap_or(1) as f64;
    let read = view.node_ms(edge.to, edge.uid).unwrap_or(0.0);
    let fraction = view.fraction(edge.to, read * (1.0 - 1.0 / copies));
    let (zh, en) = estimate_words(view, wrong);
    let mut evidence = estimate_facts(view, wrong);
    if let Some(read) = view.node(edge.to, edge.uid) {
        evidence.extend(measured(&read.bytes, "bytes"));
    }
    Draft {
        cause: Cause::Misestimate,
        stage: Some(edge.to),
        lines: lines_of(view, wrong),
        summary: text(
            format!(
                "{zh}，于是 {} 被广播到 {} 的每个顶点",
                bytes(size),
                view.name(edge.to)
            ),
            format!(
                "{en}, so that {} are broadcast to every vertex of {}",
                bytes(size),
                view.name(edge.to)
            ),
        ),
        evidence,
        saved: view.saved(|stages| scale_run(&mut stages[edge.to], 1.0 - fraction)),
        method: "schedule replayed with the big side read once instead of by every vertex",
        strength: 0.7,
    }
}

fn lines_of(view: &View<'_>, wrong: &Misestimate) -> Option<(u32, u32)> {
    wrong
        .hint_lines
        .or_else(|| view.lines(wrong.stage, wrong.operator))
}

fn estimate_words(view: &View<'_>, wrong: &Misestimate) -> (String, String) {
    let operator = &view.job.stages[wrong.stage].operators[wrong.operator].id;
    let table = view
        .table_of(
            wrong.stage,
            &view.job.stages[wrong.stage].operators[wrong.operator],
        )
        .map_or(operator.as_str(), |t| t.name.as_str());
    let (est, act) = (count(wrong.estimated), count(wrong.actual));
    if wrong.hint_lines.is_some() {
        (
            format!("ROWCOUNT 提示称 {table} 有 {est} 行，实际 {act} 行"),
            format!("a ROWCOUNT hint says that {table} has {est} rows, it has {act}"),
        )
    } else {
        (
            format!("优化器估计 {table} 有 {est} 行，实际 {act} 行"),
            format!("the optimizer expected {est} rows of {table}, it has {act}"),
        )
    }
}

fn estimate_facts(view: &View<'_>, wrong: &Misestimate) -> Vec<Fact> {
    let mut facts = Vec::new();
    let operator = &view.job.stages[wrong.stage].operators[wrong.operator];
    if let (Some(plan), Some(found)) = (
        &view.job.plan,
        view.job.estimate_of(wrong.stage, wrong.operator),
    ) {
        let locator = found
            .value
            .group
            .as_ref()
            .map(|g| format!("TableGroupProperties[@Grp={g}]/@Card"));
        let source = Source {
            file: plan.file.clone(),
            locator,
        };
        let estimated = found.value.card.unwrap_or(wrong.estimated);
        let says = text(
            format!("优化器估计 {} 行", count(estimated)),
            format!("the optimizer expected {} rows", count(estimated)),
        );
        facts.push(
            number("Card", estimated, "rows", source, says)
                .expecting(format!("about {}", count(wrong.actual))),
        );
    }
    if let Some(counted) = view.node(wrong.stage, operator.uid) {
        facts.extend(measured(&counted.rows, "rows"));
    }
    facts
}
