//! Stages of the job from the stage attempts of a log: names, attempts of tasks, and dependencies.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::collect::{Collector, StageState};
use super::tasks::Quantity;
use crate::counters::Name;
use crate::model::{StageAttempt, Task};
use crate::runs::{Distribution, RunState, StageRuns, VertexRun};
use crate::sketch::Sketch;

/// `Stage 4`, `Stage 4 (attempt 1)`.
pub(super) fn name(id: u32, attempt: u32) -> String {
    match attempt {
        0 => format!("Stage {id}"),
        n => format!("Stage {id} (attempt {n})"),
    }
}

/// Positions of the stages of a log, by id and attempt. Skipped stages resolve to their writers.
pub(super) struct Index {
    /// Stages that ran, ascending; positions equal the positions of the job's stages.
    pub(super) keys: Vec<(u32, u32)>,
    at: HashMap<(u32, u32), usize>,
    /// By the last RDD: a skipped stage shares it with the stage that had written its output.
    by_rdd: HashMap<u32, usize>,
}

impl Index {
    pub(super) fn of(stages: &BTreeMap<(u32, u32), StageState>) -> Index {
        let ran = stages.iter().filter(|(_, s)| s.ran);
        let keys: Vec<(u32, u32)> = ran.clone().map(|(key, _)| *key).collect();
        let by_rdd = ran
            .enumerate()
            .filter_map(|(at, (_, s))| Some((s.last_rdd?, at)));
        Index {
            at: keys.iter().copied().zip(0..).collect(),
            by_rdd: by_rdd.collect(),
            keys,
        }
    }

    pub(super) fn get(&self, key: (u32, u32)) -> Option<usize> {
        self.at.get(&key).copied()
    }

