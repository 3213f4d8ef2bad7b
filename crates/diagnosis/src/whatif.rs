//! The run with other resources, more input or findings fixed: its time and cost by replay.

mod limit;

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use job::Job;
use serde::Serialize;

use crate::configuration::PARTITIONS;
use crate::impact::{Fix, RunModel, StageWork, VertexWork, regroup, replay, scale_run};

pub use limit::Limit;

const HOUR_S: f64 = 3600.0;

/// Counts of the curve, as multiples of the present count.
const STEPS: [f64; 15] = [
    0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0,
];

/// With more vertices than this, the marks of a curve are among its steps: a replay takes long.
const MANY_VERTICES: usize = 100_000;

/// A smaller relative gain by unlimited resources counts as no change, and is shown as none.
const NOTHING: f64 = 0.005;

/// Acceptable relative loss of time with fewer resources.
const STILL_DOES: f64 = 0.05;

/// Least share of the replayed time that is left after repairs.
const SHORTEST: f64 = 0.05;

/// Relative error of the replay at the present count, and per doubling away from it. Replays of simulated jobs are within 1 %
/// (`examples/what_if.rs`), but the simulator schedules like the replay.
const ERROR: f64 = 0.03;
const ERROR_PER_DOUBLING: f64 = 0.05;

/// The same for an application, by real runs with one to four executors (`scripts/whatif-real`): each further executor loads code first.
const APPLICATION_ERROR: f64 = 0.05;
const APPLICATION_ERROR_PER_DOUBLING: f64 = 0.18;

/// Resource of a run, counted as a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Tokens of a SCOPE job, AUs of a U-SQL job.
    Tokens,
    /// Executors with this many task slots each.
    Executors { slots: usize },
}

/// Changes to a run, applied together.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Tokens or executors; `None` keeps the present count.
    pub count: Option<usize>,
    /// Task slots per executor; `None` keeps them.
    pub cores: Option<usize>,
    pub input: f64,
    /// Tasks of the stages that read a shuffle.
    pub partitions: Option<usize>,
    /// Positions of the findings that are fixed.
    pub fixed: Vec<usize>,
}

impl Default for Change {
    fn default() -> Change {
        Change {
            count: None,
            cores: None,
            input: 1.0,
            partitions: None,
            fixed: Vec::new(),
        }
    }
}

/// Time and cost of a replayed run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Tokens or executors.
    pub count: usize,
    /// Run time from start to end.
    pub seconds: f64,
    /// Interval around `seconds`.
    pub between: [f64; 2],
    /// Hours of tokens, or of executor cores, that are held.
    pub hours: f64,
}

/// Time and cost over the count of a resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    pub resource: Resource,
    /// Ascending by count.
    pub points: Vec<Point>,
    /// The present count.
    pub now: usize,
    /// The smallest count that takes at most 5 % longer than now.
    pub would_do: usize,
    /// The smallest count with practically the best time.
    pub enough: usize,
    /// The count with the smallest product of time and cost.
    pub balanced: usize,
    /// The count of the lowest cost.
    pub cheapest: usize,
    /// The reason why the run is not faster than at `enough`.
    pub limit: Option<Limit>,
}

/// A reason why a replay is impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswerable {
    /// No file shows the work of the stages.
    NoWork,
    /// No file has the tokens or slots.
    NoResources,
    /// The job failed, so its work is incomplete.
    Failed,
    /// The rule of this finding has no replayable change.
    NoFix(usize),
    /// No stage has the number of shuffle partitions in the setting.
    NoPartitions,
}

#[derive(Debug, Clone)]
pub(crate) struct Repair {
    /// Its change of the run's work.
    pub(crate) fix: Option<Fix>,
    /// Seconds that the finding claims to save.
    pub(crate) seconds: Option<f64>,
}

impl Repair {
    /// Seconds of the run that it saves; `None` if its effect on the run is unknown.
    fn saves(&self) -> Option<f64> {
        let is_replayed = self.fix.as_ref().is_none_or(Fix::is_replayed);
        self.seconds.filter(|_| is_replayed)
    }
}

/// Work of the stages after a change.
struct Changed {
    stages: Vec<StageWork>,
    /// Seconds that the fixed findings save beyond the change of the work.
    beyond_s: f64,
}

/// A run that can be replayed with changes.
#[derive(Debug, Clone)]
pub struct WhatIf<R = RunModel> {
    run: R,
    resource: Resource,
    /// Stages that read a shuffle with the number of partitions in the setting.
    partitioned: Vec<usize>,
    /// Repair of each finding, in the order of the report.
    repairs: Vec<Repair>,
    names: Vec<String>,
}

