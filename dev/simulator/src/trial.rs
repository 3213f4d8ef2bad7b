//! One trial of a job: compiled, then scheduled.

use crate::cause::{Cause, Site};
use crate::compile::compile;
use crate::physical::Physical;
use crate::plan::Spec;
use crate::schedule::{self, Fatal, Run};

/// Longest time of a vertex, in seconds.
pub(crate) const VERTEX_LIMIT_S: f64 = 18_000.0;

pub(crate) fn trial(spec: &Spec, causes: &[Cause], sites: &[Site]) -> (Physical, Run) {
    let physical = compile(spec);
    let place = |cause: Cause| {
        let site = sites.iter().find(|s| s.cause == cause)?;
        physical.stage_of(site.node?)
    };
    let fatal = if causes.contains(&Cause::UserCode) {
        place(Cause::UserCode).map(Fatal::UserCode)
    } else if causes.contains(&Cause::Limit) {
        place(Cause::Limit).map(|s| limit(&physical, s))
    } else {
        None
    };
    let run = schedule::run(spec, &physical, fatal);
    (physical, run)
}

/// The limit that a stage hits: time for user code, else temporary storage.
fn limit(physical: &Physical, stage: usize) -> Fatal {
    if physical.stages[stage].managed {
        Fatal::Timeout(stage, VERTEX_LIMIT_S)
    } else {
        Fatal::TempData(stage)
    }
}

/// Elapsed seconds of a changed job.
pub(crate) fn elapsed(spec: &Spec) -> f64 {
    trial(spec, &[], &[]).1.elapsed
}