    /// Attempts at a stage that ran.
    pub(super) fn attempts(&self, id: u32) -> impl Iterator<Item = usize> + '_ {
        let first = self.keys.partition_point(|key| key.0 < id);
        let own = self.keys[first..].iter().take_while(move |key| key.0 == id);
        own.enumerate().map(move |(offset, _)| first + offset)
    }

    /// The stages that wrote a stage's output: its own attempts or, if it was skipped, the earlier stage with
    /// the same output.
    pub(super) fn writers(&self, id: u32, stages: &BTreeMap<(u32, u32), StageState>) -> Vec<usize> {
        let own: Vec<usize> = self.attempts(id).collect();
        if !own.is_empty() {
            return own;
        }
        let planned = stages.get(&(id, 0));
        let rdd = planned.and_then(|s| s.last_rdd);
        rdd.and_then(|rdd| self.by_rdd.get(&rdd))
            .copied()
            .into_iter()
            .collect()
    }

    /// Stages that a stage reads; skipped stages are resolved to their writers.
    pub(super) fn parents(
        &self,
        key: (u32, u32),
        stages: &BTreeMap<(u32, u32), StageState>,
    ) -> Vec<usize> {
        let own = self.get(key);
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut open: Vec<u32> = stages
            .get(&key)
            .map_or_else(Vec::new, |s| s.parents.clone());
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let writers = self.writers(id, stages);
            if writers.is_empty() {
                // writer unknown: continue with the inputs of the stage
                open.extend(stages.get(&(id, 0)).map_or(&[][..], |s| &s.parents));
            }
            found.extend(writers.into_iter().filter(|w| Some(*w) != own));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The attempts of a stage, and its own record.
pub(super) fn attempt(
    collector: &mut Collector,
    key: (u32, u32),
    others: bool,
    machines: &Arc<[Name]>,
) -> Option<(StageAttempt, StageRuns)> {
    let file = collector
        .parts
        .get(collector.stages.get(&key)?.part)
        .cloned()
        .unwrap_or_default();
    let stage = collector.stages.get_mut(&key)?;
    let mut kept = std::mem::take(&mut stage.tasks.kept);
    let resubmitted = resubmit(&mut kept);
    kept.sort_by_key(|(_, t)| (t.launched_ms, t.id, t.attempt, t.finished_ms));
    let first = kept.iter().map(|(_, t)| t.launched_ms).min();
    let submitted = stage.submitted.or(first);
    let runs = vertex_runs(&kept, submitted.unwrap_or(0));
    let mut waits = Sketch::default();
    for run in runs.iter().filter(|r| r.state == RunState::Completed) {
        waits.add(run.running_ms.saturating_sub(run.queued_ms).max(0) as u64);
    }
    let counts = stage.tasks.counts;
    let of = |q| {
        stage
            .tasks
            .spread(q)
            .map_or_else(Distribution::default, |(d, _)| d)
    };
    let whole = stage.completed.is_some() && stage.failure.is_none() && !others;
    let record = StageAttempt {
        id: key.0,
        attempt: key.1,
        call_site: stage.name.clone(),
        submitted_ms: submitted,
        completed_ms: stage.completed,
        tasks: stage.n_tasks,
        partitions: stage.lineage.partitions,
        python: stage.lineage.python,
        of_library: stage.of_library,
        sources: stage.lineage.sources.clone(),
        failure: stage.failure.clone(),
        lost_events: whole && counts.completed < u64::from(stage.n_tasks),
        attempts: kept.iter().map(|(_, t)| *t).collect(),
        line: stage.line,
        ..StageAttempt::default()
    };
    let runs = StageRuns {
        file,
        sampled: stage.tasks.is_sample(),
        completed: counts.completed.saturating_sub(resubmitted),
        failed: counts.failed,
        revoked: counts.revoked,
        abandoned: counts.abandoned,
        run_ms: of(Quantity::Held),
        wait_ms: waits.distribution(),
        bytes_read: of(Quantity::BytesRead),
        bytes_written: of(Quantity::BytesWritten),
        wasted_ms: stage.tasks.wasted_ms as f64,
        events: stage.tasks.messages(),
        machines: Arc::clone(machines),
        runs,
    };
    Some((record, runs))
}

/// A resubmitted task had succeeded before its executor was lost; the event has no other data. Marks
/// that attempt as the lost one, and returns the number of such tasks.
fn resubmit(kept: &mut Vec<(RunState, Task)>) -> u64 {
    let succeeded = |t: &Task| (t.id, t.launched_ms, t.finished_ms);
    let mut again: Vec<_> = kept
        .iter()
        .filter(|(state, _)| *state == RunState::Revoked)
        .map(|(_, t)| succeeded(t))
        .collect();
    if again.is_empty() {
        return 0;
    }
    again.sort_unstable();
    let mut found = Vec::new();
    for (state, task) in kept.iter_mut() {
        let key = succeeded(task);
        if *state == RunState::Completed && again.binary_search(&key).is_ok() {
            *state = RunState::Revoked;
            task.succeeded = false;
            found.push(key);
        }
    }
    let n = found.len() as u64;
    kept.retain(|(state, task)| {
        let duplicate =
            *state == RunState::Revoked && !task.measured && found.contains(&succeeded(task));
        !duplicate
    });
    n
}

fn vertex_runs(kept: &[(RunState, Task)], submitted: i64) -> Vec<VertexRun> {
    // an attempt can begin when the one before it has ended
    let mut ended: HashMap<u32, i64> = HashMap::new();
    kept.iter()
        .map(|(state, task)| {
            let before = ended.get(&task.index).copied();
            let eligible = before.filter(|_| !task.speculative).unwrap_or(submitted);
            let created = eligible.max(submitted).min(task.launched_ms);
            let startup = i64::try_from(task.startup_ms()).unwrap_or(0);
            ended.insert(task.index, task.finished_ms);
            VertexRun {
                index: task.index,
                state: *state,
                machine: task.executor,
                created_ms: created,
                queued_ms: created,
                started_ms: task.launched_ms,
                running_ms: (task.launched_ms + startup).min(task.finished_ms),
                ended_ms: task.finished_ms,
                bytes_read: task.input_bytes + task.shuffle_read_bytes,
                bytes_written: task.output_bytes + task.shuffle_write_bytes,
                line: task.line,
            }
        })
        .collect()
}
