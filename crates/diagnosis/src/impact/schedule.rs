//! A scheduler of stages on tokens: when would the job end, were its vertices like this?
//!
//! The model: a stage can start when all its inputs have ended; its vertices then queue first in,
//! first out for a token; an attempt holds its token until it ends, and if it is lost, its vertex queues
//! again. Knows no causes. Costs `O(attempts · log tokens + stages · log stages)`.

use std::borrow::Borrow;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Maximum number of modeled vertices per stage; with more, each represents several. This keeps
/// a replay cheap, and a stage of that size runs smoothly anyway.
pub(super) const MAX_VERTICES: u64 = 200_000;

/// Work of one vertex, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VertexWork {
    /// From process start to running.
    pub start_s: f64,
    /// From running to end of the useful attempt.
    pub run_s: f64,
    /// Attempts that failed or were revoked before it, all together.
    pub wasted_s: f64,
    /// Their number; 0 if unknown: the vertex then holds one token for all of them.
    pub lost: u32,
    pub bytes: f64,
}

impl VertexWork {
    /// How long it holds a token.
    pub fn total_s(&self) -> f64 {
        self.start_s + self.run_s + self.wasted_s
    }

    /// How long an attempt holds a token, after some that were lost.
    fn attempt_s(&self, before: u32) -> f64 {
        match self.lost {
            0 => self.total_s(),
            lost if before < lost => self.wasted_s / f64::from(lost),
            _ => self.start_s + self.run_s,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageWork {
    /// Stages that must have ended before it.
    pub inputs: Vec<usize>,
    /// Seconds from their end, or from the start of the run, until its vertices can begin.
    pub handover_s: f64,
    /// Its vertices in queue order.
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

    /// How long all its vertices hold a token.
    pub fn work_s(&self) -> f64 {
        self.vertices.iter().map(VertexWork::total_s).sum()
    }

    /// Estimated time alone on a number of tokens: its longest vertex, and the others in parallel.
    pub fn alone_s(&self, tokens: usize) -> f64 {
        let longest = self.vertices.iter().map(VertexWork::total_s);
        longest.fold(self.work_s() / tokens as f64, f64::max)
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
pub fn replay<S: Borrow<StageWork>>(stages: &[S], tokens: usize) -> f64 {
    let spans = schedule(stages, tokens, |_| {});
    spans.iter().map(|span| span.end).fold(0.0, f64::max)
}

/// A turn of a vertex in a replayed run, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    pub stage: usize,
    /// Position in [`StageWork::vertices`].
    pub vertex: usize,
    /// Whether the attempt is lost and the vertex needs another turn.
    pub lost: bool,
    /// Time when its inputs are ready, or when its last attempt was lost.
    pub ready: f64,
    /// Start and end of holding a token.
    pub from: f64,
    pub to: f64,
}

/// Earliest start and end of a stage in a replayed run, in seconds; zeros if it never starts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Span {
    pub ready: f64,
    pub end: f64,
}

/// Replays a run and passes every turn on, by start time; returns the spans of the stages.
pub fn schedule<S: Borrow<StageWork>>(
    stages: &[S],
    tokens: usize,
    mut each: impl FnMut(Turn),
) -> Vec<Span> {
    let mut spans = vec![Span::default(); stages.len()];
    // the queue is sorted by ready time, so all tokens that are free by then are alike
    let mut idle = tokens.max(1);
    let mut held: BinaryHeap<Reverse<Time>> = BinaryHeap::new();
    let mut queue = Queue::of(stages);
    while let Some(Queued {
        ready: Time(ready),
        stage,
        again,
    }) = queue.pop()
    {
        while held.peek().is_some_and(|Reverse(at)| at.0 <= ready) {
            held.pop();
            idle += 1;
        }
        let vertices = &stages[stage].borrow().vertices;
        let (queued, before) = match again {
            Some((vertex, before)) => (vertex..vertex + 1, before),
            None => {
                spans[stage] = Span { ready, end: ready };
                (0..vertices.len(), 0)
            }
        };
        for vertex in queued {
            let from = match held.peek_mut().filter(|_| idle == 0) {
                Some(first) => PeekMut::pop(first).0.0,
                None => {
                    idle -= 1;
                    ready
                }
            };
            let to = from + vertices[vertex].attempt_s(before);
            held.push(Reverse(Time(to)));
            let lost = before < vertices[vertex].lost;
            match lost {
                true => queue.again(to, stage, vertex, before + 1),
                false => spans[stage].end = spans[stage].end.max(to),
            }
            each(Turn {
                stage,
                vertex,
                lost,
                ready,
                from,
                to,
            });
        }
        queue.left(stage, spans[stage].end);
    }
    spans
}

/// An entry of the queue for tokens: a stage, or one of its vertices with its number of lost attempts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Queued {
    ready: Time,
    stage: usize,
    again: Option<(usize, u32)>,
}

/// Stages with completed inputs and vertices with a lost attempt, the earliest ready first. Stages on a
/// cycle are never ready.
struct Queue {
    queued: BinaryHeap<Reverse<Queued>>,
    /// For each stage, its ready time so far and the number of unfinished inputs.
    waiting: Vec<(f64, usize)>,
    /// Vertices of each stage that queue again.
    retried: Vec<usize>,
    readers: Vec<Vec<usize>>,
    handover_s: Vec<f64>,
}

impl Queue {
    fn of<S: Borrow<StageWork>>(stages: &[S]) -> Queue {
        let stages = || stages.iter().map(Borrow::borrow);
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); stages().len()];
        for (reader, stage) in stages().enumerate() {
            for input in &stage.inputs {
                if let Some(readers) = readers.get_mut(*input) {
                    readers.push(reader);
                }
            }
        }
        let mut queue = Queue {
            queued: BinaryHeap::new(),
            handover_s: stages().map(|s| s.handover_s).collect(),
            waiting: stages().map(|s| (0.0, s.inputs.len())).collect(),
            retried: vec![0; readers.len()],
            readers,
        };
        for (stage, _) in stages().enumerate().filter(|(_, s)| s.inputs.is_empty()) {
            queue.ready(0.0, stage);
        }
        queue
    }

