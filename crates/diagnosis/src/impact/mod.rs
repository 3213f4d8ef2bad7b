//! Cost of a cause: the difference to a run without it.
//!
//! The run is rebuilt as work of vertices on the job's tokens, replayed as it was, and replayed
//! again with the cause taken out. The difference, scaled by the error of the unchanged replay,
//! is the cost of the cause. Knows no rules.

mod cover;
mod edit;
mod fix;
mod reach;
mod schedule;
mod work;

use std::borrow::Borrow;
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use job::Job;
use job::facts::StageFacts;

pub use cover::Cover;
pub use edit::{
    RUN_NOISE, drop_waste, flatten, merge_into, regroup, scale_run, scale_usual, shorten_handover,
    slowest_of,
};
pub use fix::Fix;
pub use schedule::{StageWork, Turn, VertexWork, replay, schedule};
pub use work::{Basis, MAX_DISPATCH_S};

/// Number of tokens if no file has it: more than any stage needs, so that no waves are
/// invented.
const UNKNOWN_TOKENS: usize = 1_000_000;

/// From this ratio to the requested tokens on, a job had more than requested; a token in handover counts twice for a moment.
const CLEARLY_MORE: f64 = 1.2;

/// Least share of the busy time with as many concurrent attempts, for the number to count as the job's tokens.
const HELD_SHARE: f64 = 0.05;

/// Vertices and stages replayed for one job, some ten seconds of work. A job of 200,000 vertices and 300
/// stages takes a fifth of it; further fixes stay unknown.
const MAX_REPLAYED: usize = 200_000_000;

/// A stage that reaches a smaller share of the run is not replayed: the change of the stage's time is exact enough.
const MIN_REPLAYED_SHARE: f64 = 0.002;

/// Longest handover by the job manager, in seconds; a longer gap between vertices has another reason.
const MAX_HANDOVER_S: f64 = 3.0;

/// Saving of a fix.
#[derive(Debug, Clone)]
pub struct Saved {
    pub seconds: f64,
    pub share: f64,
    pub fix: Fix,
}

/// The run as work of stages.
#[derive(Debug, Clone)]
pub struct RunModel {
    pub stages: Vec<StageWork>,
    /// Source of each stage's work.
    pub basis: Vec<Basis>,
    /// Vertices that may run at once.
    pub tokens: usize,
    /// Whether a file gives the tokens.
    pub tokens_known: bool,
    /// Core-hours that the executors held, over the core-hours of all slots from start to end: executors come late and leave early. 1 for a job.
    pub held_of_slots: f64,
    /// Duration of the unchanged replay, in seconds.
    pub replayed_s: f64,
    /// Seconds that the run took.
    pub elapsed_s: f64,
    /// Part of it with a running vertex, less the time lost to missing tokens.
    pub working_s: f64,
    /// Seconds that the replay saves without each stage, computed on demand.
    without: Vec<OnceCell<f64>>,
    /// Seconds of the replay that each stage can cost.
    reach: Vec<f64>,
    /// Vertices and stages that may still be replayed.
    left: Cell<usize>,
}

impl RunModel {
    /// The model of a job; `None` if no file shows the cost of its stages.
    pub fn of(job: &Job, facts: &[Arc<StageFacts>]) -> Option<RunModel> {
        // a job may get more than it asked for: a third of the recurring Cosmos pipelines peak above twice their request
        let requested = job.info.tokens.map(|t| t as usize).filter(|t| *t > 0);
        let tokens_known = requested.is_some();
        // an application has its slots; a job asks for tokens
        let more = |seen: &usize| match requested {
            Some(asked) => job.spark.is_none() && *seen as f64 > CLEARLY_MORE * asked as f64,
            None => true,
        };
        let observed = observed_tokens(job).filter(more);
        let tokens = requested.max(observed).unwrap_or(UNKNOWN_TOKENS);
        let (stages, basis): (Vec<StageWork>, Vec<Basis>) =
            work::stage_works(job, facts, tokens).into_iter().unzip();
        let spans = schedule(&stages, tokens, |_| {});
        let replayed_s = spans.iter().map(|span| span.end).fold(0.0, f64::max);
        if replayed_s <= 0.0 {
            return None;
        }
        let elapsed_s = job
            .info
            .elapsed_seconds
            .or_else(|| observed_seconds(job))
            .filter(|s| *s > 0.0)
            .unwrap_or(replayed_s);
        Some(RunModel {
            held_of_slots: held_of_slots(job, tokens, elapsed_s),
            elapsed_s,
            working_s: (elapsed_s - dark_seconds(job)).max(0.0),
            without: vec![OnceCell::new(); stages.len()],
            reach: reach::reach(&stages, &spans, tokens),
            left: Cell::new(MAX_REPLAYED),
            stages,
            basis,
            tokens,
            tokens_known,
            replayed_s,
        })
    }

