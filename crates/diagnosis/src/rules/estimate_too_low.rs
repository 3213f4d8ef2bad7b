//! Rule for `memory.estimate_too_low`: vertices fail or retry because the memory estimate is too
//! small.

use job::info::Information;

use super::support::{Draft, says};
use super::vertex_retries::{evidence as waste_evidence, waste};
use crate::facts::{bytes, count, counter, seconds, text};
use crate::impact::drop_waste;
use crate::model::{Cause, Fact};
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;

/// Peak of a vertex over the limit that the compiler set.
pub(crate) static MIN_PEAK: Threshold = Threshold {
    name: "memory.min_peak_over_limit",
    default: 0.9,
    unit: "share",
    reason_zh: "峰值远低于限制时，失败不是内存引起的",
    reason_en: "with a peak far below the limit the failures are not of memory",
    source: "physics",
};

/// Failures of memory that a stage must have.
pub(crate) static MIN_FAILURES: Threshold = Threshold {
    name: "memory.min_failures",
    default: 2.0,
    unit: "attempts",
    reason_zh: "单次内存失败可能是机器的问题",
    reason_en: "a single failure of memory may be the machine's",
    source: "judgement",
};

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

/// Attempts of a stage that failed of memory, by their messages; without messages, all failures
/// of a stage whose peak reached its limit.
pub(crate) fn memory_failures(view: &View<'_>, stage: usize) -> Option<f64> {
    let s = &view.job.stages[stage];
    let failures = match &s.runs {
        Some(runs) => {
            let of_memory = |m: &str| {
                let m = m.to_uppercase();
                m.contains("MEMORY") || m.contains("OOM")
            };
            let by_message: u64 = runs
                .events
                .iter()
                .filter(|(m, _)| of_memory(m))
                .map(|(_, n)| n)
                .sum();
            by_message.min(runs.failed.max(1)) as f64
        }
        None => {
            let failed = s
                .summary
                .as_ref()?
                .values
                .get("failedCount")
                .copied()
                .unwrap_or(0.0);
            let enough =
                waste(view, stage).is_some_and(|w| super::vertex_retries::matters(view, stage, &w));
            if enough && peak_over_limit(view, stage)? >= view.limit(&MIN_PEAK) {
                failed
            } else {
                0.0
            }
        }
    };
    (failures >= view.limit(&MIN_FAILURES)).then_some(failures)
}

fn peak_over_limit(view: &View<'_>, stage: usize) -> Option<f64> {
    let s = &view.job.stages[stage];
    let limit = s.memory_limit?.process_bytes? as f64;
    let peak = s
        .counters
        .as_ref()?
        .vertex
        .value("maxPrivateMemoryPeakSize")?;
    (limit > 0.0).then(|| peak / limit)
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
        lines: super::parallelism_too_low::lines(view, stage),
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
    if let Some(tree) = &s.counters {
        let peak = counter(tree, &tree.vertex, "maxPrivateMemoryPeakSize", "bytes");
        let limit = s
            .memory_limit
            .and_then(|m| m.process_bytes)
            .map(|l| format!("<= {l}"));
        facts.extend(peak.map(|f| match limit {
            Some(limit) => f.expecting(limit),
            None => f,
        }));
    }
    if let Some(w) = waste(view, stage) {
        facts.extend(waste_evidence(view, stage, &w));
    }
    facts
}
