//! Bounds the memory of a log that is being read: totals of every stage and execution, details of the costliest only.
//!
//! Details of a stage are its single tasks, the distributions over its tasks, the metrics of its plan nodes and its texts; details of an
//! execution are its plan, settings and texts; details of a job are its texts. When they take more than the limit, the
//! cheapest stages, executions and jobs lose theirs until half of that is left: each byte is counted once between two rounds, so
//! all rounds together take `n log n`.

use super::collect::{Collector, ExecutionState, JobState, StageState};
use super::forget::LATEST;
use super::plan_text::RawNode;
use super::texts::{self, shorten, shorten_all};

impl Collector {
    /// Counts new details. Over the limit, drops the details of the cheapest stages and executions.
    pub(super) fn details(&mut self, bytes: usize) {
        self.detail_bytes += bytes;
        if self.detail_bytes > self.limits.bytes {
            self.detail_bytes = self.shed(self.limits.bytes / 2);
        }
    }

    /// Drops the cheapest details until the rest takes at most `most` bytes; returns the size of the rest.
    fn shed(&mut self, most: usize) -> usize {
        let last = |newest: Option<u32>, id: &u32| {
            newest.is_some_and(|newest| id.saturating_add(LATEST) > newest)
        };
        let stages = self.stages.iter().filter(|(_, s)| !s.tasks.is_shed());
        let stages =
            stages.map(|(key, s)| ((false, s.cost_ms()), s.detail_bytes(), Item::Stage(*key)));
        let newest = self.executions.keys().next_back().copied();
        let executions = self.executions.iter().filter(|(_, e)| !e.shed);
        let executions = executions.map(|(id, e)| {
            let of_stages = self.execution_ms.get(id).copied().unwrap_or(0);
            // what an application fails of is in its last executions and jobs
            let fails = e.execution.error.is_some() && last(newest, id);
            let cost = (fails, e.cost_ms().max(of_stages));
            (cost, e.detail_bytes(), Item::Execution(*id))
        });
        let newest = self.jobs.keys().next_back().copied();
        let jobs = self.jobs.iter().filter(|(_, j)| !j.shed);
        let jobs = jobs.map(|(id, j)| {
            let fails = j.job.error.is_some() && last(newest, id);
            ((fails, j.cost_ms()), j.detail_bytes(), Item::Job(*id))
        });
        let mut items: Vec<_> = stages.chain(executions).chain(jobs).collect();
        items.sort_unstable_by(|a, b| b.cmp(a));
        let mut left = 0;
        let mut cheap = Vec::new();
        for (_, bytes, item) in items {
            match cheap.is_empty() && left + bytes <= most {
                true => left += bytes,
                false => cheap.push(item),
            }
        }
        for item in cheap {
            match item {
                Item::Stage(key) => {
                    if let Some(stage) = self.stages.get_mut(&key) {
                        let before = stage.tasks.kept.len();
                        stage.shed();
                        self.n_tasks -= (before - stage.tasks.kept.len()).min(self.n_tasks);
                    }
                }
                Item::Execution(id) => {
                    if let Some(execution) = self.executions.get_mut(&id) {
                        execution.drop_details();
                    }
                }
                Item::Job(id) => {
                    if let Some(job) = self.jobs.get_mut(&id) {
                        job.shorten();
                    }
                }
            }
        }
        self.has_shed = true;
        left
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Stage((u32, u32)),
    Execution(u32),
    Job(u32),
}

impl StageState {
    /// Milliseconds of its tasks, or its own duration if that is longer.
    pub(super) fn cost_ms(&self) -> u64 {
        let took = self.submitted.zip(self.completed);
        let took = took.map_or(0, |(from, to)| u64::try_from(to - from).unwrap_or(0));
        took.max(self.tasks.held_ms)
    }

    /// About as many bytes as its details take; names are in several places of the job.
    pub(super) fn detail_bytes(&self) -> usize {
        if self.tasks.is_shed() {
            return 0;
        }
        let lineage = (self.parents.len() + 3 * self.lineage.sources.len()) * 4;
        let texts = 3 * self.name.len() + 2 * self.failure.as_ref().map_or(0, String::len);
        self.tasks.detail_bytes() + self.accumulators.len() * 32 + lineage + texts
    }

    fn shed(&mut self) {
        // a stage that has yet to run may become the costliest
        if self.ran {
            self.tasks.shed();
        }
        self.accumulators = Default::default();
        self.lineage.sources = Vec::new();
        shorten(&mut self.name, texts::SHORT);
        shorten_all([&mut self.failure], texts::SHORT_ERROR);
    }
}

impl JobState {
    pub(super) fn cost_ms(&self) -> u64 {
        let took = self.job.ended_ms.map(|to| to - self.job.submitted_ms);
        took.map_or(0, |ms| u64::try_from(ms).unwrap_or(0))
    }

    pub(super) fn detail_bytes(&self) -> usize {
        if self.shed {
            return 0;
        }
        let job = &self.job;
        2 * texts::bytes([&job.description, &job.call_site, &job.error]) + self.stages.len() * 8
    }

    fn shorten(&mut self) {
        self.shed = true;
        let job = &mut self.job;
        shorten_all([&mut job.description, &mut job.call_site], texts::SHORT);
        shorten_all([&mut job.error], texts::SHORT_ERROR);
    }
}

impl ExecutionState {
    pub(super) fn cost_ms(&self) -> u64 {
        let took = self.execution.started_ms.zip(self.execution.ended_ms);
        took.map_or(0, |(from, to)| u64::try_from(to - from).unwrap_or(0))
    }

    pub(super) fn detail_bytes(&self) -> usize {
        if self.shed {
            return 0;
        }
        let own = &self.execution;
        let settings = own.configuration.iter();
        let settings: usize = settings.map(|(k, v)| 100 + k.len() + v.len()).sum();
        let texts = texts::bytes([&own.description, &own.details, &own.error]);
        bytes_of(&self.nodes) + 2 * (settings + texts)
    }

    fn drop_details(&mut self) {
        self.shed = true;
        self.nodes = Vec::new();
        let own = &mut self.execution;
        own.configuration.clear();
        own.details = None;
        shorten_all([&mut own.description], texts::SHORT);
        shorten_all([&mut own.error], texts::SHORT_ERROR);
    }
}

/// Bytes of a plan's nodes, including the operators made from them.
fn bytes_of(nodes: &[RawNode]) -> usize {
    let bytes = |n: &RawNode| {
        let metrics = n.metrics.iter().map(|m| 120 + m.0.len() * 2 + m.2.len());
        let metadata = n
            .metadata
            .iter()
            .map(|(k, v)| 100 + 2 * (k.len() + v.len()));
        2_000 + 4 * (n.name.len() + n.text.len()) + metrics.sum::<usize>() + metadata.sum::<usize>()
    };
    nodes.iter().map(bytes).sum()
}
