//! Tokens that the job was not given: vertices were ready, and fewer ran than its tokens allow.

use super::Span;
use super::timeline::Timeline;
use crate::impact::MAX_DISPATCH_S;

/// A stretch in which vertices waited for tokens that the job did not use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shortage {
    pub(super) span: Span,
    /// Share of the tokens needed at that time that were missing, 0..1; 1 if nothing ran.
    pub(super) share: f64,
}

impl Shortage {
    /// Seconds that the missing tokens cost.
    pub(super) fn seconds(&self) -> f64 {
        self.span.seconds() * self.share
    }
}

/// The shortages of a run, in order. `O(n log n)` in the attempts.
pub(super) fn shortages(timeline: &Timeline) -> Vec<Shortage> {
    let mut changes: Vec<(f64, f64, f64)> = Vec::new();
    for a in &timeline.attempts {
        let weight = timeline.weights[a.stage];
        changes.push((a.started, weight, 0.0));
        changes.push((a.ended, -weight, 0.0));
        // a token is not handed on at once
        let ready = a.created + MAX_DISPATCH_S;
        if ready < a.started {
            changes.push((ready, 0.0, weight));
            changes.push((a.started, 0.0, -weight));
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut running, mut waiting) = (0.0_f64, 0.0_f64);
    let mut found = Vec::new();
    for pair in changes.windows(2) {
        running += pair[0].1;
        waiting += pair[0].2;
        let missing = waiting.min(timeline.tokens - running);
        let span = Span::new(pair[0].0, pair[1].0);
        // whole attempts; less is what adding and taking away their weights leaves
        if missing > 0.5 && span.seconds() > 0.0 {
            let share = missing / (running.max(0.0) + missing);
            found.push(Shortage { span, share });
        }
    }
    found
}
