//! Cost of the run in vertex time, and the wasted part of it.

use job::script::Dialect;
use report::Cost;

use crate::impact::StageWork;
use crate::view::View;

const HOUR_S: f64 = 3600.0;

/// Seconds of vertices that stages start and run, without attempts that were lost.
pub(super) fn useful_s(stages: &[StageWork]) -> f64 {
    let vertices = stages.iter().flat_map(|s| &s.vertices);
    vertices.map(|v| v.start_s + v.run_s).sum()
}

/// Hours of vertices between two states of the work, lost attempts included.
pub(super) fn hours_between(before: &[StageWork], after: &[StageWork]) -> f64 {
    let all = |stages: &[StageWork]| -> f64 {
        let vertices = stages.iter().flat_map(|s| &s.vertices);
        vertices.map(|v| v.total_s()).sum()
    };
    (all(before) - all(after)) / HOUR_S
}

/// The cost of a run; `None` unless the work of every stage is known. `fixed` is the work with all
/// findings fixed.
pub(crate) fn cost(view: &View<'_>, fixed: Option<&[StageWork]>) -> Option<Cost> {
    let run = view.run.as_ref()?;
    if run.stages.iter().any(|s| s.vertices.is_empty()) {
        return None;
    }
    let lost = |stage: usize| match &view.job.stages[stage].runs {
        Some(runs) => runs.wasted_ms / 1000.0,
        None => run.stages[stage].vertices.iter().map(|v| v.wasted_s).sum(),
    };
    let lost_s: f64 = (0..run.stages.len()).map(lost).sum();
    let useful = useful_s(&run.stages);
    let avoidable = fixed.map_or(0.0, |fixed| (useful - useful_s(fixed)).max(0.0));
    let script = view.job.script.as_ref();
    Some(Cost {
        vertex_hours: Some((useful + lost_s) / HOUR_S),
        wasted_vertex_hours: Some((lost_s + avoidable) / HOUR_S),
        unit: match script.map(|s| s.dialect) {
            _ if view.job.spark.is_some() => "executor-core-hour".to_owned(),
            Some(Dialect::USql) => "AU-hour".to_owned(),
            _ => "vertex-hour".to_owned(),
        },
    })
}
