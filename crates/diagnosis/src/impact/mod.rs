//! What would the run have cost without a cause?
//!
//! The run is rebuilt as work of vertices on the job's tokens, replayed as it was, and replayed
//! again with the cause taken out. The difference, scaled by how far the replay of the run itself
//! is off, is what the cause costs. Knows no rules.

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
    RUN_NOISE, drop_waste, flatten, merge_into, regroup, scale_run, shorten_handover, slowest_of,
};
pub use fix::Fix;
pub use schedule::{StageWork, Turn, VertexWork, replay, schedule};
pub use work::{Basis, MAX_DISPATCH_S};

/// Tokens of a job whose files do not tell: more than any stage needs, so that waves are not
/// made up.
const UNKNOWN_TOKENS: usize = 1_000_000;

/// Times the requested tokens from which a job had more than it asked for; tokens that are handed on count twice for a moment.
const CLEARLY_MORE: f64 = 1.2;

/// Share of the busy time for which as many attempts must run at once to count as what the job had.
const HELD_SHARE: f64 = 0.05;

/// Vertices and stages replayed for one job, some ten seconds of work. A job of 200,000 vertices and 300
/// stages takes a fifth of it; what is beyond remains unknown.
const MAX_REPLAYED: usize = 200_000_000;

/// A stage that reaches a smaller share of the run is not replayed: what changes it by itself is enough.
const MIN_REPLAYED_SHARE: f64 = 0.002;

/// Longer gaps between vertices, in seconds, are not the job manager handing over.
const MAX_HANDOVER_S: f64 = 3.0;

/// What a cause costs.
#[derive(Debug, Clone)]
pub struct Saved {
    /// Seconds of the run.
    pub seconds: f64,
    /// Share of the run, 0..1.
    pub share: f64,
    /// What saves it.
    pub fix: Fix,
}

/// The run as work of stages.
#[derive(Debug, Clone)]
pub struct RunModel {
    /// Work by index of the stage.
    pub stages: Vec<StageWork>,
    /// How the work of each stage is known.
    pub basis: Vec<Basis>,
    /// Vertices that may run at once.
    pub tokens: usize,
    /// Whether a file gives the tokens.
    pub tokens_known: bool,
    /// Seconds that the replay of the run as it was takes.
    pub replayed_s: f64,
    /// Seconds that the run took.
    pub elapsed_s: f64,
    /// Those of them in which some vertex ran, less what missing tokens took.
    pub working_s: f64,
    /// Seconds that the replay takes less without each stage, as far as somebody asked.
    without: Vec<OnceCell<f64>>,
    /// Seconds of the replay that each stage can cost.
    reach: Vec<f64>,
    /// Vertices and stages that may still be replayed.
    left: Cell<usize>,
}

impl RunModel {
    /// The model of a job; `None` if no file shows what its stages cost.
    pub fn of(job: &Job, facts: &[Arc<StageFacts>]) -> Option<RunModel> {
        // a job may get more than it asked for: a third of the recurring Cosmos pipelines peak above twice their request
        let requested = job.info.tokens.map(|t| t as usize).filter(|t| *t > 0);
        let tokens_known = requested.is_some();
        // slots are what an application has; tokens are what a job asks for
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

    /// A run of these stages on so many tokens, which took as long as its replay.
    #[cfg(test)]
    pub(crate) fn from_stages(stages: Vec<StageWork>, tokens: usize) -> RunModel {
        let spans = schedule(&stages, tokens, |_| {});
        let replayed_s = spans.iter().map(|span| span.end).fold(0.0, f64::max);
        RunModel {
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

    /// What the run would save with a fix. Never negative. `None` if that is too much to find out: the job
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
            return Some(self.replayed_s - self.replay(&stages));
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

    /// Counts one replay more; `None` if there were too many.
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

    /// Seconds of the run that some seconds of the replay stand for. Never negative.
    pub fn seconds(&self, replayed: f64) -> f64 {
        (replayed / self.replayed_s).clamp(0.0, 1.0) * self.working_s
    }

    /// Largest share of the run that anything in a stage could cost: the run without it, or what the stage
    /// reaches where that is too much to find out.
    pub fn stake(&self, stage: usize) -> f64 {
        let saved = self.without[stage].get_or_init(|| {
            let without = Fix::stage(stage, |stage| stage.vertices.clear());
            self.saves(&without).unwrap_or(self.reach[stage])
        });
        self.share(self.seconds(*saved))
    }
}

/// Attempts that ran at the same time, over all stages: the most of them that was held for a share of the time. A moment with more is a
/// matter of clocks and handovers.
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

/// Seconds of the run that a replay has not: those in which no vertex ran, or in an application,
/// where the replay has the driver's time between stages, what follows the last of them.
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
