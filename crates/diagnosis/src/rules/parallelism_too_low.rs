//! Rule for `parallelism.too_low`: a heavy stage on far fewer vertices than its data requires.

use job::model::{Application, ExchangeKind};

use super::support::{Symptom, lacks, rule};
use crate::impact::{RunModel, regroup};
use crate::measurements::estimate::{misestimated_upstream, wrong_fact_of};
use crate::measurements::explosion;
use crate::measurements::load::{evidence, limiting_hint, lines, reason};
use crate::measurements::sizing::{
    HEAVY_BYTES, HEAVY_STORED_BYTES, SHUFFLE_BYTES, STORED_BYTES, fitting_vertices, heavy,
    per_vertex, too_few,
};
use crate::measurements::spill::surplus_ms;
use crate::measurements::tasks::few;
use crate::rule::Examination;
use crate::view::View;
use report::format::{Bytes, Number, TASK, VERTEX};
use report::{Cause, Text, text};

/// Probability that the script is the reason for few vertices, and that more would help, if no file
/// has the estimates, which could be wrong, or the tokens, which could all be in use.
const UNSURE: f64 = 0.45;

rule! { RULE = ParallelismTooLow, examine;
    "重负载阶段的顶点数远少于其数据量所需", "a heavy stage runs on far fewer vertices than its data requires";
    needs StageStatistics, StageGraph;
    helps Script, StoredLayout, JobTimes;
    thresholds HEAVY_BYTES, HEAVY_STORED_BYTES, SHUFFLE_BYTES, STORED_BYTES;
    unless "令牌已全部占用，更多顶点也只能排队", "all tokens are in use: more vertices would only queue";
    unless "全局汇集到一个顶点（见 shuffle.serial_gather）", "a gather into one vertex (see shuffle.serial_gather)";
    unless "分区少是因为估计错误（见 cardinality.misestimate）", "few partitions because of a wrong estimate (see cardinality.misestimate)";
    cleared "每个阶段的顶点数与其数据量相称", "every stage has the vertices that its data requires";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    if let Some(app) = view.job.spark.as_deref() {
        return examine_tasks(view, app, result);
    }
    for stage in 0..view.job.stages.len() {
        let gathered = view
            .inputs(stage)
            .any(|e| e.exchange == ExchangeKind::Gather);
        let per_vertex = too_few(view, stage, limiting_hint(view, stage).is_some());
        match per_vertex {
            _ if view.failed() => {}
            None => not_too_few(view, stage, result),
            Some(_) if gathered => result.attributed(view, Cause::SerialGather, stage),
            Some(_) if misestimated_upstream(view, stage).is_some() => {
                result.attributed(view, Cause::Misestimate, stage);
            }
            Some(_) if explosion::is_upstream(view, stage) => {
                result.attributed(view, Cause::JoinExplosion, stage);
            }
            // without the plan, a wrong estimate may be the reason, unless another reason is visible
            Some(_) if !view.has_estimates(stage) && reason(view, stage).is_none() => {
                unexplained(view, stage, result);
            }
            Some(per_vertex) if !view.has_estimates(stage) || !has_tokens(view) => {
                let symptom = symptom(view, stage, per_vertex);
                result.suspected(view, symptom, UNSURE);
            }
            Some(per_vertex) => result.found(view, symptom(view, stage, per_vertex)),
        }
    }
}

/// Whether any file shows how many vertices may run at once.
fn has_tokens(view: &View<'_>) -> bool {
    view.run.as_ref().is_some_and(RunModel::has_tokens)
}

