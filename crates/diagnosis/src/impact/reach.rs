//! The most that anything in one stage could cost, without replaying the run.
//!
//! A run that keeps its critical path takes as long as before, so a stage off the path costs at most
//! the tokens of its work. Together all stages reach twice the run at most: few stages reach much.

use super::schedule::{Span, StageWork};

/// Seconds that each stage can cost: its own part of the critical path with the handover to it,
/// and its work on all tokens.
pub(super) fn reach(stages: &[StageWork], spans: &[Span], tokens: usize) -> Vec<f64> {
    let mut reach: Vec<f64> = stages.iter().map(|s| s.work_s() / tokens as f64).collect();
    let latest = |of: &mut dyn Iterator<Item = usize>| {
        of.filter(|s| *s < spans.len())
            .max_by(|a, b| spans[*a].end.total_cmp(&spans[*b].end))
    };
    let mut last = latest(&mut (0..stages.len()));
    while let Some(stage) = last {
        // A stage on a cycle never ran, so it is never the latest input of a stage that ran.
        let span = spans[stage];
        reach[stage] += span.end - span.ready + stages[stage].handover_s;
        last = latest(&mut stages[stage].inputs.iter().copied());
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::super::schedule::{VertexWork, replay, schedule};
    use super::*;

    fn stage(inputs: &[usize], runs: &[f64]) -> StageWork {
        let vertices = runs.iter().map(|run_s| VertexWork {
            run_s: *run_s,
            ..VertexWork::default()
        });
        StageWork {
            inputs: inputs.to_vec(),
            handover_s: 0.5,
            vertices: vertices.collect(),
        }
    }

    #[test]
    fn no_stage_costs_more_than_its_reach() {
        let stages = [
            stage(&[], &[4.0, 9.0, 2.0]),
            stage(&[], &[3.0; 7]),
            stage(&[0], &[6.0]),
            stage(&[1], &[1.0, 1.0]),
            stage(&[2, 3], &[2.0; 5]),
        ];
        for tokens in [1, 2, 3, 8, 1000] {
            let spans = schedule(&stages, tokens, |_| {});
            let whole = replay(&stages, tokens);
            let reach = reach(&stages, &spans, tokens);
            assert!(reach.iter().sum::<f64>() <= 2.0 * whole + 1e-9);
            for (at, reach) in reach.iter().enumerate() {
                let mut without = stages.clone();
                without[at].vertices.clear();
                let cost = whole - replay(&without, tokens);
                assert!(
                    cost <= reach + 1e-9,
                    "{tokens} tokens, stage {at}: {cost} > {reach}"
                );
            }
        }
    }
}
