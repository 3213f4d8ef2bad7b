//! The tasks of one stage attempt: exact totals and largest values, distributions in bounded memory,
//! and as many single tasks as memory allows.

use std::collections::HashMap;

use super::event::TaskEnd;
use crate::model::Task;
use crate::runs::{Distribution, RunState};
use crate::sketch::Sketch;

/// Different messages of failures kept per stage.
const MAX_MESSAGES: usize = 32;
/// The same where only totals are kept.
const SHED_MESSAGES: usize = 1;

/// A quantity measured on every task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// From running to end: without loading code and waiting for the scheduler.
    Held,
    Startup,
    Run,
    Cpu,
    Gc,
    Delay,
    FetchWait,
    ShuffleWriteTime,
    BytesRead,
    RowsRead,
    BytesWritten,
    RowsWritten,
    Input,
    ShuffleRead,
    ShuffleReadRows,
    Output,
    ShuffleWritten,
    ShuffleWrittenRows,
    MemorySpilled,
    DiskSpilled,
    PeakMemory,
    Result,
}

impl Quantity {
    pub(super) const COUNT: usize = Quantity::Result as usize + 1;

    fn all(task: &Task) -> [u64; Quantity::COUNT] {
        let t = task;
        [
            t.held_ms(),
            t.startup_ms(),
            t.run_ms,
            t.cpu_ms,
            t.gc_ms,
            t.scheduler_delay_ms,
            t.fetch_wait_ms,
            t.shuffle_write_ms,
            t.input_bytes + t.shuffle_read_bytes,
            t.input_rows + t.shuffle_read_rows,
            t.output_bytes + t.shuffle_write_bytes,
            t.output_rows + t.shuffle_write_rows,
            t.input_bytes,
            t.shuffle_read_bytes,
            t.shuffle_read_rows,
            t.output_bytes,
            t.shuffle_write_bytes,
            t.shuffle_write_rows,
            t.memory_spilled,
            t.disk_spilled,
            t.peak_memory,
            t.result_bytes,
        ]
    }
}

/// One number over the tasks.
#[derive(Debug, Default)]
struct Measure {
    sketch: Sketch,
    /// Largest value and the lowest index of a task that has it.
    worst: (u64, u32),
}

/// An accumulator of a SQL metric over the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Accumulated {
    pub(super) sum: f64,
    pub(super) max: f64,
}

/// Number of tasks by final state.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Counts {
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) revoked: u64,
    pub(super) abandoned: u64,
}

impl Counts {
    pub(super) fn all(self) -> u64 {
        self.completed + self.failed + self.revoked + self.abandoned
    }
}

#[derive(Debug, Default)]
pub(super) struct Tasks {
    pub(super) kept: Vec<(RunState, Task)>,
    /// Every `stride`-th ordinary task is kept.
    stride: u64,
    pub(super) counts: Counts,
    measures: Vec<Measure>,
    pub(super) accumulators: HashMap<u64, Accumulated>,
    /// Largest share of its run time that a task spent collecting garbage.
    pub(super) worst_gc: f64,
    pub(super) wasted_ms: u64,
    pub(super) failed_ms: u64,
    /// Succeeded tasks without metrics.
    pub(super) unmeasured: u64,
    messages: HashMap<String, u64>,
    /// Milliseconds from launch to end of all attempts.
    pub(super) held_ms: u64,
    /// Totals of the quantities, if the tasks themselves were dropped to bound memory.
    totals: Option<Box<[f64; Quantity::COUNT]>>,
}

impl Tasks {
    /// Adds a task and its updates of accumulators; keeps at most `most` tasks.
    pub(super) fn add(&mut self, state: RunState, task: Task, event: &TaskEnd<'_>, most: usize) {
        let held = u64::try_from(task.finished_ms - task.launched_ms).unwrap_or(0);
        self.held_ms = self.held_ms.saturating_add(held);
        match state {
            RunState::Completed => self.counts.completed += 1,
            RunState::Failed => {
                self.counts.failed += 1;
                self.failed_ms += held;
            }
            RunState::Revoked => self.counts.revoked += 1,
            RunState::Abandoned | RunState::Cancelled => self.counts.abandoned += 1,
        }
        if state == RunState::Completed {
            self.measure(&task);
            let of_plan = event.info.accumulables.iter().filter(|a| a.is_of_plan());
            for a in of_plan.filter(|_| self.totals.is_none()) {
                let Some(update) = a.update.0 else { continue };
                let sum = self.accumulators.entry(a.id.or_zero()).or_default();
                sum.sum += update;
                sum.max = sum.max.max(update);
            }
        } else {
            self.wasted_ms += held;
        }
        self.keep(state, task, most.max(64));
    }

