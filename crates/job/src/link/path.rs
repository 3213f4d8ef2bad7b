//! The chain of vertices that decided when the job ended.

use std::collections::HashMap;

use crate::facts::Derived;
use crate::model::{Job, Source};
use crate::runs::{RunState, VertexRun};

/// One step of the critical path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathStep {
    pub stage: usize,
    /// Vertex that the path goes through.
    pub vertex: u32,
    /// Milliseconds since 1970 at which the vertex was created: its inputs were ready.
    pub from_ms: i64,
    /// Milliseconds since 1970 at which it ended.
    pub to_ms: i64,
}

impl Job {
    /// The chain of vertices that decided when the job ended, first to last: the vertex that ended
    /// last, then of its stage's inputs, and of the stages that the driver ran before it, the vertex
    /// that ended last before it was created, and so on. `None` without vertex events.
    pub fn critical_path(&self) -> Option<Derived<Vec<PathStep>>> {
        let last = (0..self.stages.len())
            .filter_map(|stage| Some((stage, self.last_run(stage, i64::MAX)?)))
            .max_by_key(|(_, run)| run.ended_ms)?;
        let (mut steps, mut sources) = (Vec::new(), Vec::new());
        let mut order: HashMap<usize, Vec<usize>> = HashMap::new();
        for (from, to) in &self.order {
            order.entry(*to).or_default().push(*from);
        }
        let mut at = Some(last);
        // a DAG has no longer path; made-up edges may go in circles
        while let Some((stage, run)) = at.filter(|_| steps.len() < self.stages.len()) {
            steps.push(PathStep {
                stage,
                vertex: run.index,
                from_ms: run.created_ms,
                to_ms: run.ended_ms,
            });
            let file = self.stages[stage].runs.as_ref().map(|r| r.file.clone())?;
            sources.push(Source {
                file,
                locator: Some(format!("line {}", run.line)),
            });
            let order = order.get(&stage).into_iter().flatten().copied();
            at = self
                .edges_into(stage)
                .map(|e| e.from)
                .chain(order)
                .filter_map(|from| Some((from, self.last_run(from, run.created_ms)?)))
                .max_by_key(|(_, run)| run.ended_ms);
        }
        steps.reverse();
        sources.reverse();
        Some(Derived {
            value: steps,
            sources,
        })
    }

    /// The completed vertex of a stage that ended last, but not after `before_ms`; if all did (a
    /// vertex may begin before its inputs are complete), the one that ended last.
    fn last_run(&self, stage: usize, before_ms: i64) -> Option<&VertexRun> {
        let runs = &self.stages.get(stage)?.runs.as_ref()?.runs;
        let completed = || runs.iter().filter(|r| r.state == RunState::Completed);
        // clocks of two machines differ by some milliseconds
        let limit = before_ms.saturating_add(1_000);
        let in_time = completed()
            .filter(|r| r.ended_ms <= limit)
            .max_by_key(|r| r.ended_ms);
        in_time.or_else(|| completed().max_by_key(|r| r.ended_ms))
    }
}
