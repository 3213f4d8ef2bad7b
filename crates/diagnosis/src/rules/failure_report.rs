//! Words and evidence of the three failure rules.

use super::support::Draft;
use crate::facts::{text, word};
use crate::model::{Cause, Fact, Text};
use crate::signs::failure::stage_of;
use crate::view::View;
use job::model::{JobError, Source};

/// A candidate of a failure rule.
pub(crate) fn draft(
    view: &View<'_>,
    cause: Cause,
    error: Option<&JobError>,
    summary: Text,
) -> Draft {
    let stage = stage_of(view, error);
    Draft {
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

fn evidence(view: &View<'_>, error: Option<&JobError>, stage: Option<usize>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(error) = error {
        let source = |place: &str| Source {
            file: error.file.clone(),
            locator: Some(place.to_owned()),
        };
        if let Some(id) = &error.id {
            facts.push(word(
                "errorId",
                id,
                source("/errorId"),
                text(format!("错误号 {id}"), format!("the error is {id}")),
            ));
        }
        facts.push(word(
            "message",
            &error.message,
            source("/message"),
            text(error.message.clone(), error.message.clone()),
        ));
        if let Some(expression) = &error.expression {
            let says = text(
                format!("出错的表达式：{expression}"),
                format!("the expression that failed: {expression}"),
            );
            facts.push(word("expression", expression, source("/details"), says));
        }
    }
    if let Some(runs) = stage.and_then(|s| view.job.stages[s].runs.as_ref())
        && let Some((event, times)) = runs.events.first()
    {
        let source = Source {
            file: runs.file.clone(),
            locator: stage.map(|s| view.name(s).to_owned()),
        };
        let says = text(
            format!("{event}（{times} 次）"),
            format!("{event} ({times} times)"),
        );
        facts.push(word("vertex event", event, source, says));
    }
    if facts.is_empty()
        && let Some(source) = view.job.info.sources.get("state")
    {
        facts.push(word(
            "State",
            "failed",
            source.clone(),
            text("作业失败", "the job failed"),
        ));
    }
    facts
}
