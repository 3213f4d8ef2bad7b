//! What can be drawn of a job: the stage DAG, the spread over vertices, the use of tokens over
//! time, the script. Numbers for the graphical fronts, taken from the job; no positions, no colours.

use job::Job;
use job::runs::{RunState, StageRuns, VertexRun};
use serde::{Deserialize, Serialize};

/// Bins of a histogram; enough to see a tail, few enough to stay readable in a margin.
const BINS: usize = 30;
/// Slots of the timeline: about one per ten pixels of a wide page.
const SLOTS: usize = 120;

/// What can be drawn of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Stages in the job's order.
    pub stages: Vec<StagePicture>,
    /// Channels between them, by index into `stages`.
    pub edges: Vec<EdgePicture>,
    /// Vertices running over time; `None` without vertex events.
    pub timeline: Option<Timeline>,
    /// The script; `None` if no file holds it.
    pub script: Option<ScriptText>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagePicture {
    /// Name.
    pub name: String,
    /// Its vertices.
    pub vertices: Option<u64>,
    /// Milliseconds that its vertices ran, summed.
    pub busy_ms: Option<f64>,
    /// Share of `busy_ms` in that of all stages.
    pub share: Option<f64>,
    /// Whether it decided when the job ended.
    pub critical: bool,
    /// Run times of its completed vertices, in milliseconds.
    pub run_ms: Option<Histogram>,
    /// Bytes that its completed vertices read.
    pub bytes_read: Option<Histogram>,
}

/// One channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgePicture {
    /// Index of the writing stage.
    pub from: usize,
    /// Index of the reading stage.
    pub to: usize,
    /// Bytes that crossed.
    pub bytes: Option<f64>,
    /// How they crossed: `hash`, `range`, `broadcast`, `gather`, `one_to_one`, `unknown`.
    pub exchange: String,
    /// Keys that they were partitioned by.
    pub keys: Vec<String>,
}

/// How many vertices fall into each bin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Vertices per bin of equal width from `min` to `max`.
    pub counts: Vec<u32>,
}

/// Vertices running over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// From the first vertex's creation to the last one's end, in milliseconds.
    pub span_ms: f64,
    /// Tokens of the job.
    pub tokens: Option<u32>,
    /// Mean number of running vertices per slot, one row a stage in the order of `stages`.
    pub running: Vec<Vec<f32>>,
}

/// The script as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptText {
    /// Its file.
    pub file: String,
    /// Its text.
    pub text: String,
}

impl Picture {
    /// Draws together what the job holds.
    pub fn of(job: &Job) -> Picture {
        let path = job.critical_path().map(|p| p.value).unwrap_or_default();
        let busy: Vec<Option<f64>> = (0..job.stages.len())
            .map(|i| job.run_ms_per_vertex(i).map(|d| d.value.total))
            .collect();
        let all: f64 = busy.iter().flatten().sum();
        let stages = job
            .stages
            .iter()
            .enumerate()
            .map(|(i, stage)| StagePicture {
                name: stage.name.clone(),
                vertices: job.vertex_count(i).map(|d| d.value),
                busy_ms: busy[i],
                share: busy[i].filter(|_| all > 0.0).map(|ms| ms / all),
                critical: path.iter().any(|step| step.stage == i),
                run_ms: histogram_of(stage.runs.as_ref(), |run| {
                    (run.ended_ms - run.running_ms) as f64
                }),
                bytes_read: histogram_of(stage.runs.as_ref(), |run| run.bytes_read as f64),
            });
        Picture {
            stages: stages.collect(),
            edges: job.edges.iter().map(edge).collect(),
            timeline: timeline(job),
            script: job.script.as_ref().map(|s| ScriptText {
                file: s.file.clone(),
                text: s.text.clone(),
            }),
        }
    }
}

fn edge(edge: &job::model::Edge) -> EdgePicture {
    EdgePicture {
        from: edge.from,
        to: edge.to,
        bytes: edge.bytes_written,
        exchange: edge.exchange.code().to_owned(),
        keys: edge.keys.clone(),
    }
}

fn histogram_of(runs: Option<&StageRuns>, value: impl Fn(&VertexRun) -> f64) -> Option<Histogram> {
    let completed = runs?
        .runs
        .iter()
        .filter(|run| run.state == RunState::Completed);
    histogram(&completed.map(value).collect::<Vec<_>>())
}

/// A histogram of the values; `None` if there are none.
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

fn timeline(job: &Job) -> Option<Timeline> {
    let runs = || {
        job.stages
            .iter()
            .filter_map(|s| s.runs.as_ref())
            .flat_map(|r| &r.runs)
    };
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
            add_run(
                &mut slots,
                (run.running_ms - begin) as f64 / slot_ms,
                (run.ended_ms - begin) as f64 / slot_ms,
            );
        }
        slots
    });
    Some(Timeline {
        span_ms,
        tokens: job.info.tokens,
        running: running.collect(),
    })
}

/// Adds one vertex that runs from one place to another, both in slots.
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
