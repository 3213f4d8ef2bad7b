//! Starting tasks: launching them and loading their code, for more tasks than the work needs.

use report::{Cause, SegmentKind, text};

use super::{Excess, Parts, Unclaimed, stages_named};
use crate::impact::{Fix, StageWork, regroup};
use crate::measurements::tasks::small_files;
use crate::measurements::tiny::reads_small_files;
use crate::view::View;
use report::format::{Seconds, Share, VERTEX};

/// Rounds of tasks on every slot that even a well divided stage has.
const USUAL_WAVES: f64 = 3.0;

/// Starting the vertices of all stages together, beyond a few rounds of them on all slots.
pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    // the vertices of a SCOPE job are as large as its data asks for, which its own rule examines
    view.job.spark.as_ref()?;
    let run = view.run.as_ref().filter(|run| run.has_tokens())?;
    let mut found: Vec<(usize, Parts, f64)> = Vec::new();
    let usual = run.tokens as f64 * USUAL_WAVES;
    let many = |stage: &usize| run.stages[*stage].vertices.len() as f64 > usual;
    let starting = unclaimed.by_stage(&[SegmentKind::Startup]).into_iter();
    for (stage, parts) in starting.filter(|(stage, _)| many(stage)) {
        let taken: f64 = parts.iter().map(|(_, s)| s).sum();
        let beyond = beyond_s(&run.stages[stage], run.tokens).min(taken);
        let parts = parts.into_iter().map(|(at, s)| (at, s * beyond / taken));
        found.push((stage, parts.collect(), beyond));
    }
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    let stages: Vec<usize> = found.iter().map(|(stage, ..)| *stage).collect();
    let worst = *stages.first()?;
    let work = &run.stages[worst];
    let count = work.vertices.len();
    let [start, ran] = [work.start_s(), work.run_s()].map(|s| s / count as f64);
    let seconds: f64 = found.iter().map(|(.., s)| s).sum();
    let edited = stages.clone();
    let mut evidence = crate::measurements::tiny::evidence(view, worst);
    let parts: Vec<(usize, f64)> = found.into_iter().flat_map(|(_, p, _)| p).collect();
    evidence.extend(unclaimed.evidence(&parts));
    Some(Excess {
        cause: cause(view, worst),
        summary: text!(
            "{names} 有 {time} 用于启动任务：{worst} 有 {vertices}，每个启动 {start}，运行 {ran}，启动占 {share}",
            "{names} spend {time} starting tasks: {worst} has {vertices} that take {start} to start and run {ran} each, {share} of it start-up",
            names = stages_named(view, &stages),
            time = Seconds(seconds),
            worst = view.name(worst),
            vertices = VERTEX.count(count as f64),
            start = Seconds(start),
            ran = Seconds(ran),
            share = Share(start / (start + ran).max(f64::MIN_POSITIVE)),
        ),
        parts,
        stages,
        evidence,
        certainty: 0.8,
        method: "start-up on the critical path, less that of three rounds of tasks on all slots",
        fix: Some(Fix::work(move |works| {
            for stage in &edited {
                regroup(&mut works[*stage], usual as usize, 0.0);
            }
        })),
    })
}

/// Seconds that a slot spends starting vertices beyond the usual number of rounds, each as long as the median: a slow machine or the
/// first round, which loads code, is no matter of how many there are.
fn beyond_s(work: &StageWork, tokens: usize) -> f64 {
    let mut starts: Vec<f64> = work.vertices.iter().map(|v| v.start_s).collect();
    starts.sort_by(f64::total_cmp);
    let median = starts.get(starts.len() / 2).copied().unwrap_or(0.0);
    let rounds = starts.len() as f64 / tokens as f64;
    median * (rounds - USUAL_WAVES).max(0.0)
}

fn cause(view: &View<'_>, stage: usize) -> Cause {
    let small = match view.job.spark.as_deref() {
        Some(app) => small_files(view, app, stage).is_some() || app.stages[stage].lists_files(),
        None => reads_small_files(view, stage).is_some(),
    };
    match small {
        true => Cause::SmallFiles,
        false => Cause::TinyVertices,
    }
}
