//! Place of a job's failure: the limit, the stage, the vertex. the crate `failure` has the reason.

use job::model::{JobError, Source};
use job::runs::RunState;

use crate::facts::at_line;
use crate::view::View;

/// Whether the job failed on a limit that less work for a vertex avoids.
pub(crate) fn hit_limit(view: &View<'_>) -> bool {
    view.failure().is_some_and(|f| f.class.is_of_work())
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

/// The failed vertex that ended the job.
#[derive(Debug, Default)]
pub(crate) struct FailedVertex {
    pub(crate) vertex: Option<String>,
    pub(crate) machine: Option<String>,
    /// Place in the vertex events; `None` if the error itself names the vertex.
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
        source: Some(at_line(&runs.file, last.line)),
    }
}
