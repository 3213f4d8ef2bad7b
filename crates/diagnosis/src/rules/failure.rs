//! What a failed job failed of: told apart once for the three failure rules.

use job::model::{Job, JobError, Source};

use super::support::Draft;
use crate::facts::{text, word};
use crate::model::{Cause, Fact, Text};
use crate::view::View;

/// Error ids of the job manager that mean a limit.
const LIMITS: [&str; 8] = [
    "TIMEOUT",
    "TIME_LIMIT",
    "LIMIT",
    "QUOTA",
    "EXCEED",
    "OUTOFMEMORY",
    "OUT_OF_MEMORY",
    "TEMPDATA",
];

/// What kind of failure an error is; `None` if it does not tell.
pub(crate) fn kind(error: &JobError) -> Option<Cause> {
    let id = error.id.as_deref().unwrap_or_default().to_uppercase();
    let component = error
        .component
        .as_deref()
        .unwrap_or_default()
        .to_uppercase();
    let origin = error.origin.as_deref().unwrap_or_default().to_uppercase();
    let compiling = component.contains("COMPIL")
        || component.contains("CSC")
        || id.starts_with("E_CSC")
        || id.contains("COMPILE");
    if compiling {
        return Some(Cause::CompileFailure);
    }
    let threw_in_user_code = ["RUNTIME_USER", "UNHANDLED_EXCEPTION", "EXPRESSION"]
        .iter()
        .any(|u| id.contains(u));
    if LIMITS.iter().any(|l| id.contains(l)) && !threw_in_user_code {
        return Some(Cause::LimitFailure);
    }
    let threw = error.expression.is_some() || error.class_name.is_some();
    if id.contains("_USER_") || origin == "USER" || threw {
        return Some(Cause::UserCodeFailure);
    }
    let words = format!(
        "{} {}",
        error.message,
        error.description.as_deref().unwrap_or_default()
    )
    .to_lowercase();
    let limit = [
        "longer than the limit",
        "limit exceeded",
        "exceeded the limit",
        "out of memory",
        "maximum temporary",
    ];
    limit
        .iter()
        .any(|l| words.contains(l))
        .then_some(Cause::LimitFailure)
}

/// The first error that is of this kind.
pub(crate) fn error_of(job: &Job, cause: Cause) -> Option<&JobError> {
    job.errors
        .iter()
        .find_map(|e| kind(e).map(|k| (k, e)))
        .filter(|(k, _)| *k == cause)
        .map(|(_, e)| e)
}

/// Whether the job failed on a limit.
pub(crate) fn hit_limit(view: &View<'_>) -> bool {
    error_of(view.job, Cause::LimitFailure).is_some()
        || (view.job.errors.is_empty() && event_kind(view) == Some(Cause::LimitFailure))
}

/// What the vertex events say, where there is no error file: the id of the last failures.
pub(crate) fn event_kind(view: &View<'_>) -> Option<Cause> {
    let ids = view
        .job
        .stages
        .iter()
        .filter_map(|s| s.runs.as_ref())
        .flat_map(|r| &r.events)
        .map(|(m, _)| m.to_uppercase());
    let mut kind = None;
    for id in ids {
        if id.contains("E_RUNTIME_USER") {
            return Some(Cause::UserCodeFailure);
        }
        if LIMITS.iter().any(|l| id.contains(l)) {
            kind = Some(Cause::LimitFailure);
        }
    }
    kind
}

/// Whether a failed job's reason is not known at all.
pub(crate) fn unknown(view: &View<'_>) -> bool {
    view.failed() && view.job.errors.iter().all(|e| kind(e).is_none()) && event_kind(view).is_none()
}

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

/// The stage that the error names, else the one with the most failures.
pub(crate) fn stage_of(view: &View<'_>, error: Option<&JobError>) -> Option<usize> {
    let named = error
        .and_then(|e| e.stage.as_deref())
        .and_then(|name| view.job.stage_index(name));
    named.or_else(|| {
        let failed = |s: usize| view.job.stages[s].runs.as_ref().map_or(0, |r| r.failed);
        let most = (0..view.job.stages.len())
            .filter(|s| failed(*s) > 0)
            .max_by_key(|s| failed(*s));
        most.or_else(|| (view.failed() && view.job.stages.len() == 1).then_some(0))
    })
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
