//! Lost attempts: their number, their cost, and whether memory is the reason.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use job::facts::value;
use job::model::Source;

use crate::facts::{at, fact};
use crate::settings::threshold;
use crate::view::View;
use report::format::{Names, Number, TIME};
use report::{Evidence, text};

threshold! {
    /// Wasted attempts that a stage must have.
    pub(crate) MIN_COUNT = 4.0, "attempts", "retries.min_count";
    "小阶段中一两次失败就超过百分比阈值", "in a small stage one or two failures exceed any share";
    "judgment"
}

threshold! {
    /// Peak of a vertex over the limit that the compiler set.
    pub(crate) MIN_PEAK = 0.9, "share", "memory.min_peak_over_limit";
    "峰值远低于限制时，失败不是内存引起的", "with a peak far below the limit the failures are not due to memory";
    "physics"
}

threshold! {
    /// Least number of memory failures in a stage.
    pub(crate) MIN_FAILURES = 2.0, "attempts", "memory.min_failures";
    "单次内存失败可能是机器的问题", "a single memory failure may be due to the machine";
    "judgment"
}

/// Wasted attempts of some vertices.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waste {
    pub(crate) vertices: f64,
    pub(crate) attempts: f64,
    /// Time of wasted attempts, and of useful ones.
    pub(crate) seconds: f64,
    pub(crate) useful_s: f64,
}

impl Waste {
    /// Wasted time over useful time.
    pub(crate) fn share(&self) -> f64 {
        match self.useful_s > 0.0 {
            true => self.seconds / self.useful_s,
            false => 0.0,
        }
    }

    /// Whether the waste is more than single failures.
    pub(crate) fn matters(&self, view: &View<'_>) -> bool {
        self.attempts >= view.limit(&MIN_COUNT)
    }

    /// Sum of the waste of several stages.
    pub(crate) fn plus(self, other: Waste) -> Waste {
        Waste {
            vertices: self.vertices + other.vertices,
            attempts: self.attempts + other.attempts,
            seconds: self.seconds + other.seconds,
            useful_s: self.useful_s + other.useful_s,
        }
    }
}

/// Whether a task of a stage failed in several attempts, on executors that stayed: its work or its data is the reason, not chance.
pub(crate) fn repeats(view: &View<'_>, stage: usize) -> bool {
    let Some(app) = view.job.spark.as_deref() else {
        return false;
    };
    let is_lost = |executor: u32| app.executors.get(executor as usize).is_some_and(|e| e.lost);
    let attempts = app.stages[stage].attempts.iter();
    let mut failed = attempts.filter(|t| !t.succeeded && !t.speculative && !is_lost(t.executor));
    let mut seen = BTreeSet::new();
    failed.any(|task| !seen.insert(task.index))
}

/// Waste of a stage, by its events or its statistics: truncated events lack attempts.
pub(crate) fn waste(view: &View<'_>, stage: usize) -> Option<Waste> {
    let runs = view.job.stages[stage].runs.as_ref();
    let by_events = runs.map(|r| ((r.failed + r.revoked) as f64, r.wasted_ms / 1000.0));
    let stated = view.facts[stage].stated.as_ref();
    let by_statistics = stated.and_then(|stated| {
        let attempts = value(&stated.failed)? + value(&stated.revoked).unwrap_or(0.0);
        match value(&stated.failed_ms) {
            None if attempts > 0.0 => None,
            ms => Some((attempts, ms.unwrap_or(0.0) / 1000.0)),
        }
    });
    let known = [by_statistics, by_events].into_iter().flatten();
    let (attempts, seconds) = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Waste {
        vertices: view.vertices(stage).unwrap_or(1).max(1) as f64,
        attempts,
        seconds,
        useful_s: view.run.as_ref().map_or(0.0, |r| r.stages[stage].run_s()),
    })
}

/// Attempts of a stage that ran out of memory, by their messages; without messages, all failures
/// of a stage with a memory peak at its limit.
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
            let failed = view.stated_failures(stage).max(runs.failed as f64);
            (by_message as f64).min(failed.max(1.0))
        }
        None => {
            let enough = waste(view, stage).is_some_and(|w| w.matters(view));
            if enough && peak_over_limit(view, stage)? >= view.limit(&MIN_PEAK) {
                view.stated_failures(stage)
            } else {
                0.0
            }
        }
    };
    (failures >= view.limit(&MIN_FAILURES)).then_some(failures)
}

pub(crate) fn peak_over_limit(view: &View<'_>, stage: usize) -> Option<f64> {
    let s = &view.job.stages[stage];
    let limit = s.memory_limit? as f64;
    let peak = value(&view.facts[stage].private_peak)?;
    (limit > 0.0).then(|| peak / limit)
}

pub(crate) fn evidence(view: &View<'_>, stage: usize, waste: &Waste) -> Vec<Evidence> {
    let s = &view.job.stages[stage];
    let mut facts = Vec::new();
    if let Some(runs) = &s.runs {
        let source = at(&runs.file, &s.name);
        facts.push(
            fact! { view, "failed and revoked attempts", waste.attempts, "count", source.clone();
                "{failed} 次失败，{revoked} 次被收回", "{failed} failed, {revoked} revoked", failed = Number(runs.failed as f64), revoked = Number(runs.revoked as f64) }
            .expecting(text!("百分之几以内", "a few percent at most").into(view.language)),
        );
        facts.extend(failed_by_executor(view, stage, &source));
        if let Some((event, times)) = runs.events.first() {
            facts.push(fact! { view, event, *times as f64, "count", source;
            "{event}：{times}", "{event}: {times}", times = TIME.count(*times as f64) });
        }
    }
    if let Some(stated) = &view.facts[stage].stated {
        facts.extend(view.measured(&stated.failed, "count"));
        facts.extend(view.measured(&stated.revoked, "count"));
        facts.extend(view.measured(&stated.failed_ms, "ms"));
    }
    facts
}

/// Executors named with their failed attempts.
const MOST_EXECUTORS: usize = 4;

/// The failed attempts of a stage of an application by executor, most first: failures on one executor point at its machine.
fn failed_by_executor(view: &View<'_>, stage: usize, source: &Source) -> Option<Evidence> {
    let app = view.job.spark.as_deref()?;
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for task in app.stages[stage].attempts.iter().filter(|t| !t.succeeded) {
        *counts.entry(task.executor).or_default() += 1;
    }
    let mut counts: Vec<(u32, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(executor, n)| (Reverse(*n), *executor));
    let most = counts.first()?.1;
    let named = counts.iter().take(MOST_EXECUTORS);
    let named = named.filter_map(|(executor, n)| {
        let executor = app.executors.get(*executor as usize)?;
        Some(format!("{} ({n})", executor.id))
    });
    let named: Vec<String> = named.collect();
    let metric = "failed attempts of an executor";
    Some(fact! { view, metric, most as f64, "count", source.clone();
    "{stage} 失败的尝试按 Executor：{named}", "failed attempts of {stage} by executor: {named}", stage = view.name(stage), named = Names(&named) })
}
