//! Rules for `failure.user_code`, `failure.compile` and `failure.limit`: why the job failed.

use super::support::{Symptom, both};
use crate::measurements::failure;
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use job::info::Information;
use job::model::{JobError, Source};
use report::format::TIME;
use report::{Cause, Evidence, Text, text};

/// The rule for one way to fail. [`crate::measurements::failure`] classifies the failure.
pub(crate) struct Failure(About);

const FAILURE: About = About {
    cause: Cause::UserCodeFailure,
    what: both("", ""),
    needs: &[Information::ErrorDetails],
    helps: &[Information::VertexEvents, Information::CompileResult],
    thresholds: &[],
    counter_evidence: &[
        both("作业没有失败", "the job did not fail"),
        both("错误属于另一类", "the error is of another kind"),
    ],
};

pub(crate) static USER_CODE: Failure = Failure(About {
    what: both(
        "作业在用户代码中失败：表达式、文件与行",
        "the job failed in user code: expression, file and line",
    ),
    ..FAILURE
});

pub(crate) static COMPILE: Failure = Failure(About {
    cause: Cause::CompileFailure,
    what: both("作业编译失败", "the job failed to compile"),
    ..FAILURE
});

pub(crate) static LIMIT: Failure = Failure(About {
    cause: Cause::LimitFailure,
    what: both(
        "作业触及限制：顶点时间、内存或临时数据",
        "the job failed on a limit: vertex time, memory, temporary data",
    ),
    ..FAILURE
});

impl Rule for Failure {
    fn about(&self) -> &About {
        &self.0
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let cause = self.0.cause;
        let mut result = Examination::default();
        let error = failure::error_of(view.job, cause);
        let by_events = view.failed()
            && view.job.errors.iter().all(|e| failure::kind(e).is_none())
            && failure::event_kind(view) == Some(cause);
        if error.is_some() || by_events {
            result.found(view, symptom(view, cause, error));
        } else if failure::unknown(view) {
            let reason = text!(
                "作业失败，但没有错误文件说明原因",
                "the job failed, and no file gives the reason",
            );
            result.lacks(Information::ErrorDetails, view, None, reason);
        }
        result.cleared_by(text!(
            "作业没有因此失败",
            "the job did not fail because of this",
        ))
    }
}

fn symptom(view: &View<'_>, cause: Cause, error: Option<&JobError>) -> Symptom {
    let stage = failure::stage_of(view, error);
    Symptom {
        cause,
        stage,
        lines: error.and_then(|e| lines(view, e, stage)),
        summary: summarize(view, cause, error, stage),
        evidence: evidence(view, error, stage),
        saved: None,
        method: "",
        strength: if error.is_some() { 1.0 } else { 0.7 },
    }
}

fn summarize(
    view: &View<'_>,
    cause: Cause,
    error: Option<&JobError>,
    stage: Option<usize>,
) -> Text {
    let message = error.map_or("", |e| e.message.as_str());
    let stage = match stage.map(|s| view.name(s)) {
        Some(stage) => text!("{stage}", "{stage}"),
        None => text!("作业", "the job"),
    };
    match cause {
        Cause::CompileFailure => {
            let line = error.and_then(|e| e.script_line);
            let place = line.map_or_else(Text::default, |l| text!("第 {l} 行", " at line {l}"));
            text!(
                "脚本{place}编译失败：{message}",
                "the script does not compile{place}: {message}",
                place = place,
            )
        }
        Cause::LimitFailure => text!(
            "{stage} 触及限制：{message}",
            "{stage} hit a limit: {message}",
            stage = stage,
            message = error
                .and_then(|e| e.description.as_deref())
                .unwrap_or(message),
        ),
        _ => {
            let place = error.and_then(|e| e.expression.as_ref().or(e.class_name.as_ref()));
            text!(
                "{stage} 的用户代码{place}抛出异常：{message}",
                "the user code of {stage}{place} threw: {message}",
                stage = stage,
                place = place.map_or_else(Text::default, |p| text!("（{p}）", " ({p})")),
            )
        }
    }
}

/// The statement at the error's line, else that of the stage's user code.
fn lines(view: &View<'_>, error: &JobError, stage: Option<usize>) -> Option<(u32, u32)> {
    if let Some(line) = error.script_line {
        let statement = view
            .job
            .script
            .as_ref()
            .and_then(|s| s.statement_at_line(line));
        return Some(statement.map_or((line, line), |s| s.lines));
    }
    if let Some(found) = error
        .expression
        .as_deref()
        .and_then(|e| statement_with(view, e))
    {
        return Some(found);
    }
    let stage = stage?;
    let edge = view.inputs(stage).find(|e| View::is_shuffle(e));
    let by_edge = edge
        .and_then(|e| view.consumer_of(e))
        .and_then(|(op, _)| view.lines(stage, op));
    by_edge.or_else(|| view.lines(stage, 0))
}

/// Lines of the statement that holds an expression, however its blanks are written.
fn statement_with(view: &View<'_>, expression: &str) -> Option<(u32, u32)> {
    let plain = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
    };
    let wanted = plain(expression);
    let script = view.job.script.as_ref().filter(|_| !wanted.is_empty())?;
    let mut holding = script
        .statements
        .iter()
        .filter(|s| plain(script.slice(&s.span)).contains(&wanted));
    holding.next().map(|s| s.lines)
}

fn evidence(view: &View<'_>, error: Option<&JobError>, stage: Option<usize>) -> Vec<Evidence> {
    let mut facts = Vec::new();
    if let Some(error) = error {
        let source = |place: &str| Source {
            file: error.file.clone(),
            locator: Some(place.to_owned()),
        };
        if let Some(id) = &error.id {
            facts.push(view.word(
                "errorId",
                id,
                source("/errorId"),
                text!("错误号 {id}", "the error is {id}"),
            ));
        }
        facts.push(view.word(
            "message",
            &error.message,
            source("/message"),
            text!("{message}", "{message}", message = error.message),
        ));
        if let Some(expression) = &error.expression {
            let sentence = text!(
                "出错的表达式：{expression}",
                "the expression that failed: {expression}"
            );
            facts.push(view.word("expression", expression, source("/details"), sentence));
        }
    }
    if let Some(runs) = stage.and_then(|s| view.job.stages[s].runs.as_ref())
        && let Some((event, times)) = runs.events.first()
    {
        let source = Source {
            file: runs.file.clone(),
            locator: stage.map(|s| view.name(s).to_owned()),
        };
        let sentence = text!(
            "{event}（{times}）",
            "{event} ({times})",
            times = TIME.count(*times as f64)
        );
        facts.push(view.word("vertex event", event, source, sentence));
    }
    if facts.is_empty()
        && let Some(source) = view.job.info.sources.get("state")
    {
        facts.push(view.word(
            "State",
            "failed",
            source.clone(),
            text!("作业失败", "the job failed"),
        ));
    }
    facts
}