    /// A run of these stages on `tokens` tokens, with the duration of its replay.
    #[cfg(test)]
    pub(crate) fn from_stages(stages: Vec<StageWork>, tokens: usize) -> RunModel {
        let spans = schedule(&stages, tokens, |_| {});
        let replayed_s = spans.iter().map(|span| span.end).fold(0.0, f64::max);
        RunModel {
            held_of_slots: 1.0,
            elapsed_s: replayed_s,
            working_s: replayed_s,
            replayed_s,
            without: vec![OnceCell::new(); stages.len()],
            reach: reach::reach(&stages, &spans, tokens),
            left: Cell::new(MAX_REPLAYED),
            basis: vec![Basis::Events; stages.len()],
            stages,
            tokens,
            tokens_known: true,
        }
    }

    /// Whether a file gives the tokens, or how many vertices ran at once.
    pub fn has_tokens(&self) -> bool {
        self.tokens < UNKNOWN_TOKENS
    }

    /// Largest number of tokens that the replayed run holds at once.
    pub(crate) fn peak(&self) -> usize {
        let mut changes: Vec<(f64, i64)> = Vec::new();
        schedule(&self.stages, self.tokens, |turn| {
            changes.extend([(turn.from, 1), (turn.to, -1)]);
        });
        // the sort puts releases before takes at the same time
        changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut held = 0;
        let after = changes.into_iter().map(|(_, step)| {
            held += step;
            held
        });
        after.max().map_or(0, |most| most.max(0) as usize)
    }

    /// Saving of the run with a fix, never negative. `None` if computing it is too expensive: the job
    /// is huge, and very many fixes were replayed before.
    pub fn saved(&self, fix: Fix) -> Option<Saved> {
        let seconds = self.seconds(self.saves(&fix)?);
        Some(Saved {
            seconds,
            share: self.share(seconds),
            fix,
        })
    }

    /// Seconds of the replay that a fix saves; `None` as for [`RunModel::saved`].
    fn saves(&self, fix: &Fix) -> Option<f64> {
        let Fix::Stage(at, edit) = fix else {
            self.pay()?;
            let mut stages = self.stages.clone();
            fix.apply(&mut stages);
            return Some(self.replayed_s - replay(&stages, fix.tokens(self.tokens)));
        };
        let before = &self.stages[*at];
        let mut after = before.clone();
        edit(&mut after);
        if self.is_small(*at) {
            let kept = after.alone_s(self.tokens) / before.alone_s(self.tokens);
            return Some(self.reach[*at] * (1.0 - kept).clamp(0.0, 1.0));
        }
        self.pay()?;
        let mut stages: Vec<&StageWork> = self.stages.iter().collect();
        stages[*at] = &after;
        Some(self.replayed_s - self.replay(&stages))
    }

    /// Whether no change of a stage is worth a replay.
    pub fn is_small(&self, stage: usize) -> bool {
        self.reach[stage] < MIN_REPLAYED_SHARE * self.replayed_s
    }

    /// Pays for one more replay; `None` if the budget is exhausted.
    fn pay(&self) -> Option<()> {
        let work = self.stages.iter().map(|s| s.vertices.len() + 1);
        self.left.set(self.left.get().checked_sub(work.sum())?);
        Some(())
    }