    fn measure(&mut self, task: &Task) {
        /// Least run time for a meaningful share of garbage collection.
        const MIN_RUN_MS: u64 = 100;
        if !task.measured {
            self.unmeasured += 1;
            return;
        }
        if let Some(totals) = &mut self.totals {
            for (total, value) in totals.iter_mut().zip(Quantity::all(task)) {
                *total += value as f64;
            }
            return;
        }
        if self.measures.is_empty() {
            self.measures.resize_with(Quantity::COUNT, Measure::default);
        }
        for (measure, value) in self.measures.iter_mut().zip(Quantity::all(task)) {
            measure.sketch.add(value);
            let (most, index) = measure.worst;
            if value > most || (value == most && task.index < index) || measure.sketch.is_first() {
                measure.worst = (value, task.index);
            }
        }
        if task.run_ms >= MIN_RUN_MS {
            let share = task.gc_ms as f64 / task.run_ms as f64;
            self.worst_gc = self.worst_gc.max(share.min(1.0));
        }
    }

    /// Keeps every task up to the limit, then the slowest, the unsuccessful, and an
    /// even sample of the others.
    fn keep(&mut self, state: RunState, task: Task, most: usize) {
        if self.totals.is_some() {
            self.keep_slowest(state, task);
            return;
        }
        self.stride = self.stride.max(1);
        if self.kept.len() >= most {
            self.stride *= 2;
            self.kept
                .sort_by_key(|(_, t)| std::cmp::Reverse(t.held_ms()));
            let slowest = most / 8;
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at <= slowest || at % 2 == 0
            });
        }
        if self.counts.all().is_multiple_of(self.stride) || state != RunState::Completed {
            self.kept.push((state, task));
        }
    }

    /// Counts the message of an unsuccessful task.
    pub(super) fn message(&mut self, message: String) {
        let most = match self.totals {
            Some(_) => SHED_MESSAGES,
            None => MAX_MESSAGES,
        };
        if self.messages.len() < most || self.messages.contains_key(&message) {
            *self.messages.entry(message).or_default() += 1;
        }
    }

    /// Messages, the most frequent first.
    pub(super) fn messages(&mut self) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> = self.messages.drain().collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all
    }

    /// A number over the tasks that succeeded, and the index of the task with most of it; `None`
    /// if no task reports it.
    pub(super) fn spread(&self, of: Quantity) -> Option<(Distribution, u32)> {
        let measure = self.measures.get(of as usize)?;
        Some((measure.sketch.clone().distribution(), measure.worst.1))
    }

    /// Sum over the tasks that succeeded.
    pub(super) fn total(&self, of: Quantity) -> Option<f64> {
        match &self.totals {
            Some(totals) => {
                Some(totals[of as usize]).filter(|_| self.counts.completed > self.unmeasured)
            }
            None => Some(self.measures.get(of as usize)?.sketch.total()),
        }
    }

    pub(super) fn is_sample(&self) -> bool {
        self.stride > 1 || self.totals.is_some()
    }

    /// Whether the details were dropped.
    pub(super) fn is_shed(&self) -> bool {
        self.totals.is_some()
    }

    /// Estimated bytes of the details.
    pub(super) fn detail_bytes(&self) -> usize {
        if self.totals.is_some() {
            return 0;
        }
        /// Bytes of the distributions and of the facts made from them.
        const FACTS: usize = 12_000;
        let sketches: usize = self.measures.iter().map(|m| m.sketch.bytes()).sum();
        let facts = FACTS * usize::from(!self.measures.is_empty());
        let messages: usize = self.messages.keys().map(|m| 2 * m.len() + 80).sum();
        let tasks = self.kept.len() * 2 * size_of::<Task>();
        sketches + facts + tasks + self.accumulators.len() * 40 + messages
    }

    /// Keeps the totals and the slowest task only.
    pub(super) fn shed(&mut self) {
        let mut totals = Box::new([0.0; Quantity::COUNT]);
        for (total, measure) in totals.iter_mut().zip(&self.measures) {
            *total = measure.sketch.total();
        }
        self.totals = Some(totals);
        (self.measures, self.accumulators) = Default::default();
        let mut messages = self.messages();
        messages.truncate(SHED_MESSAGES);
        self.messages = messages.into_iter().collect();
        for (state, task) in std::mem::take(&mut self.kept) {
            self.keep_slowest(state, task);
        }
    }

    /// Keeps a task if it is slower than all kept tasks.
    fn keep_slowest(&mut self, state: RunState, task: Task) {
        let key =
            |(state, task): &(RunState, Task)| (*state == RunState::Completed, task.held_ms());
        let new = (state, task);
        match self.kept.first() {
            Some(known) if key(known) >= key(&new) => {}
            _ => self.kept = vec![new],
        }
    }
}

