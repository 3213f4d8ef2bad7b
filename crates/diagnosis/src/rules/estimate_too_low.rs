//! Rule for `memory.estimate_too_low`: vertices fail or retry because the memory estimate is too
//! small.

use job::info::Information;

use super::support::{Draft, says};
use crate::facts::{bytes, count, measured, seconds, text};
use crate::impact::drop_waste;
use crate::model::{Cause, Fact};
use crate::rule::{About, Examination, Rule};
use crate::signs::load;
use crate::signs::retries::{
    MIN_FAILURES, MIN_PEAK, evidence as waste_evidence, memory_failures, peak_over_limit, waste,
};
use crate::view::View;

/// The rule.
pub(crate) struct EstimateTooLow;

static ABOUT: About = About {
    cause: Cause::MemoryEstimateTooLow,
    what: says(
        "内存估计过小，顶点因此失败或重试",
        "vertices fail or retry because the memory estimate is too small",
    ),
    needs: &[Information::VertexEvents],
    helps: &[Information::MemoryEstimate, Information::MemoryUse],
    thresholds: &[&MIN_PEAK, &MIN_FAILURES],
    counter_evidence: &[
        says("失败的原因不是内存", "the failures are not of memory"),
        says("峰值远低于限制", "the peaks are far below the limit"),
    ],
};

impl Rule for EstimateTooLow {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for stage in (0..view.job.stages.len()).filter(|_| !view.failed()) {
            if let Some(failures) = memory_failures(view, stage) {
                result.found(view, draft(view, stage, failures));
            }
        }
        result.cleared_by("没有顶点因内存失败", "no vertex failed of memory")
    }
}

fn draft(view: &View<'_>, stage: usize, failures: f64) -> Draft {
    let lost = waste(view, stage).map_or(0.0, |w| w.seconds);
    let limit = view.job.stages[stage]
        .memory_limit
        .and_then(|m| m.process_bytes);
    let (zh, en) = limit.map_or((String::new(), String::new()), |l| {
        (
            format!("（限制 {}）", bytes(l as f64)),
            format!(" (limit {})", bytes(l as f64)),
        )
    });
    let n = count(failures);
    Draft {
        cause: Cause::MemoryEstimateTooLow,
        stage: Some(stage),
        lines: load::lines(view, stage),
        summary: text(
            format!(
                "{} 有 {n} 次尝试因内存不足失败{zh}，重试浪费 {}",
                view.name(stage),
                seconds(lost)
            ),
            format!(
                "{n} attempts in {} failed of memory{en}; retrying them lost {}",
                view.name(stage),
                seconds(lost)
            ),
        ),
        evidence: evidence(view, stage),
        saved: view.saved(|stages| drop_waste(&mut stages[stage])),
        method: "schedule replayed without the attempts that ran out of memory",
        strength: 0.7 + 0.3 * peak_over_limit(view, stage).unwrap_or(0.0).min(1.0),
    }
}

fn evidence(view: &View<'_>, stage: usize) -> Vec<Fact> {
    let s = &view.job.stages[stage];
    let mut facts = Vec::new();
    let peak = measured(&view.facts[stage].private_peak, "bytes");
    let limit = s
        .memory_limit
        .and_then(|m| m.process_bytes)
        .map(|l| format!("<= {l}"));
    facts.extend(peak.map(|f| match limit {
        Some(limit) => f.expecting(limit),
        None => f,
    }));
    if let Some(w) = waste(view, stage) {
        facts.extend(waste_evidence(view, stage, &w));
    }
    facts
}
