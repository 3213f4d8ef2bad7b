//! Numbers of the whole job.

use super::{ComparedRun, Pair, Total, TotalMetric};
use crate::{RunSummary, StageSummary, sum};

/// The numbers that at least one run has, in a fixed order.
pub(super) fn totals(a: &ComparedRun, b: &ComparedRun) -> Vec<Total> {
    use TotalMetric as M;
    type Reading = fn(&RunSummary) -> Option<f64>;
    let readings: [(M, Reading); 10] = [
        (M::QueuedSeconds, |s| s.queued_seconds),
        (M::CompileSeconds, |s| s.compile_seconds),
        (M::VertexSeconds, |s| {
            of_stages(s, |x| x.busy_ms).map(seconds)
        }),
        (M::LostSeconds, |s| {
            of_stages(s, |x| x.wasted_ms).map(seconds)
        }),
        (M::Tokens, |s| s.tokens.map(f64::from)),
        (M::Stages, |s| {
            Some(s.stages.len() as f64).filter(|n| *n > 0.0)
        }),
        (M::Vertices, |s| {
            of_stages(s, |x| x.vertices.map(|n| n as f64))
        }),
        (M::InputRows, input_rows),
        (M::InputBytes, input_bytes),
        (M::ShuffledBytes, |s| sum(s.edges.iter().map(|e| e.bytes))),
    ];
    let elapsed = |run: &ComparedRun| run.report.job.elapsed_seconds;
    let elapsed = (M::ElapsedSeconds, Pair::new(elapsed(a), elapsed(b)));
    let others = readings
        .into_iter()
        .map(|(metric, of)| (metric, Pair::new(of(&a.summary), of(&b.summary))));
    std::iter::once(elapsed)
        .chain(others)
        .filter(|(_, values)| values.is_known())
        .map(|(metric, values)| Total { metric, values })
        .collect()
}

fn seconds(ms: f64) -> f64 {
    ms / 1000.0
}

/// Rows of all inputs: of the tables, else of the stages that nothing feeds.
pub(super) fn input_rows(summary: &RunSummary) -> Option<f64> {
    sum(summary.inputs.iter().map(|i| i.rows.map(|n| n as f64)))
        .or_else(|| sum(roots(summary).map(|stage| stage.rows_in)))
}

/// Bytes of all inputs, likewise.
pub(super) fn input_bytes(summary: &RunSummary) -> Option<f64> {
    sum(summary.inputs.iter().map(|i| i.bytes.map(|n| n as f64)))
        .or_else(|| sum(roots(summary).map(|stage| stage.bytes_read)))
}

fn roots(summary: &RunSummary) -> impl Iterator<Item = &StageSummary> {
    let is_fed = |stage: usize| summary.edges.iter().any(|e| e.to == stage);
    let stages = summary.stages.iter().enumerate();
    stages.filter(move |(at, _)| !is_fed(*at)).map(|(_, s)| s)
}

fn of_stages(summary: &RunSummary, value: fn(&StageSummary) -> Option<f64>) -> Option<f64> {
    sum(summary.stages.iter().map(value))
}