impl<R: Borrow<RunModel>> WhatIf<R> {
    /// A run by its model and the repairs of its findings.
    pub(crate) fn new(
        job: &Job,
        run: Option<R>,
        repairs: Vec<Repair>,
    ) -> Result<WhatIf<R>, Unanswerable> {
        if job.info.state == report::JobState::Failed {
            return Err(Unanswerable::Failed);
        }
        let run = run.ok_or(Unanswerable::NoWork)?;
        if run.borrow().stages.iter().any(|s| s.vertices.is_empty()) {
            return Err(Unanswerable::NoWork);
        }
        if !run.borrow().has_tokens() {
            return Err(Unanswerable::NoResources);
        }
        Ok(WhatIf {
            resource: resource(job),
            partitioned: partitioned(job, &run.borrow().stages),
            repairs,
            names: job.stages.iter().map(|s| s.name.clone()).collect(),
            run,
        })
    }

    pub fn resource(&self) -> Resource {
        self.resource
    }

    /// The present count of tokens or executors.
    pub fn now(&self) -> usize {
        match self.resource {
            Resource::Tokens => self.run.borrow().tokens,
            Resource::Executors { slots } => (self.run.borrow().tokens / slots).max(1),
        }
    }

    /// The run with a change.
    ///
    /// # Errors
    ///
    /// The change cannot be replayed.
    pub fn at(&self, change: &Change) -> Result<Point, Unanswerable> {
        let count = change.count.unwrap_or(self.now());
        Ok(self.point(&self.work(change)?, count, change.cores))
    }

    /// The run with a change, over counts of its resource, `asked` among them.
    ///
    /// # Errors
    ///
    /// The change cannot be replayed.
    pub fn curve(&self, change: &Change, asked: &[usize]) -> Result<Curve, Unanswerable> {
        let work = self.work(change)?;
        let now = self.now();
        // the searches and the points need the same replays
        let replayed: RefCell<BTreeMap<usize, Point>> = RefCell::default();
        let at = |count: usize| {
            let mut replayed = replayed.borrow_mut();
            *replayed
                .entry(count)
                .or_insert_with(|| self.point(&work, count, change.cores))
        };
        let vertices: usize = work.stages.iter().map(|s| s.vertices.len()).sum();
        let most = vertices.max(now);
        let present = at(now).seconds;
        let least = at(most).seconds;
        let steps = STEPS
            .iter()
            .map(|step| (now as f64 * step).round() as usize);
        let mut counts: Vec<usize> = steps.filter(|n| (1..=most).contains(n)).collect();
        counts.extend([now, most]);
        counts.sort_unstable();
        counts.dedup();
        let first = |limit: f64| {
            first(&counts, vertices > MANY_VERTICES, |n| {
                at(n).seconds <= limit
            })
        };
        let enough = first(least * (1.0 + NOTHING));
        let would_do = first(present * (1.0 + STILL_DOES)).min(now);
        counts.extend([enough, would_do]);
        counts.retain(|n| *n <= enough.max(now));
        counts.extend(asked);
        counts.sort_unstable();
        counts.dedup();
        let points: Vec<Point> = counts.into_iter().map(at).collect();
        let best = |worth: fn(&Point) -> f64| {
            let best = points.iter().min_by(|a, b| worth(a).total_cmp(&worth(b)));
            best.map_or(now, |p| p.count)
        };
        Ok(Curve {
            resource: self.resource,
            now,
            would_do,
            enough,
            balanced: best(|p| p.seconds * p.hours),
            cheapest: best(|p| p.hours),
            limit: limit::of(&work.stages, self.slots(enough, change.cores), &self.names),
            points,
        })
    }

    fn slots(&self, count: usize, cores: Option<usize>) -> usize {
        match self.resource {
            Resource::Tokens => count,
            Resource::Executors { slots } => count * cores.unwrap_or(slots),
        }
    }

    /// The work of the stages after a change.
    fn work(&self, change: &Change) -> Result<Changed, Unanswerable> {
        let run = self.run.borrow();
        let mut stages = run.stages.clone();
        let mut claimed_s = 0.0;
        for finding in &change.fixed {
            let repair = self.repairs.get(*finding);
            let unknown = Unanswerable::NoFix(*finding);
            let repair = repair.and_then(|repair| Some((repair.saves()?, repair)));
            let (seconds, repair) = repair.ok_or(unknown)?;
            claimed_s += seconds;
            if let Some(fix) = &repair.fix {
                fix.apply(&mut stages);
            }
        }
        // The findings say what their repair saves at the present count; the replay says how that changes with the count.
        let replayed_s = match change.fixed.as_slice() {
            [] => 0.0,
            _ => (run.replayed_s - run.replay(&stages)) / run.replayed_s * run.working_s,
        };
        if let Some(count) = change.partitions {
            if self.partitioned.is_empty() {
                return Err(Unanswerable::NoPartitions);
            }
            for stage in &self.partitioned {
                regroup(&mut stages[*stage], count, 0.0);
            }
        }
        if change.input != 1.0 {
            for (at, stage) in stages.iter_mut().enumerate() {
                // a setting keeps the number of tasks that read a shuffle
                match self.partitioned.contains(&at) {
                    true => scale_run(stage, change.input),
                    false => grow(stage, change.input),
                }
            }
        }
        Ok(Changed {
            stages,
            beyond_s: claimed_s - replayed_s,
        })
    }

