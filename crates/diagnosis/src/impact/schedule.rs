//! A scheduler of stages on tokens: when would the job end, were its vertices like this?
//!
//! The model: a stage can start when all its inputs have ended; its vertices then queue first in,
//! first out for a token; a vertex holds its token for its failed attempts, its start-up and its
//! run. Knows nothing of causes. Costs `O(vertices · log tokens + stages · log stages)`.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Stages of more vertices than this are modelled by this many, each standing for several: keeps
/// a replay cheap, and a stage of that many waves is smooth anyway.
pub(super) const MAX_VERTICES: u64 = 200_000;

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
    let mut last = 0.0_f64;
    let vertices: usize = stages.iter().map(|s| s.vertices.len()).sum();
    let mut free: BinaryHeap<Reverse<Time>> = (0..tokens.clamp(1, vertices.max(1)))
        .map(|_| Reverse(Time(0.0)))
        .collect();
    let mut queue = Queue::of(stages);
    while let Some((stage, ready)) = queue.pop() {
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
        queue.ended(stage, end);
        last = last.max(end);
    }
    last
}

/// Stages whose inputs have ended, the one that was ready first next. Stages on a cycle never are.
struct Queue {
    ready: BinaryHeap<Reverse<(Time, usize)>>,
    /// When each stage is ready by the inputs that have ended, and how many have not.
    waiting: Vec<(f64, usize)>,
    readers: Vec<Vec<usize>>,
    handover_s: Vec<f64>,
}

impl Queue {
    fn of(stages: &[StageWork]) -> Queue {
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); stages.len()];
        for (reader, stage) in stages.iter().enumerate() {
            for input in &stage.inputs {
                if let Some(readers) = readers.get_mut(*input) {
                    readers.push(reader);
                }
            }
        }
        let waiting: Vec<(f64, usize)> = stages.iter().map(|s| (0.0, s.inputs.len())).collect();
        let first = waiting
            .iter()
            .enumerate()
            .filter(|(_, (_, open))| *open == 0);
        Queue {
            ready: first
                .map(|(s, _)| Reverse((Time(stages[s].handover_s), s)))
                .collect(),
            handover_s: stages.iter().map(|s| s.handover_s).collect(),
            waiting,
            readers,
        }
    }

    fn pop(&mut self) -> Option<(usize, f64)> {
        let Reverse((Time(at), stage)) = self.ready.pop()?;
        Some((stage, at))
    }

    fn ended(&mut self, stage: usize, end: f64) {
        for reader in std::mem::take(&mut self.readers[stage]) {
            let (ready, open) = &mut self.waiting[reader];
            *ready = ready.max(end);
            *open -= 1;
            if *open == 0 {
                let at = *ready + self.handover_s[reader];
                self.ready.push(Reverse((Time(at), reader)));
            }
        }
    }
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
