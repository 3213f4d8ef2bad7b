//! A scheduler of stages on tokens: when would the job end, were its vertices like this?
//!
//! The model: a stage can start when all its inputs have ended; its vertices then queue first in,
//! first out for a token; a vertex holds its token for its failed attempts, its start-up and its
//! run. Knows nothing of causes. Costs `O(vertices · log tokens)`.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Work of one vertex, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VertexWork {
    /// From process start to running.
    pub start_s: f64,
    /// From running to end of the attempt whose output was used.
    pub run_s: f64,
    /// Attempts that failed or were revoked before it.
    pub wasted_s: f64,
    /// Bytes that it read.
    pub bytes: f64,
}

impl VertexWork {
    /// How long it holds a token.
    pub fn total_s(&self) -> f64 {
        self.start_s + self.run_s + self.wasted_s
    }
}

/// Work of one stage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageWork {
    /// Stages that must have ended before it.
    pub inputs: Vec<usize>,
    /// Seconds from their end, or from the start of the run, until its vertices can begin.
    pub handover_s: f64,
    /// Its vertices in the order in which they queue.
    pub vertices: Vec<VertexWork>,
}

impl StageWork {
    /// Run time of all its vertices.
    pub fn run_s(&self) -> f64 {
        self.vertices.iter().map(|v| v.run_s).sum()
    }

    /// Start-up time of all its vertices.
    pub fn start_s(&self) -> f64 {
        self.vertices.iter().map(|v| v.start_s).sum()
    }

    /// Bytes read by all its vertices.
    pub fn bytes(&self) -> f64 {
        self.vertices.iter().map(|v| v.bytes).sum()
    }
}

/// A point in time, ordered; times are finite by construction.
#[derive(PartialEq, Clone, Copy)]
struct Time(f64);

impl Eq for Time {}
impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Seconds from the first start to the last end.
pub fn replay(stages: &[StageWork], tokens: usize) -> f64 {
    schedule(stages, tokens, |_| {})
}

/// When a vertex of a replayed run has its turn, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    pub stage: usize,
    /// Position in [`StageWork::vertices`].
    pub vertex: usize,
    /// From when its inputs are ready.
    pub ready: f64,
    /// From when to when it holds a token.
    pub from: f64,
    pub to: f64,
}

/// Replays a run and shows every turn, in the order of starting; returns the last end.
pub fn schedule(stages: &[StageWork], tokens: usize, mut each: impl FnMut(Turn)) -> f64 {
    let mut ends: Vec<Option<f64>> = vec![None; stages.len()];
    let vertices: usize = stages.iter().map(|s| s.vertices.len()).sum();
    let mut free: BinaryHeap<Reverse<Time>> = (0..tokens.clamp(1, vertices.max(1)))
        .map(|_| Reverse(Time(0.0)))
        .collect();
    while let Some((stage, ready)) = next_ready(stages, &ends) {
        let mut end = ready;
        for (index, vertex) in stages[stage].vertices.iter().enumerate() {
            let Some(Reverse(Time(at))) = free.pop() else {
                break;
            };
            let from = at.max(ready);
            let to = from + vertex.total_s();
            end = end.max(to);
            free.push(Reverse(Time(to)));
            each(Turn {
                stage,
                vertex: index,
                ready,
                from,
                to,
            });
        }
        ends[stage] = Some(end);
    }
    ends.iter().flatten().fold(0.0, |a, b| a.max(*b))
}

/// The stage that became ready first among those not yet run. Stages on a cycle never do.
fn next_ready(stages: &[StageWork], ends: &[Option<f64>]) -> Option<(usize, f64)> {
    (0..stages.len())
        .filter(|s| ends[*s].is_none())
        .filter_map(|s| {
            let ready = stages[s].inputs.iter().try_fold(0.0_f64, |at, input| {
                ends.get(*input).copied().flatten().map(|end| at.max(end))
            });
            ready.map(|at| (s, at + stages[s].handover_s))
        })
        .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(inputs: &[usize], runs: &[f64]) -> StageWork {
        StageWork {
            inputs: inputs.to_vec(),
            handover_s: if inputs.is_empty() { 0.0 } else { 0.4 },
            vertices: runs
                .iter()
                .map(|r| VertexWork {
                    run_s: *r,
                    ..VertexWork::default()
                })
                .collect(),
        }
    }

    #[test]
    fn vertices_run_in_waves_on_the_tokens() {
        assert_eq!(replay(&[stage(&[], &[10.0; 5])], 2), 30.0);
        assert_eq!(replay(&[stage(&[], &[10.0; 5])], 5), 10.0);
    }

    #[test]
    fn a_stage_waits_for_the_slowest_vertex_of_its_inputs() {
        let end = replay(&[stage(&[], &[1.0, 9.0]), stage(&[0], &[2.0])], 4);
        assert!((end - 11.4).abs() < 1e-9);
    }

    #[test]
    fn independent_stages_share_the_tokens() {
        assert_eq!(replay(&[stage(&[], &[10.0]), stage(&[], &[4.0])], 2), 10.0);
        assert_eq!(replay(&[stage(&[], &[10.0]), stage(&[], &[4.0])], 1), 14.0);
    }

    #[test]
    fn stages_on_a_cycle_are_left_out() {
        assert_eq!(
            replay(
                &[
                    stage(&[1], &[10.0]),
                    stage(&[0], &[4.0]),
                    stage(&[], &[3.0])
                ],
                1
            ),
            3.0
        );
    }
}
