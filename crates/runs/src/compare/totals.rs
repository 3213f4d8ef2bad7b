//! Numbers of the whole job.

use super::{Pair, Side, Total, TotalMetric};
use crate::shape::{JobShape, StageShape};

/// How a number is read from a shape.
type Reading = fn(&JobShape) -> Option<f64>;

/// The numbers that at least one run tells, in a fixed order.
pub(crate) fn totals(a: &Side, b: &Side) -> Vec<Total> {
    let rows: [(TotalMetric, Reading); 11] = [
        (TotalMetric::ElapsedSeconds, |s| s.job.elapsed_seconds),
        (TotalMetric::QueuedSeconds, |s| s.job.queued_seconds),
        (TotalMetric::CompileSeconds, |s| s.job.compile_seconds),
        (TotalMetric::VertexSeconds, |s| {
            of_stages(s, |stage| stage.busy_ms).map(|ms| ms / 1000.0)
        }),
        (TotalMetric::LostSeconds, |s| {
            of_stages(s, |stage| stage.wasted_ms).map(|ms| ms / 1000.0)
        }),
        (TotalMetric::Tokens, |s| s.job.tokens.map(f64::from)),
        (TotalMetric::Stages, |s| {
            Some(s.stages.len() as f64).filter(|n| *n > 0.0)
        }),
        (TotalMetric::Vertices, |s| {
            of_stages(s, |stage| stage.vertices.map(|n| n as f64))
        }),
        (TotalMetric::InputRows, input_rows),
        (TotalMetric::InputBytes, input_bytes),
        (TotalMetric::ShuffledBytes, |s| {
            all(s.edges.iter().map(|e| e.bytes))
        }),
    ];
    rows.into_iter()
        .map(|(metric, of)| Total {
            metric,
            values: Pair::new(of(&a.shape), of(&b.shape)),
        })
        .filter(|total| total.values.is_known())
        .collect()
}

/// Rows of all inputs: of the tables, else of the stages that nothing feeds.
pub(crate) fn input_rows(shape: &JobShape) -> Option<f64> {
    all(shape.inputs.iter().map(|i| i.rows.map(|n| n as f64)))
        .or_else(|| all(roots(shape).map(|stage| stage.rows_in)))
}

/// Bytes of all inputs, likewise.
pub(crate) fn input_bytes(shape: &JobShape) -> Option<f64> {
    all(shape.inputs.iter().map(|i| i.bytes.map(|n| n as f64)))
        .or_else(|| all(roots(shape).map(|stage| stage.bytes_read)))
}

fn roots(shape: &JobShape) -> impl Iterator<Item = &StageShape> {
    let fed = |stage: &StageShape| shape.edges.iter().any(|e| e.to == stage.name);
    shape.stages.iter().filter(move |stage| !fed(stage))
}

fn of_stages(shape: &JobShape, value: impl Fn(&StageShape) -> Option<f64>) -> Option<f64> {
    all(shape.stages.iter().map(value))
}

/// The sum; `None` if there is nothing to add or a part is unknown.
fn all(parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let parts: Option<Vec<f64>> = parts.collect();
    parts.filter(|p| !p.is_empty()).map(|p| p.iter().sum())
}
