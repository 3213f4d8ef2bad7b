//! Why a job failed, by its errors and its vertex events.

use job::model::{Job, JobError, Source};
use job::runs::RunState;

use crate::view::View;
use report::Cause;

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
    if id.contains("_USER_") || threw {
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
        "exceeds the limit",
        "out of memory",
        "maximum temporary",
    ];
    let beyond = ["exceed", "bigger than", "larger than"];
    let of_setting = words.contains("spark.") && beyond.iter().any(|b| words.contains(b));
    if of_setting || limit.iter().any(|l| words.contains(l)) {
        return Some(Cause::LimitFailure);
    }
    (origin == "USER").then_some(Cause::UserCodeFailure)
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

/// The vertex whose failure ended the job.
#[derive(Debug, Default)]
pub(crate) struct FailedVertex {
    pub(crate) vertex: Option<String>,
    pub(crate) machine: Option<String>,
    /// Where the vertex events have it; `None` if the error itself names it.
    pub(crate) source: Option<Source>,
}

/// The vertex that the error names, else the last attempt of the stage that failed.
pub(crate) fn last_failure(
    view: &View<'_>,
    error: &JobError,
    stage: Option<usize>,
) -> FailedVertex {
    if error.vertex.is_some() || error.machine.is_some() {
        return FailedVertex {
            vertex: error.vertex.clone(),
            machine: error.machine.clone(),
            source: None,
        };
    }
    let Some((stage, runs)) = stage.and_then(|s| Some((s, view.job.stages[s].runs.as_ref()?)))
    else {
        return FailedVertex::default();
    };
    let failed = runs.runs.iter().filter(|r| r.state == RunState::Failed);
    let Some(last) = failed.max_by_key(|r| r.ended_ms) else {
        return FailedVertex::default();
    };
    let machine = runs.machines.get(last.machine as usize);
    FailedVertex {
        vertex: Some(format!("{}[{}]", view.name(stage), last.index)),
        machine: machine.map(|m| m.to_string()),
        source: Some(Source {
            file: runs.file.clone(),
            locator: Some(format!("line {}", last.line)),
        }),
    }
}
