//! Micro-batches of Structured Streaming: planning them when they follow each other without a pause, and work that grows from batch
//! to batch.

use job::model::{Application, Execution};
use report::{Cause, SegmentKind, text};

use super::{Excess, Unclaimed};
use crate::impact::Fix;
use report::format::{Seconds, Share};

/// Batches from which a stream shows how it runs.
const MIN_BATCHES: usize = 8;

/// Share of the time between the first and the last batch in which none runs, up to which a stream can't keep up.
const MOST_PAUSES: f64 = 0.1;

/// Batches that would do for what was waiting.
const USUAL_BATCHES: f64 = 3.0;

/// Times the first batches from which later ones have grown.
const GROWN: f64 = 2.0;

/// The batches of an application in order, with the seconds since submission in which each ran.
fn batches(app: &Application, origin_ms: i64) -> Vec<(usize, f64, f64)> {
    let seconds = |ms: i64| (ms - origin_ms) as f64 / 1000.0;
    let span = |(at, e): (usize, &Execution)| {
        let described = e.description.as_deref()?;
        let of_batch = described.contains("batch = ");
        Some((at, seconds(e.started_ms?), seconds(e.ended_ms?))).filter(|_| of_batch)
    };
    let mut found: Vec<_> = app.executions.iter().enumerate().filter_map(span).collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found
}

/// The driver's time in batches that follow each other without a pause, where it is more than their work.
pub(super) fn planning(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view.job.spark.as_deref()?;
    let batches = batches(app, view.job.info.submitted_ms?);
    let (first, last) = (batches.first()?, batches.last()?);
    let whole = last.2 - first.1;
    let ran: f64 = batches.iter().map(|(_, from, to)| to - from).sum();
    let driver = unclaimed.parts().filter(|(_, p)| {
        p.kind == SegmentKind::Driver && p.span.from >= first.1 - 1.0 && p.span.to <= last.2 + 1.0
    });
    let driver: Vec<(usize, f64)> = driver.map(|(at, p)| (at, p.span.seconds())).collect();
    let taken: f64 = driver.iter().map(|(_, s)| s).sum();
    let idle = whole - ran.max(0.0) - taken;
    if batches.len() < MIN_BATCHES || idle > MOST_PAUSES * whole || taken < 0.5 * whole {
        return None;
    }
    let count = batches.len();
    let saved = (1.0 - USUAL_BATCHES / count as f64).max(0.0);
    let (each, share) = (Seconds(taken / count as f64), Share(taken / whole));
    let sentence = text!(
        "{count} 个微批次一个接一个地运行，每个有 {each} 用于 Driver 的规划和日志，占 {share}",
        "{count} micro-batches follow each other without a pause; in each, the driver plans and writes its logs for {each}, {share} of the time",
        each = each,
        share = share,
    );
    let line = app.at_line(app.executions[last.0].line);
    let evidence = view.number("micro-batches", count as f64, "count", line, sentence.clone());
    Some(Excess {
        cause: Cause::DriverBottleneck,
        parts: driver.into_iter().map(|(at, s)| (at, s * saved)).collect(),
        stages: Vec::new(),
        summary: sentence,
        evidence: vec![evidence],
        certainty: 0.8,
        method: "the driver's time in micro-batches, less that of as few as would do",
        fix: Some(Fix::work(|_| {})),
    })
}

/// Time that batches take more than the first ones.
pub(super) fn growth(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view.job.spark.as_deref()?;
    let batches = batches(app, view.job.info.submitted_ms?);
    if batches.len() < MIN_BATCHES {
        return None;
    }
    let lengths: Vec<f64> = batches.iter().map(|(_, from, to)| to - from).collect();
    let third = lengths.len() / 3;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    // the first batch loads code
    let usual = mean(&lengths[1..=third]);
    let later = mean(&lengths[lengths.len() - third..]);
    if later < GROWN * usual {
        return None;
    }
    let within = |from: f64| batches.iter().position(|(_, a, b)| (*a..*b).contains(&from));
    let parts = unclaimed.parts().filter(|(_, p)| p.stage.is_some());
    let parts = parts.filter_map(|(at, p)| {
        let length = lengths[within(p.span.from)?];
        let beyond = (1.0 - usual / length).max(0.0);
        Some((at, p.span.seconds() * beyond))
    });
    let parts: Vec<(usize, f64)> = parts.collect();
    let last = &app.executions[batches.last()?.0];
    let sentence = text!(
        "每个微批次从约 {usual} 增长到 {later}：状态、结果或文件随运行时间增加",
        "a micro-batch takes {usual} at first and {later} in the end: its state, its result or its files grow as it runs",
        usual = Seconds(usual),
        later = Seconds(later),
    );
    let line = app.at_line(last.line);
    let evidence = view
        .number("length of the last micro-batches", later, "s", line, sentence.clone())
        .expecting(view.about(Seconds(usual)));
    Some(Excess {
        cause: Cause::UnexplainedOverhead,
        parts,
        stages: Vec::new(),
        summary: sentence,
        evidence: vec![evidence],
        certainty: 0.6,
        method: "time of micro-batches beyond that of the first ones",
        fix: Some(Fix::work(|_| {})),
    })
}
