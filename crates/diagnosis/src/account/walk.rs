//! Walks the critical path and lists its stretches, one after the other.

use super::Span;
use super::timeline::Timeline;
use crate::impact::MAX_DISPATCH_S;

/// State of the path between two points in time; the number is the attempt's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stretch {
    /// No vertex of the path was ready.
    Gap,
    /// The vertex was ready, but its process was not started.
    Wait(usize),
    Startup(usize),
    /// The attempt ran and its work was lost.
    Lost(usize),
    Run(usize),
}

impl Stretch {
    pub(super) fn attempt(self) -> Option<usize> {
        match self {
            Stretch::Gap => None,
            Stretch::Wait(i) | Stretch::Startup(i) | Stretch::Lost(i) | Stretch::Run(i) => Some(i),
        }
    }
}

/// The stretches of a run.
struct Walk {
    at: f64,
    end: f64,
    stretches: Vec<(Stretch, Span)>,
}

/// The stretches from the start of the run to its end, without gaps or overlaps.
pub(super) fn walk(run: Span, timeline: &Timeline) -> Vec<(Stretch, Span)> {
    let mut walk = Walk {
        at: run.from,
        end: run.to,
        stretches: Vec::new(),
    };
    for &last in &timeline.path {
        for index in timeline.lost_before(last).chain([last]) {
            let attempt = timeline.attempts[index];
            walk.begin(timeline, index);
            if attempt.is_useful() {
                walk.to(attempt.running, Stretch::Startup(index));
                walk.to(attempt.ended, Stretch::Run(index));
            } else {
                walk.to(attempt.started, Stretch::Startup(index));
                walk.to(attempt.ended, Stretch::Lost(index));
            }
        }
    }
    walk.to(run.to, Stretch::Gap);
    walk.stretches
}

impl Walk {
    /// Advances to a point in time, unless the walk is already past it.
    fn to(&mut self, to: f64, stretch: Stretch) {
        let to = to.min(self.end);
        if to > self.at {
            self.stretches.push((stretch, Span::new(self.at, to)));
            self.at = to;
        }
    }

    /// Advances to the start-up of an attempt, which includes dispatching its process.
    fn begin(&mut self, timeline: &Timeline, index: usize) {
        let attempt = timeline.attempts[index];
        self.to(attempt.created, Stretch::Gap);
        self.to(attempt.started - MAX_DISPATCH_S, Stretch::Wait(index));
    }
}