    fn pop(&mut self) -> Option<Queued> {
        let Reverse(first) = self.queued.pop()?;
        self.retried[first.stage] -= usize::from(first.again.is_some());
        Some(first)
    }

    /// The inputs of a stage have ended.
    fn ready(&mut self, at: f64, stage: usize) {
        let ready = Time(at + self.handover_s[stage]);
        self.queued.push(Reverse(Queued {
            ready,
            stage,
            again: None,
        }));
    }

    /// Queues a vertex again after its `lost`-th lost attempt.
    fn again(&mut self, at: f64, stage: usize, vertex: usize, lost: u32) {
        self.retried[stage] += 1;
        let again = Some((vertex, lost));
        self.queued.push(Reverse(Queued {
            ready: Time(at),
            stage,
            again,
        }));
    }

    /// Called once all entries of a stage have run; the stage has ended unless vertices queue again.
    fn left(&mut self, stage: usize, end: f64) {
        if self.retried[stage] > 0 {
            return;
        }
        for reader in std::mem::take(&mut self.readers[stage]) {
            let (ready, open) = &mut self.waiting[reader];
            *ready = ready.max(end);
            *open -= 1;
            if *open == 0 {
                let at = *ready;
                self.ready(at, reader);
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

    /// A vertex that lost an attempt queues behind vertices that have not run yet.
    #[test]
    fn lost_attempts_queue_again() {
        let mut first = stage(&[], &[4.0, 10.0, 10.0]);
        first.vertices[0].wasted_s = 2.0;
        first.vertices[0].lost = 2;
        let mut turns = Vec::new();
        let spans = schedule(&[first, stage(&[0], &[1.0])], 1, |turn| {
            turns.push((turn.vertex, turn.lost, turn.from, turn.to));
        });
        assert_eq!(
            turns[..5],
            [
                (0, true, 0.0, 1.0),
                (1, false, 1.0, 11.0),
                (2, false, 11.0, 21.0),
                (0, true, 21.0, 22.0),
                (0, false, 22.0, 26.0),
            ]
        );
        assert_eq!(spans[0].end, 26.0);
        assert!((spans[1].end - 27.4).abs() < 1e-9);
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
