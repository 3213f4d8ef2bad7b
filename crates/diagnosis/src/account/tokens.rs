//! Missing tokens: vertices were ready, and fewer ran than the job's tokens allow.

use super::timeline::Timeline;
use crate::impact::MAX_DISPATCH_S;

/// Seconds that missing tokens cost while some vertices ran. `O(n log n)` in the attempts. `unseen`
/// attempts that are missing from the events are taken to have held a token all the time.
///
/// `offered` is the number of tokens that the job has at a time; idle tokens are no shortage.
pub(super) fn short_s(timeline: &Timeline, unseen: f64, offered: impl Fn(f64) -> f64) -> f64 {
    let mut changes: Vec<(f64, f64, f64)> = Vec::new();
    for a in &timeline.attempts {
        let weight = timeline.weights[a.stage];
        changes.push((a.started, weight, 0.0));
        // a token is not handed on at once
        changes.push((a.ended + MAX_DISPATCH_S, -weight, 0.0));
        let ready = a.created + MAX_DISPATCH_S;
        if ready < a.started {
            changes.push((ready, 0.0, weight));
            changes.push((a.started, 0.0, -weight));
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut running, mut waiting) = (0.0_f64, 0.0_f64);
    let mut lost = 0.0;
    for pair in changes.windows(2) {
        running += pair[0].1;
        waiting += pair[0].2;
        let busy = running.max(offered(pair[0].0));
        let missing = waiting.min(timeline.tokens - busy - unseen);
        let share = missing / (running.max(0.0) + missing);
        // less than half an attempt is rounding error of adding and subtracting weights
        if missing > 0.5 && share < 1.0 {
            lost += (pair[1].0 - pair[0].0) * share;
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::super::timeline::Attempt;
    use super::*;
    use job::runs::RunState;

    fn attempt(vertex: u32, started: f64) -> Attempt {
        Attempt {
            stage: 0,
            vertex,
            state: RunState::Completed,
            created: 0.0,
            started,
            running: started,
            ended: started + 10.0,
            line: Some(1),
        }
    }

    #[test]
    fn a_shortage_is_what_ready_vertices_wait_for_unused_tokens() {
        let waits = 10.0 - MAX_DISPATCH_S;
        for (tokens, unseen, seconds) in [
            (4.0, 0.0, waits * 0.5),
            (3.0, 0.0, waits / 3.0),
            (2.0, 0.0, 0.0),
            (4.0, 2.0, 0.0),
        ] {
            let timeline = Timeline {
                attempts: [0.0, 0.0, 10.0, 10.0]
                    .iter()
                    .zip(0..)
                    .map(|(started, vertex)| attempt(vertex, *started))
                    .collect(),
                path: vec![0, 2],
                tokens,
                weights: vec![1.0],
            };
            let lost = short_s(&timeline, unseen, |_| 0.0);
            assert!((lost - seconds).abs() < 1e-9, "{tokens} {unseen}: {lost}");
        }
    }
}
