//! Words and evidence of the three failure rules.

use super::support::Symptom;
use crate::measurements::failure::stage_of;
use crate::view::View;
use job::model::{JobError, Source};
use report::format::TIME;
use report::{Cause, Evidence, Text, text};

/// A candidate of a failure rule.
pub(crate) fn symptom(
    view: &View<'_>,
    cause: Cause,
    error: Option<&JobError>,
    summary: Text,
) -> Symptom {
    let stage = stage_of(view, error);
    Symptom {
        cause,
        stage,
        lines: error.and_then(|e| lines(view, e, stage)),
        summary,
        evidence: evidence(view, error, stage),
        saved: None,
        method: "",
        strength: if error.is_some() { 1.0 } else { 0.7 },
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
