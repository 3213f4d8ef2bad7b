//! Evidence for the parts of the account: one measured value each, with its place.

use job::model::Source;
use report::format::Seconds;
use report::{Evidence, SegmentKind, text};

use super::Span;
use super::timeline::Attempt;
use super::walk::Stretch;
use crate::facts::at_line;
use crate::view::View;

/// Evidence from the job's own times for a span outside any stage.
pub(super) fn stated(view: &View<'_>, kind: SegmentKind, span: Span) -> Option<Evidence> {
    let known = |field: &str| view.job.info.sources.get(field).cloned();
    let field = match kind {
        SegmentKind::Compile => "compile_seconds",
        SegmentKind::Queue | SegmentKind::CapacityWait => "queued_seconds",
        _ => "elapsed_seconds",
    };
    let source = known(field)
        .or_else(|| known("ended_ms"))
        .or_else(|| known("started_ms"))?;
    let time = Seconds(span.seconds());
    let sentence = match kind {
        SegmentKind::Compile => text!("编译 {time}", "compiling took {time}", time = time),
        SegmentKind::Queue => text!("排队 {time}", "the job queued for {time}", time = time),
        SegmentKind::CapacityWait => text!(
            "等待资源 {time}",
            "the job waited {time} for capacity",
            time = time
        ),
        SegmentKind::Startup => text!("启动 {time}", "starting took {time}", time = time),
        SegmentKind::Driver if view.job.spark.is_some() => text!(
            "Driver 占用 {time}，其间没有任务在运行",
            "the driver took {time} while no task ran",
            time = time
        ),
        SegmentKind::Driver => text!(
            "作业管理器占用 {time}",
            "the job manager took {time}",
            time = time
        ),
        SegmentKind::Idle => text!(
            "{time} 内没有顶点在运行或等待",
            "for {time} no vertex ran or waited",
            time = time
        ),
        _ => text!(
            "没有文件说明这 {time} 的去向",
            "no file shows the use of {time}",
            time = time
        ),
    };
    Some(view.number("seconds", span.seconds(), "s", source, sentence))
}

/// Evidence from the events, or from the stage's totals, for an attempt on the critical path.
pub(super) fn attempt(
    view: &View<'_>,
    attempt: &Attempt,
    stretch: Stretch,
    span: Span,
) -> Option<Evidence> {
    let Some(source) = line(view, attempt) else {
        let facts = &view.facts[attempt.stage];
        let accounts = [facts.counted.as_ref(), facts.stated.as_ref()];
        let mut known = accounts.into_iter().flatten();
        return known.find_map(|a| view.measured(&a.run_ms, "ms"));
    };
    let (stage, vertex) = (view.name(attempt.stage), attempt.vertex);
    let time = Seconds(span.seconds());
    let (metric, sentence) = match stretch {
        Stretch::Wait(_) => (
            "queued to started",
            text!(
                "关键路径上的 {stage}[{vertex}] 就绪后等待令牌 {time}",
                "{stage}[{vertex}], on the critical path, waited {time} for a token",
                time = time
            ),
        ),
        Stretch::Startup(_) => (
            "started to running",
            text!(
                "关键路径上的 {stage}[{vertex}] 启动用时 {time}",
                "{stage}[{vertex}], on the critical path, took {time} to start",
                time = time
            ),
        ),
        Stretch::Lost(_) => (
            "started to failed",
            text!(
                "关键路径上的 {stage}[{vertex}] 有一次尝试在 {time} 后作废",
                "an attempt at {stage}[{vertex}], on the critical path, was lost after {time}",
                time = time
            ),
        ),
        Stretch::Run(_) | Stretch::Gap => (
            "running to ended",
            text!(
                "关键路径上的 {stage}[{vertex}] 运行 {time}",
                "{stage}[{vertex}], on the critical path, ran {time}",
                time = time
            ),
        ),
    };
    Some(view.number(metric, span.seconds(), "s", source, sentence))
}

fn line(view: &View<'_>, attempt: &Attempt) -> Option<Source> {
    let runs = view.job.stages[attempt.stage].runs.as_ref()?;
    Some(at_line(&runs.file, attempt.line?))
}
