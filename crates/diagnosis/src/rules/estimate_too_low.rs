//! Rule for `memory.estimate_too_low`: vertices fail or retry because the memory estimate is too
//! small.

use super::support::{Symptom, rule};
use super::vertex_retries::lacking;
use crate::impact::drop_waste;
use crate::measurements::load;
use crate::measurements::retries::{
    MIN_FAILURES, MIN_PEAK, evidence as waste_evidence, memory_failures, peak_over_limit, waste,
};
use crate::rule::Examination;
use crate::view::View;
use report::format::{ATTEMPT, Bytes, Seconds};
use report::{Evidence, Text, text};

rule! { RULE = MemoryEstimateTooLow, examine;
    "内存估计过小，顶点因此失败或重试", "vertices fail or retry because the memory estimate is too small";
    needs VertexEvents;
    helps MemoryEstimate, MemoryUse;
    thresholds MIN_PEAK, MIN_FAILURES;
    unless "失败的原因不是内存", "the failures are not due to memory";
    unless "峰值远低于限制", "the peaks are far below the limit";
    cleared "没有顶点因内存失败", "no vertex ran out of memory";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let local = super::is_local(view);
    for stage in (0..view.job.stages.len()).filter(|_| !view.failed() && !local) {
        match (memory_failures(view, stage), waste(view, stage)) {
            (Some(failures), _) => result.found(view, symptom(view, stage, failures)),
            (None, Some(waste)) => {
                let of_limit = peak_over_limit(view, stage).unwrap_or(0.0).min(1.0);
                result.under(of_limit, || waste_evidence(view, stage, &waste));
            }
            (None, None) => lacking(view, stage, result),
        }
    }
}

fn symptom(view: &View<'_>, stage: usize, failures: f64) -> Symptom {
    let lost = waste(view, stage).map_or(0.0, |w| w.seconds);
    let limit = view.job.stages[stage].memory_limit;
    let limit = limit.map_or_else(Text::default, |l| {
        text!("（限制 {size}）", " (limit {size})", size = Bytes(l as f64))
    });
    Symptom {
        stage: Some(stage),
        lines: load::lines(view, stage),
        summary: text!(
            "{stage} 有 {n}因内存不足失败{limit}，重试浪费 {time}",
            "{n} in {stage} ran out of memory{limit}; retrying them wasted {time}",
            stage = view.name(stage),
            limit = limit,
            n = ATTEMPT.count(failures),
            time = Seconds(lost)
        ),
        evidence: evidence(view, stage),
        saved: view.saved_in(stage, drop_waste),
        method: "schedule replayed without the attempts that ran out of memory",
        strength: 0.7 + 0.3 * peak_over_limit(view, stage).unwrap_or(0.0).min(1.0),
    }
}

fn evidence(view: &View<'_>, stage: usize) -> Vec<Evidence> {
    let s = &view.job.stages[stage];
    let mut facts = Vec::new();
    let peak = view.measured(&view.facts[stage].private_peak, "bytes");
    let limit = s.memory_limit.map(|l| format!("<= {l}"));
    facts.extend(peak.map(|f| match limit {
        Some(limit) => f.expecting(limit),
        None => f,
    }));
    if let Some(w) = waste(view, stage) {
        facts.extend(waste_evidence(view, stage, &w));
    }
    facts
}
