//! Rule for `failure.vertex_retries`: failed, revoked or duplicated vertices waste a large share
//! of the work.

use job::info::Information;
use job::model::Source;

use super::support::{Draft, says};
use crate::facts::{count, number, percent, seconds, summary, text};
use crate::impact::drop_waste;
use crate::model::{Cause, Fact};
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;

/// Wasted attempts per vertex of a stage.
pub(crate) static MIN_ATTEMPTS: Threshold = Threshold {
    name: "retries.min_attempts_per_vertex",
    default: 0.08,
    unit: "share",
    reason_zh: "每个作业都有个别顶点失败或被收回；百分之几以内是正常的",
    reason_en: "every job has single vertices that fail or are revoked; a few in a hundred are normal",
    source: "healthy simulated jobs: up to 4 %",
};

/// Wasted attempts that a stage must have.
pub(crate) static MIN_COUNT: Threshold = Threshold {
    name: "retries.min_count",
    default: 4.0,
    unit: "attempts",
    reason_zh: "小 stage 中一两次失败就超过百分比阈值",
    reason_en: "in a small stage one or two failures exceed any share",
    source: "judgement",
};

/// Wasted time of a stage over the time of its completed vertices.
pub(crate) static MIN_WASTE: Threshold = Threshold {
    name: "retries.min_waste",
    default: 0.05,
    unit: "share",
    reason_zh: "报告契约：浪费了大量工作",
    reason_en: "report contract: a large share of the work",
    source: "report contract",
};

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

/// Wasted attempts of a stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waste {
    pub(crate) attempts: f64,
    pub(crate) seconds: f64,
    pub(crate) share: f64,
}

impl Rule for VertexRetries {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for stage in 0..view.job.stages.len() {
            if let Some(waste) = waste(view, stage).filter(|w| matters(view, stage, w))
                && !view.failed()
                && super::estimate_too_low::memory_failures(view, stage).is_none()
            {
                result.found(view, draft(view, stage, waste));
            }
        }
        if !view.failed()
            && view
                .job
                .stages
                .iter()
                .all(|s| s.runs.is_none() && s.summary.is_none())
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

/// What a stage wasted, by its events, else by its statistics.
pub(crate) fn waste(view: &View<'_>, stage: usize) -> Option<Waste> {
    let s = &view.job.stages[stage];
    let run = view.run.as_ref().map_or(0.0, |r| r.stages[stage].run_s());
    let (attempts, seconds) = match (&s.runs, &s.summary) {
        (Some(runs), _) => ((runs.failed + runs.revoked) as f64, runs.wasted_ms / 1000.0),
        (None, Some(summary)) => {
            let value = |name: &str| summary.values.get(name).copied().unwrap_or(0.0);
            (
                value("failedCount") + value("revocationCount"),
                value("totalFailedTime") / 1000.0,
            )
        }
        (None, None) => return None,
    };
    Some(Waste {
        attempts,
        seconds,
        share: if run > 0.0 { seconds / run } else { 0.0 },
    })
}

/// Whether that is more than single failures.
pub(crate) fn matters(view: &View<'_>, stage: usize, waste: &Waste) -> bool {
    let vertices = view.vertices(stage).unwrap_or(1).max(1) as f64;
    waste.attempts >= view.limit(&MIN_COUNT)
        && waste.attempts / vertices >= view.limit(&MIN_ATTEMPTS)
        && waste.share >= view.limit(&MIN_WASTE)
}

fn draft(view: &View<'_>, stage: usize, waste: Waste) -> Draft {
    let vertices = view.vertices(stage).unwrap_or(1);
    let attempts = count(waste.attempts);
    Draft {
        cause: Cause::VertexRetries,
        stage: Some(stage),
        lines: super::parallelism_too_low::lines(view, stage),
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

pub(crate) fn evidence(view: &View<'_>, stage: usize, waste: &Waste) -> Vec<Fact> {
    let s = &view.job.stages[stage];
    let mut facts = Vec::new();
    if let Some(runs) = &s.runs {
        let source = Source {
            file: runs.file.clone(),
            locator: Some(s.name.clone()),
        };
        let says = text(
            format!("{} 次失败，{} 次被收回", runs.failed, runs.revoked),
            format!("{} failed, {} revoked", runs.failed, runs.revoked),
        );
        facts.push(
            number(
                "failed and revoked attempts",
                waste.attempts,
                "count",
                source,
                says,
            )
            .expecting("a few in a hundred"),
        );
        if let Some((event, times)) = runs.events.first() {
            let source = Source {
                file: runs.file.clone(),
                locator: Some(s.name.clone()),
            };
            let says = text(
                format!("{event}：{times} 次"),
                format!("{event}: {times} times"),
            );
            facts.push(number(event, *times as f64, "count", source, says));
        }
    }
    facts.extend(summary(s, "failedCount", "count"));
    facts.extend(summary(s, "revocationCount", "count"));
    facts.extend(summary(s, "totalFailedTime", "ms"));
    facts
}
