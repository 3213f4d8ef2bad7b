//! Bounds the memory of a log that is being read: totals of every stage and execution, details of the costliest only.
//!
//! Details of a stage are its single tasks, the distributions over its tasks and the metrics of its plan nodes; details of an
//! execution are its plan and settings. When details take more than [`MOST_BYTES`], the cheapest stages and executions lose
//! theirs until half of the limit is left. Each byte is counted once between two rounds, so all rounds together take `n log n`.

use super::collect::{Collector, ExecutionState, StageState};
use super::plan_text::RawNode;

/// Bytes of details at most.
const MOST_BYTES: usize = 96 << 20;

impl Collector {
    /// Counts new details. Over the limit, drops the details of the cheapest stages and executions.
    pub(super) fn details(&mut self, bytes: usize) {
        self.detail_bytes += bytes;
        if self.detail_bytes > MOST_BYTES {
            self.detail_bytes = self.shed(MOST_BYTES / 2);
        }
    }

    /// Drops the cheapest details until the rest takes at most `most` bytes; returns the size of the rest.
    fn shed(&mut self, most: usize) -> usize {
        let stages = self.stages.iter().filter(|(_, s)| !s.tasks.is_shed());
        let stages = stages.map(|(key, s)| (s.cost_ms(), s.detail_bytes(), Item::Stage(*key)));
        let executions = self.executions.iter().filter(|(_, e)| !e.shed);
        let executions = executions.map(|(id, e)| {
            let of_stages = self.execution_ms.get(id).copied().unwrap_or(0);
            (
                e.cost_ms().max(of_stages),
                e.detail_bytes(),
                Item::Execution(*id),
            )
        });
        let mut items: Vec<_> = stages.chain(executions).collect();
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
}

impl StageState {
    /// Milliseconds of its tasks, or its own duration if that is longer.
    fn cost_ms(&self) -> u64 {
        let took = self.submitted.zip(self.completed);
        let took = took.map_or(0, |(from, to)| u64::try_from(to - from).unwrap_or(0));
        took.max(self.tasks.held_ms)
    }

    fn detail_bytes(&self) -> usize {
        self.tasks.detail_bytes() + self.accumulators.len() * 32
    }

    fn shed(&mut self) {
        self.tasks.shed();
        self.accumulators = Default::default();
        self.lineage.sources = Vec::new();
    }
}

impl ExecutionState {
    fn cost_ms(&self) -> u64 {
        let took = self.execution.started_ms.zip(self.execution.ended_ms);
        took.map_or(0, |(from, to)| u64::try_from(to - from).unwrap_or(0))
    }

    pub(super) fn detail_bytes(&self) -> usize {
        let settings = self.execution.configuration.len() * 100;
        let details = self.execution.details.as_ref().map_or(0, String::len);
        bytes_of(&self.nodes) + settings + details
    }

    fn drop_details(&mut self) {
        self.shed = true;
        self.nodes = Vec::new();
        self.execution.configuration.clear();
        self.execution.details = None;
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
