//! Runs saved by older versions: 0.1.0 saved the data of the charts (`picture`), its successor also
//! the data for comparisons (`shape`). Both list stages and channels in the job's order.

use report::measure::{Measure, Value, Values, book};
use serde::Deserialize;

use crate::{EdgeSummary, Histogram, InputSummary, RunSummary, Script, StageSummary, Timeline};

#[derive(Deserialize)]
struct Picture {
    stages: Vec<DrawnStage>,
    edges: Vec<EdgeSummary>,
    timeline: Option<DrawnTimeline>,
    script: Option<Script>,
}

#[derive(Deserialize)]
struct DrawnStage {
    name: String,
    vertices: Option<u64>,
    busy_ms: Option<f64>,
    critical: bool,
    run_ms: Option<Histogram>,
    bytes_read: Option<Histogram>,
}

#[derive(Deserialize)]
struct DrawnTimeline {
    tokens: Option<u32>,
    #[serde(flatten)]
    timeline: Timeline,
}

#[derive(Deserialize)]
struct Shape {
    job: Phases,
    stages: Vec<StageSummary>,
    edges: Vec<Partitions>,
    inputs: Vec<InputSummary>,
    error: Option<String>,
    private_names: Vec<String>,
}

#[derive(Deserialize)]
struct Phases {
    queued_seconds: Option<f64>,
    compile_seconds: Option<f64>,
    tokens: Option<u32>,
}

#[derive(Deserialize)]
struct Partitions {
    partitions: Option<u32>,
}

pub(super) fn summary(picture: &str, shape: Option<&str>) -> serde_json::Result<RunSummary> {
    let picture: Picture = serde_json::from_str(picture)?;
    let shape: Option<Shape> = shape.map(serde_json::from_str).transpose()?;
    let tokens = picture.timeline.as_ref().and_then(|t| t.tokens);
    let mut summary = RunSummary {
        timeline: picture.timeline.map(|t| t.timeline),
        script: picture.script,
        edges: picture.edges,
        drawn_only: shape.is_none(),
        ..RunSummary::default()
    };
    if let Some(shape) = shape {
        set(&mut summary.values, &book::QUEUED, shape.job.queued_seconds);
        set(
            &mut summary.values,
            &book::COMPILED,
            shape.job.compile_seconds,
        );
        set(
            &mut summary.values,
            &book::TOKENS,
            shape.job.tokens.map(f64::from),
        );
        summary.error = shape.error;
        summary.private_names = shape.private_names;
        summary.inputs = shape.inputs;
        summary.stages = shape.stages;
        for (edge, of) in summary.edges.iter_mut().zip(shape.edges) {
            set(
                &mut edge.values,
                &book::PARTITIONS,
                of.partitions.map(f64::from),
            );
        }
    } else {
        set(&mut summary.values, &book::TOKENS, tokens.map(f64::from));
        summary.stages = picture.stages.iter().map(drawn).collect();
    }
    for (stage, drawn) in summary.stages.iter_mut().zip(picture.stages) {
        stage.run_ms = drawn.run_ms;
        stage.vertex_bytes_read = drawn.bytes_read;
    }
    Ok(summary)
}

/// Sets a number that was saved without its place.
fn set(values: &mut Values, measure: &'static Measure, number: Option<f64>) {
    values.set(measure, number.and_then(Value::unsaved));
}

fn drawn(stage: &DrawnStage) -> StageSummary {
    let run = stage.run_ms.as_ref();
    let ratio = run.filter(|h| h.mean > 0.0).map(|h| h.max / h.mean);
    let mut values = Values::default();
    set(
        &mut values,
        &book::VERTICES,
        stage.vertices.map(|n| n as f64),
    );
    set(&mut values, &book::BUSY, stage.busy_ms);
    set(&mut values, &book::MAX_RUN, run.map(|h| h.max));
    set(&mut values, &book::RUN_MAX_OVER_MEAN, ratio);
    StageSummary {
        name: stage.name.clone(),
        critical: stage.critical,
        values,
        ..StageSummary::default()
    }
}