impl Task {
    /// Milliseconds from launch to the start of its own code.
    pub fn startup_ms(&self) -> u64 {
        self.deserialize_ms + self.scheduler_delay_ms
    }

    /// Milliseconds from the start of its own code to its end.
    pub fn held_ms(&self) -> u64 {
        let all = u64::try_from(self.finished_ms - self.launched_ms).unwrap_or(0);
        all.saturating_sub(self.startup_ms())
    }
}

/// The task of an end event.
pub(super) fn task(event: &TaskEnd<'_>, executor: u32, line: u64) -> Task {
    let info = &event.info;
    let launched = info.launched.time().or_else(|| info.finished.time());
    let launched_ms = launched.unwrap_or(0);
    let finished_ms = info.finished.time().unwrap_or(launched_ms).max(launched_ms);
    let mut task = Task {
        id: info.id.id(),
        index: info.index.id(),
        attempt: info.attempt.id(),
        executor,
        launched_ms,
        finished_ms,
        speculative: info.speculative,
        line,
        ..Task::default()
    };
    let Some(m) = &event.metrics else { return task };
    let ns = |n: u64| n / 1_000_000;
    task.measured = true;
    task.deserialize_ms = m.deserialize.or_zero();
    task.run_ms = m.run.or_zero();
    task.cpu_ms = ns(m.cpu_ns.or_zero());
    task.gc_ms = m.gc.or_zero();
    let fetching = info
        .fetching
        .time()
        .filter(|at| (launched_ms..=finished_ms).contains(at));
    let fetched = fetching.map_or(0, |at| finished_ms.abs_diff(at));
    task.result_ms = m.serialize.or_zero() + fetched;
    let known = task.deserialize_ms + task.run_ms + task.result_ms;
    task.scheduler_delay_ms = finished_ms.abs_diff(launched_ms).saturating_sub(known);
    task.peak_memory = m.peak_memory.or_zero();
    task.memory_spilled = m.memory_spilled.or_zero();
    task.disk_spilled = m.disk_spilled.or_zero();
    task.result_bytes = m.result_bytes.or_zero();
    if let Some(input) = &m.input {
        (task.input_bytes, task.input_rows) = (input.bytes.or_zero(), input.rows.or_zero());
    }
    if let Some(output) = &m.output {
        (task.output_bytes, task.output_rows) = (output.bytes.or_zero(), output.rows.or_zero());
    }
    if let Some(read) = &m.read {
        task.fetch_wait_ms = read.wait.or_zero();
        task.shuffle_read_bytes = read.remote.or_zero() + read.local.or_zero();
        task.shuffle_read_rows = read.rows.or_zero();
    }
    if let Some(write) = &m.write {
        task.shuffle_write_bytes = write.bytes.or_zero();
        task.shuffle_write_rows = write.rows.or_zero();
        task.shuffle_write_ms = ns(write.time_ns.or_zero());
    }
    task
}

/// Final state of an attempt, in terms common to both engines.
pub(super) fn state(event: &TaskEnd<'_>) -> RunState {
    let reason = &event.reason;
    match &*reason.reason.0 {
        "Success" => RunState::Completed,
        // its executor is gone, or its output is
        "ExecutorLostFailure" | "Resubmitted" => RunState::Revoked,
        // another attempt committed its output first
        "TaskCommitDenied" => RunState::Abandoned,
        "TaskKilled" if reason.killed.0.contains("another attempt succeeded") => {
            RunState::Abandoned
        }
        "TaskKilled" => RunState::Cancelled,
        _ => RunState::Failed,
    }
}
