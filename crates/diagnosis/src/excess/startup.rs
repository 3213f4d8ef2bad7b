//! Start-up of needless tasks: launching them and loading their code.

use job::model::Application;
use report::{Cause, SegmentKind, text};

use super::shares::shares;
use super::{Excess, Unclaimed, stages_named};
use crate::impact::StageWork;
use crate::measurements::tasks::small_files;
use crate::measurements::tiny;
use crate::view::View;
use report::format::{Seconds, Share, VERTEX};

/// Rounds of tasks on every slot that even a well divided stage has.
const USUAL_WAVES: f64 = 3.0;

/// Starting the vertices of all stages together, beyond a few rounds of them on all slots.
pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    // for SCOPE jobs, the rule about tiny vertices examines the size of vertices
    let app = view.job.spark.as_deref()?;
    let run = view.run.as_ref().filter(|run| run.has_tokens())?;
    let share = |stage: usize, taken: f64| {
        Some(beyond_s(&run.stages[stage], run.tokens).min(taken) / taken)
    };
    let shares = shares(unclaimed, &[SegmentKind::Startup], share)?;
    let (worst, _) = shares.worst;
    let work = &run.stages[worst];
    let count = work.vertices.len();
    let [start, ran] = [work.start_s(), work.run_s()].map(|s| s / count as f64);
    let summary = text!(
        "{names} 有 {time} 用于启动任务：{worst} 有 {vertices}，每个启动 {start}，运行 {ran}，启动占 {share}",
        "{names} spend {time} starting tasks: {worst} has {vertices} that take {start} to start and run {ran} each, {share} of it start-up",
        names = stages_named(view, &shares.stages),
        time = shares.seconds(),
        worst = view.name(worst),
        vertices = VERTEX.count(count as f64),
        start = Seconds(start),
        ran = Seconds(ran),
        share = Share(start / (start + ran).max(f64::MIN_POSITIVE)),
    );
    Some(Excess {
        method: "start-up on the critical path, less the start-up of three rounds of tasks on all slots",
        ..shares.excess(
            cause(view, app, worst),
            summary,
            tiny::evidence(view, worst),
            0.8,
        )
    })
}

/// Seconds that a slot spends starting vertices beyond the usual number of rounds. Each start counts with the median: a slow machine, or
/// the first round, which loads code, does not depend on the number of vertices.
fn beyond_s(work: &StageWork, tokens: usize) -> f64 {
    let mut starts: Vec<f64> = work.vertices.iter().map(|v| v.start_s).collect();
    starts.sort_by(f64::total_cmp);
    let median = starts.get(starts.len() / 2).copied().unwrap_or(0.0);
    let rounds = starts.len() as f64 / tokens as f64;
    median * (rounds - USUAL_WAVES).max(0.0)
}

fn cause(view: &View<'_>, app: &Application, stage: usize) -> Cause {
    match small_files(view, app, stage).is_some() || app.stages[stage].lists_files() {
        true => Cause::SmallFiles,
        false => Cause::TinyVertices,
    }
}
