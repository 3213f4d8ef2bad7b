//! Rule for `failure.vertex_retries`: failed, revoked or duplicated vertices waste a large share
//! of the work.

use job::info::Information;

use super::support::{Draft, says};
use crate::facts::{count, percent, seconds, text};
use crate::impact::drop_waste;
use crate::model::Cause;
use crate::rule::{About, Examination, Rule};
use crate::signs::load;
use crate::signs::retries::{
    MIN_ATTEMPTS, MIN_COUNT, MIN_WASTE, Waste, evidence, matters, memory_failures, waste,
};
use crate::view::View;

/// The rule.
pub(crate) struct VertexRetries;

static ABOUT: About = About {
    cause: Cause::VertexRetries,
    what: says(
        "失败、被收回或重复执行的顶点浪费了大量工作",
        "failed, revoked or duplicated vertices waste a large share of the work",
    ),
    needs: &[Information::VertexEvents],
    helps: &[Information::StageStatistics],
    thresholds: &[&MIN_ATTEMPTS, &MIN_COUNT, &MIN_WASTE],
    counter_evidence: &[
        says("只有个别失败", "only single failures"),
        says(
            "失败由内存估计过低引起（见 memory.estimate_too_low）",
            "the failures are of memory (see memory.estimate_too_low)",
        ),
        says("重试不在关键路径上", "the retries hold up nothing"),
    ],
};

impl Rule for VertexRetries {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for stage in 0..view.job.stages.len() {
            if let Some(waste) = waste(view, stage).filter(|w| matters(view, stage, w))
                && !view.failed()
                && memory_failures(view, stage).is_none()
            {
                result.found(view, draft(view, stage, waste));
            }
        }
        if !view.failed()
            && (view.job.stages.iter().zip(&view.facts))
                .all(|(stage, facts)| stage.runs.is_none() && facts.stated.is_none())
            && !super::is_local(view)
        {
            let reason = text(
                "没有文件说明哪些顶点失败或被收回",
                "no file tells which vertices failed or were revoked",
            );
            result.lacks(Information::VertexEvents, view, None, reason);
        }
        result.cleared_by(
            "失败与被收回的顶点很少",
            "few vertices failed or were revoked",
        )
    }
}

fn draft(view: &View<'_>, stage: usize, waste: Waste) -> Draft {
    let vertices = view.vertices(stage).unwrap_or(1);
    let attempts = count(waste.attempts);
    Draft {
        cause: Cause::VertexRetries,
        stage: Some(stage),
        lines: load::lines(view, stage),
        summary: text(
            format!(
                "{} 的 {vertices} 个顶点有 {attempts} 次尝试失败或被收回，浪费 {}（有效时间的 {}）",
                view.name(stage),
                seconds(waste.seconds),
                percent(waste.share)
            ),
            format!(
                "{attempts} attempts at the {vertices} vertices of {} failed or were revoked, {} of work wasted ({} of the useful time)",
                view.name(stage),
                seconds(waste.seconds),
                percent(waste.share)
            ),
        ),
        evidence: evidence(view, stage, &waste),
        saved: view.saved(|stages| drop_waste(&mut stages[stage])),
        method: "schedule replayed without the attempts that were lost",
        strength: 0.6 + 0.4 * waste.share.min(1.0),
    }
}