    fn point(&self, work: &Changed, count: usize, cores: Option<usize>) -> Point {
        let (run, count) = (self.run.borrow(), count.max(1));
        let slots = self.slots(count, cores);
        let scale = run.working_s / run.replayed_s;
        let apart_s = (run.elapsed_s - run.working_s).max(0.0);
        let replayed = apart_s + replay(&work.stages, slots) * scale;
        let seconds = (replayed - work.beyond_s).max(SHORTEST * replayed);
        let doublings = (slots as f64 / run.tokens as f64).log2().abs();
        let [at_once, per_doubling] = match self.resource {
            Resource::Tokens => [ERROR, ERROR_PER_DOUBLING],
            Resource::Executors { .. } => [APPLICATION_ERROR, APPLICATION_ERROR_PER_DOUBLING],
        };
        let error = 1.0 + at_once + per_doubling * doublings;
        Point {
            count,
            seconds,
            between: [apart_s.min(seconds).max(seconds / error), seconds * error],
            hours: slots as f64 * run.held_of_slots * seconds / HOUR_S,
        }
    }
}

/// The smallest sufficient count up to the last of `steps`, or the smallest one in the ascending `steps`. Every count
/// above a sufficient one must be sufficient.
fn first(steps: &[usize], only_steps: bool, does: impl Fn(usize) -> bool) -> usize {
    let most = steps.last().copied().unwrap_or(1);
    if only_steps {
        return steps[steps.partition_point(|n| !does(*n))..]
            .first()
            .copied()
            .unwrap_or(most);
    }
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = low.midpoint(high);
        match does(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    high
}

fn resource(job: &Job) -> Resource {
    let Some(app) = &job.spark else {
        return Resource::Tokens;
    };
    let per_task = app.task_cores.max(1);
    let mut slots: Vec<usize> = app
        .executors
        .iter()
        .filter_map(|e| Some((e.cores? / per_task) as usize))
        .collect();
    slots.sort_unstable();
    let median = slots.get(slots.len() / 2).copied().unwrap_or(1);
    Resource::Executors {
        slots: median.max(1),
    }
}

/// Stages with the number of tasks in the setting for shuffles. For other stages, adaptive execution chose another number.
fn partitioned(job: &Job, work: &[StageWork]) -> Vec<usize> {
    let Some(app) = &job.spark else {
        return Vec::new();
    };
    let set = app.in_force(None, PARTITIONS);
    let Some(count) = set.and_then(|(n, _)| n.parse::<usize>().ok()) else {
        return Vec::new();
    };
    let stages = work.iter().enumerate();
    stages
        .filter(|(_, s)| !s.inputs.is_empty() && s.vertices.len() == count)
        .map(|(at, _)| at)
        .collect()
}

/// From this many times the median bytes on, a vertex that reads a shuffle has a hot key.
const HOT: f64 = 2.0;

/// Multiplies the input of a stage: the number of its vertices grows, or the run time of a serial one. A hot key stays in one
/// vertex, which gets more rows.
fn grow(stage: &mut StageWork, factor: f64) {
    let mut bytes: Vec<f64> = stage.vertices.iter().map(|v| v.bytes).collect();
    bytes.sort_by(f64::total_cmp);
    let median = bytes.get(bytes.len() / 2).copied().unwrap_or(0.0);
    let reads_shuffle = !stage.inputs.is_empty();
    let all = std::mem::take(&mut stage.vertices).into_iter();
    let (hot, even): (Vec<_>, Vec<_>) =
        all.partition(|v| reads_shuffle && median > 0.0 && v.bytes > HOT * median);
    let after = (even.len() as f64 * factor).round() as usize;
    let grown = |v: VertexWork| VertexWork {
        run_s: v.run_s * factor,
        bytes: v.bytes * factor,
        ..v
    };
    if even.len() <= 1 || after == 0 {
        stage.vertices = even.into_iter().chain(hot).map(grown).collect();
        return;
    }
    let more = (0..after).map(|n| even[n * even.len() / after]);
    stage.vertices = more.chain(hot.into_iter().map(grown)).collect();
}

#[cfg(test)]
mod tests;
