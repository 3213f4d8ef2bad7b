//! The critical path: the chain of vertices that determined the end of the job.

use crate::facts::Derived;
use crate::model::{Application, Job, Source, StageAttempt};
use crate::runs::{RunState, VertexRun};

/// Largest gap in milliseconds between two stages that follow each other.
const HANDOVER_MS: i64 = 1_000;

/// One step of the critical path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathStep {
    pub stage: usize,
    /// Vertex on the path.
    pub vertex: u32,
    /// Creation of the vertex, when its inputs were ready, in milliseconds since 1970.
    pub from_ms: i64,
    /// End of the vertex, in milliseconds since 1970.
    pub to_ms: i64,
    /// Line of the file with its events.
    pub line: u64,
}

impl Job {
    /// The chain of vertices that decided when the job ended, first to last; `None` without vertex events.
    ///
    /// The path is built from the end backwards: among the stages that the last one waited for, the vertex that ended last, and so
    /// on. A Spark driver submits stages itself and logs sometimes lack parents, so for an application the order follows from the
    /// times of the stages.
    pub fn critical_path(&self) -> Option<Derived<Vec<PathStep>>> {
        let steps = match &self.spark {
            Some(app) => self.observed_path(app),
            None => self.planned_path(),
        };
        let source = |step: &PathStep| {
            let runs = self.stages[step.stage].runs.as_ref()?;
            Some(Source {
                file: runs.file.clone(),
                locator: Some(format!("line {}", step.line)),
            })
        };
        let sources = steps.iter().filter_map(source).collect();
        (!steps.is_empty()).then_some(Derived {
            value: steps,
            sources,
        })
    }

    /// The path along the edges between stages.
    fn planned_path(&self) -> Vec<PathStep> {
        let last = (0..self.stages.len())
            .filter_map(|stage| Some((stage, self.last_run(stage, i64::MAX)?)))
            .max_by_key(|(_, run)| run.ended_ms);
        let mut steps = Vec::new();
        let mut at = last;
        // a DAG has no longer path; edges in a broken file may form a cycle
        while let Some((stage, run)) = at.filter(|_| steps.len() < self.stages.len()) {
            steps.push(PathStep::of(stage, run));
            at = self
                .edges_into(stage)
                .filter_map(|e| Some((e.from, self.last_run(e.from, run.created_ms)?)))
                .max_by_key(|(_, run)| run.ended_ms);
        }
        steps.reverse();
        steps
    }

    /// The path by the times of the stages, from the end backwards: a stage was submitted when the one before it ended. If none
    /// ended shortly before, for example with several threads that submit jobs, the path takes a stage that was open.
    fn observed_path(&self, app: &Application) -> Vec<PathStep> {
        let span = |(stage, record): (usize, &StageAttempt)| {
            let run = self.last_attempt(stage)?;
            let from = record.submitted_ms.unwrap_or(run.created_ms);
            Some((from, run.ended_ms.max(from), stage))
        };
        let stages = app.stages.iter().enumerate();
        let mut spans: Vec<(i64, i64, usize)> = stages.filter_map(span).collect();
        spans.sort_unstable();
        let mut by_end: Vec<usize> = (0..spans.len()).collect();
        by_end.sort_by_key(|at| spans[*at].1);
        // among the stages submitted so far, the one that ends last
        let mut longest: Vec<usize> = Vec::with_capacity(spans.len());
        for at in 0..spans.len() {
            let before = longest.last().filter(|last| spans[**last].1 > spans[at].1);
            longest.push(before.copied().unwrap_or(at));
        }
        let before = |at: usize| {
            let from = spans[at].0;
            let earlier = spans.partition_point(|span| span.0 < from);
            let ended = by_end.partition_point(|at| spans[*at].1 <= from);
            let ended = by_end[..ended].iter().rev().find(|at| **at < earlier);
            let direct = ended.filter(|at| from - spans[**at].1 <= HANDOVER_MS);
            let open = earlier.checked_sub(1).map(|last| longest[last]);
            direct.copied().or(open)
        };
        let path = std::iter::successors(longest.last().copied(), |at| before(*at));
        let mut steps: Vec<PathStep> = path
            .filter_map(|at| Some(PathStep::of(spans[at].2, self.last_attempt(spans[at].2)?)))
            .collect();
        steps.reverse();
        steps
    }

    /// The attempt of a stage that ended last: a completed one if there is any.
    fn last_attempt(&self, stage: usize) -> Option<&VertexRun> {
        let runs = &self.stages.get(stage)?.runs.as_ref()?.runs;
        let key = |r: &&VertexRun| (r.state == RunState::Completed, r.ended_ms);
        runs.iter().max_by_key(key)
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

impl PathStep {
    fn of(stage: usize, run: &VertexRun) -> PathStep {
        PathStep {
            stage,
            vertex: run.index,
            from_ms: run.created_ms,
            to_ms: run.ended_ms,
            line: run.line,
        }
    }
}