/// Stages of an application with idle slots for a reason in the plan.
fn examine_tasks(view: &View<'_>, app: &Application, result: &mut Examination) {
    for stage in (0..view.job.stages.len()).filter(|_| !view.failed()) {
        let Some(found) = few(view, app, stage) else {
            let tasks = view.vertices(stage).unwrap_or(0) as f64;
            let slots = view.run.as_ref().map_or(1, |r| r.tokens) as f64;
            let of_limit = (slots / tasks.max(1.0) / 2.0).min(0.99);
            result.under(of_limit, || {
                let counted = view.facts[stage].counted.as_ref();
                let run = counted.and_then(|c| view.measured(&c.run_ms, "ms"));
                run.into_iter().collect()
            });
            continue;
        };
        let mut facts = found.origin.evidence;
        let counted = view.facts[stage].counted.as_ref();
        facts.extend(counted.and_then(|c| view.measured(&c.run_ms, "ms")));
        facts.extend(counted.and_then(|c| view.measured(&c.bytes_read, "bytes")));
        let symptom = Symptom {
            stage: Some(stage),
            lines: None,
            summary: text!(
                "{stage} 只有 {tasks}，而有 {fitting} 个任务槽：{why}",
                "{stage} has {tasks} for {fitting} slots: {why}",
                stage = view.name(stage),
                tasks = TASK.count(found.tasks as f64),
                fitting = Number(found.fitting as f64),
                why = found.origin.why,
            ),
            evidence: facts,
            saved: found.saved,
            method: "schedule replayed with a task for every slot",
            strength: 0.8,
        };
        result.found(view, symptom);
    }
    result.cleared_by(text!(
        "没有阶段因任务太少而让任务槽空闲",
        "no stage leaves slots idle because of too few tasks"
    ));
}

/// Too few vertices, without estimates that could be the reason.
pub(super) fn unexplained(view: &View<'_>, stage: usize, result: &mut Examination) {
    lacks! { result, view, Estimates, Some(stage);
    "{stage} 分区太少，但没有优化器的估计可以说明原因", "{stage} has too few partitions, and without the optimizer's estimates the reason is unknown", stage = view.name(stage) }
}

/// Records that a stage has enough vertices, that few vertices have another cause, or that the number
/// is unknown.
pub(super) fn not_too_few(view: &View<'_>, stage: usize, result: &mut Examination) {
    let uneven = view.uneven.iter().find(|u| u.stage == stage && u.matters);
    match (per_vertex(view, stage), uneven) {
        (Some(_), Some(uneven)) => result.attributed(view, uneven.cause, stage),
        (Some(_), None) if view.job.script.is_none() && too_few(view, stage, true).is_some() => {
            lacks! { result, view, Script, Some(stage);
            "{stage} 的顶点偏少，没有脚本就不知道是否由提示造成", "{stage} has few vertices, and without the script it is unknown whether a hint set them", stage = view.name(stage) }
        }
        (Some(per_vertex), None) => {
            // Above the limit all tokens are in use, and more vertices would only queue.
            let of_limit = (per_vertex / heavy(view, stage, false)).min(0.99);
            result.under(of_limit, || evidence(view, stage, per_vertex));
        }
        (None, _) => {
            lacks! { result, view, StageStatistics, Some(stage);
            "不知道 {stage} 有多少顶点、读取多少数据", "the number of vertices of {stage} and their input size are unknown", stage = view.name(stage) }
        }
    }
}

fn symptom(view: &View<'_>, stage: usize, per_vertex: f64) -> Symptom {
    let vertices = view.vertices(stage).unwrap_or(1);
    let fitting = fitting_vertices(view, stage)
        .unwrap_or(1)
        .max(vertices as usize);
    let surplus = view.run_seconds(stage, surplus_ms(view, stage));
    let why = reason(view, stage);
    let shown = why.as_ref().map_or_else(Text::default, |e| {
        text!("（{why}）", " ({why})", why = e.text)
    });
    let mut evidence = evidence(view, stage, per_vertex);
    evidence.extend(why);
    evidence.extend(view.inputs(stage).filter_map(|e| wrong_fact_of(view, e)));
    Symptom {
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text!(
            "{stage} 只用 {vertices}，每个读取 {size}，而数据量需要约 {fitting} 个{why}",
            "{stage} runs on {vertices} that read {size} each; its data requires about {fitting}{why}",
            stage = view.name(stage),
            why = shown,
            size = Bytes(per_vertex),
            vertices = VERTEX.count(vertices as f64)
        ),
        evidence,
        saved: view.saved_in(stage, move |stage| regroup(stage, fitting, surplus)),
        method: "schedule replayed with as many vertices as the data requires",
        strength: 0.5 + 0.5 * (per_vertex / view.limit(&HEAVY_BYTES) / 4.0).min(1.0),
    }
}
