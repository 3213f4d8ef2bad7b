//! Rule for `gc.heap_pressure`: managed operators that spend much of their time in garbage
//! collection.
//!
//! The counters give the mean and the worst share over the vertices. Time in user code grows with
//! `1 / (1 − share)`, so the vertices with a high share weigh most. The model assumes shares
//! that are spread evenly around the mean, up to the worst.

use super::support::{Symptom, lacks, rule};
use crate::impact::{Saved, StageWork};
use crate::measurements::managed::{gc, gc_part, managed_ms, runs_user_code};
use crate::rule::Examination;
use crate::settings::threshold;
use crate::view::View;
use report::format::{Seconds, Share};
use report::{Evidence, text};

threshold! {
    /// Least mean share of time in garbage collection for a stage to be examined.
    pub(crate) MIN_GC = 0.20, "share", "gc.min_share";
    "健康的托管阶段在 2–6 %；20 % 以下即使有也几乎不影响运行时间", "healthy managed stages show 2 to 6 %; under 20 % the run hardly notices";
    "healthy simulated jobs; .NET guidance names 10 % as the point to look closer"
}

rule! { RULE = HeapPressure, examine;
    "托管算子大量时间花在垃圾回收上", "managed operators spend a large share of their time in garbage collection";
    needs GcTime, StageGraph;
    helps UserCode, MemoryUse;
    thresholds MIN_GC;
    unless "阶段中全是本机代码", "the stage runs native code only";
    unless "回收比例高但托管算子只占很小一部分时间", "a high share of a small part of the stage's time";
    unless "只有倾斜的顶点回收多，平均占比不高", "only a skewed vertex collects much, and the mean share is low";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let limit = view.limit(&MIN_GC);
    for (index, stage) in view.job.stages.iter().enumerate() {
        match gc(view, index) {
            Some((mean, max)) if mean >= limit => {
                result.found(view, symptom(view, index, mean, max));
            }
            Some((mean, _)) => result.under(mean / limit, || gc_facts(view, index)),
            None if runs_user_code(view, index) && !view.failed() => {
                lacks! { result, view, GcTime, Some(index);
                "{stage} 运行用户代码，但没有垃圾回收计数器", "{stage} runs user code, and no file gives its garbage collection time", stage = stage.name }
            }
            None => {}
        }
    }
    let highest = result.closest.as_ref().map_or(0.0, |c| c.of_limit * limit);
    result.cleared_by(text!(
        "垃圾回收平均占比最高 {share}，阈值 {limit}",
        "the highest mean share of garbage collection is {share}, the threshold {limit}",
        share = Share(highest),
        limit = Share(limit)
    ));
}

fn symptom(view: &View<'_>, stage: usize, mean: f64, max: f64) -> Symptom {
    let (managed, operator) = managed_ms(view, stage);
    let surplus = managed * gc_part(mean, max);
    Symptom {
        stage: Some(stage),
        lines: operator.and_then(|o| view.lines(stage, o)),
        summary: text!(
            "{stage} 平均 {share} 的时间（最差顶点 {share_2}）用于垃圾回收，用户代码共耗时 {time}",
            "{stage} spends {share} of its time (the worst vertex {share_2}) in garbage collection; its user code takes {time} in all",
            stage = view.name(stage),
            share = Share(mean),
            share_2 = Share(max),
            time = Seconds(managed / 1000.0)
        ),
        evidence: gc_facts(view, stage),
        saved: saved(view, stage, surplus),
        method: "schedule replayed with garbage collection at a healthy share",
        strength: 0.5 + 0.5 * (mean / 0.5).min(1.0),
    }
}

/// How much of its time a stage spends in garbage collection.
fn gc_facts(view: &View<'_>, stage: usize) -> Vec<Evidence> {
    let counted = &view.facts[stage].gc;
    let limit = format!("<= {:.0} %", view.limit(&MIN_GC) * 100.0);
    let mean = counted.mean_percent.as_ref().or(counted.percent.as_ref());
    let mean = view.measured(mean, "%").map(|f| f.expecting(limit));
    let rest = [
        view.measured(&counted.max_percent, "%"),
        view.measured(&counted.full_collections, "count"),
    ];
    mean.into_iter().chain(rest.into_iter().flatten()).collect()
}

/// Takes the surplus from the vertices. The longest vertices had the highest share, so run time beyond
/// the fastest vertices goes first, the rest evenly.
fn saved(view: &View<'_>, stage: usize, surplus_ms: f64) -> Option<Saved> {
    let seconds = view.run_seconds(stage, surplus_ms);
    view.saved_in(stage, move |stage| take(stage, seconds))
}

fn take(stage: &mut StageWork, seconds: f64) {
    let all = stage.run_s();
    if all <= 0.0 || stage.vertices.is_empty() {
        return;
    }
    let n = stage.vertices.len() as f64;
    let mut runs: Vec<f64> = stage.vertices.iter().map(|v| v.run_s).collect();
    runs.sort_by(f64::total_cmp);
    let fast = runs[runs.len() / 10];
    let beyond: f64 = stage
        .vertices
        .iter()
        .map(|v| (v.run_s - fast).max(0.0))
        .sum();
    let from_beyond = (seconds * 0.6).min(beyond * 0.9);
    let even = (seconds - from_beyond) / n;
    for vertex in &mut stage.vertices {
        let own = if beyond > 0.0 {
            from_beyond * (vertex.run_s - fast).max(0.0) / beyond
        } else {
            0.0
        };
        vertex.run_s = (vertex.run_s - own - even).max(vertex.run_s * 0.05);
    }
}
