//! Rule for `failure.vertex_retries`: failed, revoked or duplicated vertices waste a large share
//! of the work.

use job::info::Information;

use super::support::{Symptom, both};
use crate::impact::drop_waste;
use crate::measurements::load;
use crate::measurements::retries::{
    MIN_ATTEMPTS, MIN_COUNT, MIN_WASTE, Waste, evidence, matters, memory_failures, waste,
};
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use report::format::{Number, Seconds, Share, VERTEX};
use report::{Cause, text};

/// Chance that attempts were lost for another reason than memory, where no file has the reasons.
const WITHOUT_REASONS: f64 = 0.45;

/// The rule.
pub(crate) struct VertexRetries;

static ABOUT: About = About {
    cause: Cause::VertexRetries,
    what: both(
        "失败、被收回或重复执行的顶点浪费了大量工作",
        "failed, revoked or duplicated vertices waste a large share of the work",
    ),
    needs: &[Information::VertexEvents],
    helps: &[Information::StageStatistics],
    thresholds: &[&MIN_ATTEMPTS, &MIN_COUNT, &MIN_WASTE],
    counter_evidence: &[
        both("只有个别失败", "only single failures"),
        both(
            "失败由内存估计过低引起（见 memory.estimate_too_low）",
            "the failures are due to memory (see memory.estimate_too_low)",
        ),
        both("重试不在关键路径上", "the retries hold up nothing"),
    ],
};

impl Rule for VertexRetries {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        let local = super::is_local(view);
        for stage in (0..view.job.stages.len()).filter(|_| !view.failed() && !local) {
            match waste(view, stage) {
                Some(_) if memory_failures(view, stage).is_some() => {
                    result.attributed(view, Cause::MemoryEstimateTooLow, stage);
                }
                Some(waste) if matters(view, stage, &waste) => {
                    let symptom = symptom(view, stage, waste);
                    if view.job.stages[stage].runs.is_some() {
                        result.found(view, symptom);
                    } else {
                        result.suspected(view, symptom, WITHOUT_REASONS);
                    }
                }
                Some(waste) => {
                    let of_limit = waste.share / view.limit(&MIN_WASTE);
                    result.under(of_limit, || evidence(view, stage, &waste));
                }
                None => lacking(view, stage, &mut result),
            }
        }
        result.cleared_by(text!(
            "失败与被收回的顶点很少",
            "few vertices failed or were revoked"
        ))
    }
}

/// Nothing counts the attempts at a stage.
pub(super) fn lacking(view: &View<'_>, stage: usize, result: &mut Examination) {
    let reason = text!(
        "没有文件说明 {stage} 的哪些顶点失败或被收回",
        "no file records which vertices of {stage} failed or were revoked",
        stage = view.name(stage),
    );
    result.lacks(Information::VertexEvents, view, Some(stage), reason);
}

fn symptom(view: &View<'_>, stage: usize, waste: Waste) -> Symptom {
    let vertices = view.vertices(stage).unwrap_or(1);
    let attempts = Number(waste.attempts);
    Symptom {
        cause: Cause::VertexRetries,
        stage: Some(stage),
        lines: load::lines(view, stage),
        summary: text!(
            "{stage} 的 {vertices}有 {attempts} 次尝试失败或被收回，浪费 {time}（有效时间的 {share}）",
            "{attempts} attempts at the {vertices} of {stage} failed or were revoked, {time} of work wasted ({share} of the useful time)",
            stage = view.name(stage),
            attempts = attempts,
            time = Seconds(waste.seconds),
            share = Share(waste.share),
            vertices = VERTEX.count(vertices as f64)
        ),
        evidence: evidence(view, stage, &waste),
        saved: view.saved_in(stage, drop_waste),
        method: "schedule replayed without the attempts that were lost",
        strength: 0.6 + 0.4 * waste.share.min(1.0),
    }
}
