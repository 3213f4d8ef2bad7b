//! Micro-batches of Structured Streaming: overhead of the driver in batches without a pause in between, and work that grows
//! from batch to batch.

use job::model::{Application, MicroBatch, Pace};
use report::format::{Bytes, ROW, Seconds, Share};
use report::{Cause, SegmentKind, Severity, text};

use super::{Excess, Unclaimed};
use crate::rule::Candidate;
use crate::view::View;

/// Least number of batches to judge a stream.
const MIN_BATCHES: usize = 8;

/// Largest share of time without a batch, from the first to the last one, for a stream without pauses.
const MOST_PAUSES: f64 = 0.1;

/// Sufficient batches for the rows that were waiting.
pub const USUAL_BATCHES: f64 = 3.0;

/// From this ratio to the first batches on, later batches have grown.
const GROWN: f64 = 2.0;

/// Times the rows of the first batches' state from which it has grown.
const GROWN_STATE: f64 = 2.0;

/// Share of the first half's growth that the second half has where state grows without end.
const STEADY: f64 = 0.5;

/// Share of the executors' memory from which state matters.
const LEAST_STATE: f64 = 0.02;

/// Seconds within which growing state fills the memory of the executors: it then ends the query before anybody looks.
const SOON_S: f64 = 12.0 * 3600.0;

/// A batch as a span in seconds since submission.
struct Span {
    from: f64,
    to: f64,
}

/// The application, the batches of its main query and their spans, in order; `None` if there are too few.
fn spans<'a>(
    unclaimed: &Unclaimed<'a>,
) -> Option<(&'a Application, Vec<&'a MicroBatch>, Vec<Span>)> {
    let app = unclaimed.view.job.spark.as_deref()?;
    let origin = unclaimed.view.job.info.submitted_ms?;
    let span = |batch: &&MicroBatch| {
        let from = (batch.started_ms - origin) as f64 / 1000.0;
        let to = from + batch.duration_ms as f64 / 1000.0;
        Span { from, to }
    };
    let batches = app.main_query();
    let spans: Vec<Span> = batches.iter().map(span).collect();
    (spans.len() >= MIN_BATCHES).then_some((app, batches, spans))
}

/// The driver's time in batches without a pause in between, if it exceeds their work.
pub(super) fn overhead(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let (app, batches, spans) = spans(unclaimed)?;
    let (first, last) = (spans.first()?.from, spans.last()?.to);
    let whole = last - first;
    let ran: f64 = spans.iter().map(|s| s.to - s.from).sum();
    let work: f64 = batches.iter().map(|b| b.work_ms as f64 / 1000.0).sum();
    let driver = unclaimed.parts().filter(|(_, p)| {
        p.kind == SegmentKind::Driver && p.span.from >= first && p.span.to <= last
    });
    let driver: Vec<(usize, f64)> = driver.map(|(at, p)| (at, p.span.seconds())).collect();
    let taken: f64 = driver.iter().map(|(_, s)| s).sum();
    if whole - ran > MOST_PAUSES * whole || taken < 0.5 * ran {
        return None;
    }
    let count = spans.len();
    let saved = 1.0 - USUAL_BATCHES / count as f64;
    let sentence = text!(
        "{count} 个微批次一个接一个地运行，每个 {each}，其中 {share} 是 Driver 的规划和日志，没有任务在运行",
        "{count} micro-batches follow each other without a pause, {each} each; for {share} of that the driver plans and writes its logs, and no task runs",
        each = Seconds(ran / count as f64),
        share = Share(taken / ran),
    );
    let line = app.at_line(batches[count - 1].line);
    let shown = text!(
        "微批次合计 {ran}，其中执行 {work}",
        "the micro-batches take {ran} in all, {work} of it running them",
        ran = Seconds(ran),
        work = Seconds(work),
    );
    let view = unclaimed.view;
    Some(Excess {
        cause: Cause::DriverBottleneck,
        parts: driver.into_iter().map(|(at, s)| (at, s * saved)).collect(),
        stages: Vec::new(),
        summary: sentence,
        evidence: vec![view.number("triggerExecution", ran, "s", line, shown)],
        certainty: 0.8,
        method: "the driver's time in micro-batches, less its time for the smallest sufficient number",
    })
}