    /// Seconds that stages take on the tokens of the job.
    pub fn replay<S: Borrow<StageWork>>(&self, stages: &[S]) -> f64 {
        replay(stages, self.tokens)
    }

    fn share(&self, seconds: f64) -> f64 {
        (seconds / self.elapsed_s).min(1.0)
    }

    /// Converts seconds of the replay to seconds of the run. Never negative.
    pub fn seconds(&self, replayed: f64) -> f64 {
        (replayed / self.replayed_s).clamp(0.0, 1.0) * self.working_s
    }

    /// Largest share of the run that any cause in a stage could cost: by replaying the run without the stage, or the stage's
    /// reach if that is too expensive.
    pub fn stake(&self, stage: usize) -> f64 {
        let saved = self.without[stage].get_or_init(|| {
            let without = Fix::stage(stage, |stage| stage.vertices.clear());
            self.saves(&without).unwrap_or(self.reach[stage])
        });
        self.share(self.seconds(*saved))
    }
}

/// Value of [`RunModel::held_of_slots`].
fn held_of_slots(job: &Job, slots: usize, elapsed_s: f64) -> f64 {
    let held = || {
        let (from, to) = (job.info.submitted_ms?, job.info.ended_ms?);
        let held = job.spark.as_deref()?.held_core_ms(from, to);
        (held > 0).then_some(held as f64 / 1000.0)
    };
    held().map_or(1.0, |held| held / (slots as f64 * elapsed_s))
}

/// Largest number of concurrent attempts, over all stages, that was sustained for a share of the time. Short peaks come from
/// clock differences and handovers.
fn observed_tokens(job: &Job) -> Option<usize> {
    let runs = job.stages.iter().filter_map(|s| s.runs.as_ref());
    let mut events: Vec<(i64, i64)> = runs
        .flat_map(|r| r.runs.iter())
        .flat_map(|r| [(r.started_ms, 1), (r.ended_ms, -1)])
        .collect();
    events.sort_unstable();
    let mut now = 0;
    let mut held: BTreeMap<i64, i64> = BTreeMap::new();
    for pair in events.windows(2) {
        now += pair[0].1;
        *held.entry(now).or_default() += pair[1].0 - pair[0].0;
    }
    let busy: i64 = held.iter().filter(|(n, _)| **n > 0).map(|(_, ms)| ms).sum();
    let mut above = 0;
    let most = held.iter().rev().find(|(_, ms)| {
        above += **ms;
        above as f64 >= HELD_SHARE * busy as f64
    });
    most.and_then(|(n, _)| usize::try_from(*n).ok())
        .filter(|n| *n > 0)
}

/// Seconds of the run outside the replay: time without a running vertex. The replay of an application
/// includes the driver's time between stages, so only the time after the last stage counts.
fn dark_seconds(job: &Job) -> f64 {
    let runs = || job.stages.iter().filter_map(|s| s.runs.as_ref());
    if job.spark.is_some() {
        let ends = runs().flat_map(|r| &r.runs).map(|r| r.ended_ms);
        let tail = ends
            .max()
            .zip(job.info.ended_ms)
            .map(|(last, end)| end - last);
        return tail.map_or(0.0, |ms| ms.max(0) as f64 / 1000.0);
    }
    if runs().any(|r| r.sampled) {
        return 0.0;
    }
    let seconds = |ms: i64| ms as f64 / 1000.0;
    let ran = runs().flat_map(|r| &r.runs);
    let ran = Cover::of(ran.map(|r| (seconds(r.started_ms), seconds(r.ended_ms))));
    ran.gaps().filter(|gap| *gap > MAX_HANDOVER_S).sum()
}

/// Seconds from the first creation to the last end of an attempt.
fn observed_seconds(job: &Job) -> Option<f64> {
    let runs = || {
        job.stages
            .iter()
            .filter_map(|s| s.runs.as_ref())
            .flat_map(|r| r.runs.iter())
    };
    let first = runs().map(|r| r.created_ms).min()?;
    let last = runs().map(|r| r.ended_ms).max()?;
    Some((last - first) as f64 / 1000.0)
}
