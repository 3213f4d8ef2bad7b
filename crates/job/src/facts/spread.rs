//! Distribution of rows, bytes and time over the vertices of a stage.

use super::Derived;
use crate::runs::{Distribution, RunState, StageRuns, VertexRun};
use report::Source;

/// Distribution of a number over the vertices of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub total: f64,
    /// Of the vertex with most.
    pub max: f64,
    /// `total / vertices`.
    pub mean: f64,
    /// 1 if there is one vertex, or if all values are zero.
    pub max_over_mean: f64,
    /// Number of vertices in the mean.
    pub vertices: u64,
    pub min: Option<f64>,
    /// Median and 95th percentile, if every vertex is known.
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    /// Index of the vertex with most, if every vertex is known.
    pub worst: Option<u32>,
}

impl Spread {
    pub(crate) fn new(total: f64, max: f64, vertices: u64) -> Option<Spread> {
        let mean = total / vertices as f64;
        let max_over_mean = if vertices == 1 || mean <= 0.0 {
            1.0
        } else {
            max / mean
        };
        (vertices > 0).then_some(Spread {
            total,
            max,
            mean,
            max_over_mean,
            vertices,
            min: None,
            p50: None,
            p95: None,
            worst: None,
        })
    }

    /// The spread of a distribution; `worst` is the vertex with most.
    pub(crate) fn of(all: &Distribution, worst: u32) -> Option<Spread> {
        Some(Spread {
            min: Some(all.min),
            p50: Some(all.p50),
            p95: Some(all.p95),
            worst: Some(worst),
            ..Spread::new(all.total, all.max, all.count)?
        })
    }

    /// The spread of a number over the completed vertices.
    pub(crate) fn of_runs(
        runs: &StageRuns,
        all: &Distribution,
        one: impl Fn(&VertexRun) -> i64,
    ) -> Option<Derived<Spread>> {
        let worst = completed(runs).max_by_key(|run| one(run));
        let spread = Spread::of(all, worst.map_or(0, |run| run.index))?;
        Some(Derived {
            value: Spread {
                worst: worst.map(|run| run.index),
                ..spread
            },
            sources: vec![whole(runs)],
        })
    }
}

/// Mean milliseconds per completed vertex in each phase.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeSplit {
    /// From created to process started: waiting for a machine.
    pub queue_ms: f64,
    /// From process started to running.
    pub start_ms: f64,
    /// From running to ended.
    pub run_ms: f64,
}

impl TimeSplit {
    pub(crate) fn of_runs(runs: &StageRuns) -> Option<Derived<TimeSplit>> {
        let n = completed(runs).count();
        let mean = |ms: &dyn Fn(&VertexRun) -> i64| {
            completed(runs).map(|r| ms(r).max(0) as f64).sum::<f64>() / n as f64
        };
        (n > 0).then(|| Derived {
            value: TimeSplit {
                queue_ms: mean(&|r| r.started_ms.saturating_sub(r.created_ms)),
                start_ms: mean(&|r| r.running_ms.saturating_sub(r.started_ms)),
                run_ms: mean(&|r| r.ended_ms.saturating_sub(r.running_ms)),
            },
            sources: vec![whole(runs)],
        })
    }
}

fn completed(runs: &StageRuns) -> impl Iterator<Item = &VertexRun> {
    let all = runs.runs.iter();
    all.filter(|r| r.state == RunState::Completed)
}

fn whole(runs: &StageRuns) -> Source {
    let (file, locator) = (runs.file.clone(), None);
    Source { file, locator }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_vertex_is_never_skewed() {
        let one = Spread::new(10.0, 10.0, 1).expect("a vertex");
        assert_eq!(one.max_over_mean, 1.0);
        let four = Spread::new(40.0, 30.0, 4).expect("vertices");
        assert_eq!((four.mean, four.max_over_mean), (10.0, 3.0));
        assert_eq!(Spread::new(0.0, 0.0, 5).map(|s| s.max_over_mean), Some(1.0));
        assert_eq!(Spread::new(0.0, 0.0, 0), None);
    }
}