/// Additional time of later batches, although they read no more rows than the first ones.
pub(super) fn growth(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let (app, batches, spans) = spans(unclaimed)?;
    let third = spans.len() / 3;
    // the first batch loads code
    let (early, late) = (1..third + 1, spans.len() - third..spans.len());
    let mean = |of: std::ops::Range<usize>, value: &dyn Fn(usize) -> f64| {
        of.clone().map(value).sum::<f64>() / of.len() as f64
    };
    let length = |at: usize| spans[at].to - spans[at].from;
    let rows = |at: usize| batches[at].rows.max(1) as f64;
    let (usual, later) = (mean(early.clone(), &length), mean(late.clone(), &length));
    let more_rows = (mean(late, &rows) / mean(early, &rows)).max(1.0);
    if later < GROWN * usual * more_rows {
        return None;
    }
    let parts = unclaimed.parts().filter(|(_, p)| p.stage.is_some());
    let parts = parts.filter_map(|(at, p)| {
        let batch = spans
            .iter()
            .find(|s| (s.from..s.to).contains(&p.span.from))?;
        let beyond = (1.0 - usual * more_rows / (batch.to - batch.from)).max(0.0);
        Some((at, p.span.seconds() * beyond))
    });
    let view = unclaimed.view;
    let sentence = text!(
        "每个微批次从约 {usual} 增长到 {later}：状态、结果或文件随运行时间增加",
        "a micro-batch takes {usual} at first and {later} in the end: its state, its result or its files grow as it runs",
        usual = Seconds(usual),
        later = Seconds(later),
    );
    let line = app.at_line(batches.last()?.line);
    let evidence = view
        .number(
            "mean triggerExecution of the last third",
            later,
            "s",
            line,
            sentence.clone(),
        )
        .expecting(view.about(Seconds(usual)));
    Some(Excess {
        cause: Cause::UnexplainedOverhead,
        parts: parts.collect(),
        stages: Vec::new(),
        summary: sentence,
        evidence: vec![evidence],
        certainty: 0.6,
        method: "time of micro-batches, less the time of the first ones",
    })
}

/// State that grows from batch to batch without a watermark, and at this rate soon fills the memory.
pub(super) fn state(view: &View<'_>) -> Option<Candidate> {
    let app = view.job.spark.as_deref()?;
    let batches = app.main_query();
    let (first, last) = (batches.get(1)?, batches.last()?);
    let middle = batches[batches.len() / 2];
    let rows = |batch: &MicroBatch| batch.state_rows as f64;
    let (early, late) = (rows(middle) - rows(first), rows(last) - rows(middle));
    let grows = batches.len() >= MIN_BATCHES
        && rows(last) >= GROWN_STATE * rows(first).max(1.0)
        && late >= STEADY * early;
    // what works off a backlog ends, and its state with it
    let ends = app.pace() == Some(Pace::Backlog);
    if !grows || ends || batches.iter().any(|b| b.expires) {
        return None;
    }
    let memory: u64 = app.executors.iter().filter_map(|e| e.memory_bytes).sum();
    let elapsed = (last.ended_ms() - first.ended_ms()) as f64 / 1000.0;
    let gained = last.state_bytes.saturating_sub(first.state_bytes) as f64;
    let left = (memory as f64 - last.state_bytes as f64).max(0.0);
    let full = left * elapsed / gained;
    let small = (last.state_bytes as f64) < LEAST_STATE * memory as f64;
    if memory == 0 || small || full.is_nan() || full > SOON_S {
        return None;
    }
    let summary = text!(
        "状态在 {elapsed} 内从 {few} 增长到 {many}（{bytes}），没有水位线使旧的键过期：照此约 {full} 后占满 Executor 的内存",
        "the state grows from {few} to {many} ({bytes}) within {elapsed}, and no watermark lets old keys expire: at this rate it fills the memory of the executors in about {full}",
        elapsed = Seconds(elapsed),
        few = ROW.count(rows(first)),
        many = ROW.count(rows(last)),
        bytes = Bytes(last.state_bytes as f64),
        full = Seconds(full),
    );
    let evidence = view.number(
        "stateOperators.numRowsTotal",
        rows(last),
        "rows",
        app.at_line(last.line),
        summary.clone(),
    );
    let cause = Cause::UnexplainedOverhead;
    let mut found = Candidate::new(view, cause, None, summary, vec![evidence]);
    found.finding.severity = Severity::High;
    found.finding.confidence = 0.8;
    found.strength = 0.8;
    Some(found)
}
