//! Sentences about streaming queries: pace, cost of a batch, state and end.

use job::model::{MicroBatch, Pace, waiting_share};
use report::format::{Bytes, ROW, STREAM, Seconds, Share};
use report::{Text, text};

use crate::view::View;

/// Pace of the main query, cost of a batch, and state. `None` if no
/// query runs or too few batches show it.
pub(super) fn remark(view: &View<'_>) -> Option<Text> {
    let app = view.job.spark.as_deref()?;
    let pace = app.pace()?;
    let batches = app.main_query();
    let (count, last) = (batches.len(), batches.last()?);
    let seconds = |ms: &dyn Fn(&MicroBatch) -> i64| {
        let all: f64 = batches.iter().map(|b| ms(b) as f64 / 1000.0).sum();
        all / count as f64
    };
    let (each, work) = (seconds(&|b| b.duration_ms), seconds(&|b| b.work_ms));
    let rows = |batch: &MicroBatch| ROW.count(batch.rows as f64);
    let how = match pace {
        Pace::KeepsUp => text!(
            "流跟得上输入：{count} 个微批次平均 {each}，{share} 的时间在等待触发或数据",
            "the stream keeps up with its input: {count} micro-batches of {each} on average, and for {share} of the time it waits for a trigger or for data",
            each = Seconds(each),
            share = Share(waiting_share(&batches)),
        ),
        Pace::FallsBehind => text!(
            "流跟不上输入：{count} 个微批次一个接一个地运行，读取的行数从 {first} 增加到 {latest}",
            "the stream falls behind its input: {count} micro-batches follow each other without a pause, and the rows that one reads grow from {first} to {latest}",
            first = rows(batches[1]),
            latest = rows(last),
        ),
        Pace::Backlog => text!(
            "流在处理积压的数据：{count} 个微批次一个接一个地运行，每个约 {each}",
            "the stream works off the waiting data: {count} micro-batches follow each other without a pause, about {each} each",
            each = Seconds(each),
        ),
    };
    let cost = text!(
        "；每批有 {share} 用于执行，其余是规划和日志",
        "; {share} of a batch is running it, the rest planning and logs",
        share = Share((work / each).clamp(0.0, 1.0)),
    );
    let state = match last.state_rows {
        0 => Text::default(),
        rows => text!(
            "；状态最后有 {rows}（{bytes}）",
            "; its state has {rows} ({bytes}) in the end",
            rows = ROW.count(rows as f64),
            bytes = Bytes(last.state_bytes as f64),
        ),
    };
    Some(text!(
        "{how}{cost}{state}",
        "{how}{cost}{state}",
        how = how,
        cost = cost,
        state = state,
    ))
}

/// The end of streaming queries that did not fail.
pub(super) fn end(view: &View<'_>) -> Option<Text> {
    let ended = view.job.spark.as_deref()?.ended_streams;
    (ended > 0).then(|| {
        text!(
            "{queries}正常结束：由 stop() 停止，或已处理完全部数据",
            "{queries} ended without an error: by stop(), or after all data was processed",
            queries = STREAM.count(ended as f64),
        )
    })
}
