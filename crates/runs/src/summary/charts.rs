//! Histograms over the vertices of a stage, and running vertices over time: numbers, no positions or colors.

use job::Job;
use job::runs::{RunState, StageRuns, VertexRun};
use serde::{Deserialize, Serialize};

/// Bins of a histogram: enough to see a tail, few enough to stay readable in a margin.
const BINS: usize = 30;
/// Slots of the timeline: about one per ten pixels of a wide page.
const SLOTS: usize = 120;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    /// Vertices per bin; the bins have equal widths from `min` to `max`.
    pub counts: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// From the creation of the first vertex to the end of the last, in milliseconds.
    pub span_ms: f64,
    /// Mean number of running vertices per slot, one row per stage.
    pub running: Vec<Vec<f32>>,
}

/// A histogram over the completed vertices; `None` if there are none.
pub(super) fn histogram_of(
    runs: Option<&StageRuns>,
    value: impl Fn(&VertexRun) -> f64,
) -> Option<Histogram> {
    let runs = runs?.runs.iter();
    let completed = runs.filter(|run| run.state == RunState::Completed);
    histogram(&completed.map(value).collect::<Vec<_>>())
}

fn histogram(values: &[f64]) -> Option<Histogram> {
    let min = values.iter().copied().reduce(f64::min)?;
    let max = values.iter().copied().reduce(f64::max)?;
    let mut counts = vec![0; if max > min { BINS } else { 1 }];
    let last = counts.len() - 1;
    for value in values {
        let place = if max > min {
            (value - min) / (max - min) * BINS as f64
        } else {
            0.0
        };
        counts[(place as usize).min(last)] += 1;
    }
    Some(Histogram {
        min,
        max,
        mean: values.iter().sum::<f64>() / values.len() as f64,
        counts,
    })
}

pub(super) fn timeline(job: &Job) -> Option<Timeline> {
    let stages = || job.stages.iter().filter_map(|s| s.runs.as_ref());
    let runs = || stages().flat_map(|r| &r.runs);
    let begin = runs().map(|r| r.created_ms).min()?;
    let end = runs().map(|r| r.ended_ms).max()?;
    let span_ms = (end - begin) as f64;
    if span_ms <= 0.0 {
        return None;
    }
    let slot_ms = span_ms / SLOTS as f64;
    let running = job.stages.iter().map(|stage| {
        let mut slots = vec![0.0_f32; SLOTS];
        for run in stage.runs.iter().flat_map(|r| &r.runs) {
            let [from, to] = [run.running_ms, run.ended_ms].map(|ms| (ms - begin) as f64 / slot_ms);
            add_run(&mut slots, from, to);
        }
        slots
    });
    Some(Timeline {
        span_ms,
        running: running.collect(),
    })
}

/// Adds a vertex that runs from one position to another, both in slots.
fn add_run(slots: &mut [f32], from: f64, to: f64) {
    let first = from.max(0.0) as usize;
    for (at, slot) in slots.iter_mut().enumerate().skip(first) {
        let covered = to.min((at + 1) as f64) - from.max(at as f64);
        if covered <= 0.0 {
            break;
        }
        *slot += covered as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bin() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let histogram = histogram(&values).expect("values");
        assert_eq!(histogram.counts.iter().sum::<u32>(), 1000);
        assert_eq!(
            (histogram.min, histogram.max, histogram.mean),
            (0.0, 999.0, 499.5)
        );
    }

    #[test]
    fn equal_values_make_one_bin_and_none_make_none() {
        assert_eq!(histogram(&[3.0, 3.0]).expect("values").counts, [2]);
        assert!(histogram(&[]).is_none());
    }

    #[test]
    fn a_run_fills_the_slots_that_it_covers() {
        let mut slots = vec![0.0; 4];
        add_run(&mut slots, 0.5, 2.25);
        assert_eq!(slots, [0.5, 1.0, 0.25, 0.0]);
    }
}
