//! Caches that drop a part of their rows, which later stages compute again.

use std::collections::{BTreeMap, BTreeSet};

use job::code::Part;
use job::model::{Application, SparkNode};

use super::support::Symptom;
use crate::facts::fact;
use crate::impact::scale_run;
use crate::measurements::plan_parts::{input_of, stages_below};
use crate::view::View;
use report::format::{FewNames, ROW, Seconds, Share};
use report::{Source, text};

/// Least share of the cached rows that a stage computes again. Reading a cache counts its batches of rows as rows.
const LEAST: f64 = 0.05;

/// Rows that a stage reads from files, with the place of their number.
fn rows_of_files<'a>(view: &'a View<'_>, stage: usize) -> Option<(f64, &'a Source)> {
    let rows = view.facts.get(stage)?.per_vertex.rows_read.as_ref()?;
    (rows.value.total > 0.0).then_some((rows.value.total, rows.sources.first()?))
}

/// Metric of the rows that a stage computes again, in evidence.
pub const RECOMPUTED: &str = "cached rows computed again";

/// A symptom for each cache with rows that several stages compute.
pub(super) fn symptoms(view: &View<'_>, app: &Application) -> Vec<Symptom> {
    let mut caches: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for execution in &app.executions {
        let plan = execution.plan.as_slice();
        let tables = (0..plan.len()).filter(|at| plan[*at].reads_cache());
        for below in tables.filter_map(|at| input_of(plan, at)) {
            caches
                .entry(texts_below(plan, below))
                .or_default()
                .extend(stages_below(plan, below));
        }
    }
    let planned: BTreeSet<usize> = caches.values().flatten().copied().collect();
    let of_plans = caches.into_values().filter_map(|stages| {
        let filler = most_rows(view, &stages)?;
        symptom(view, &stages, filler, |stage, share| {
            scans_the_same(view, filler, stage).then_some(share)
        })
    });
    let of_rdds = app.cached.iter().filter_map(|cached| {
        let stages: BTreeSet<usize> = cached.stages.iter().copied().collect();
        let counts = stages.is_disjoint(&planned);
        let filler = *stages.first().filter(|_| counts)?;
        let again = |stage, _| share_of_same_slices(view, filler, stage);
        symptom(view, &stages, filler, again)
    });
    of_plans.chain(of_rdds).collect()
}

/// Share of a cache's partitions that a stage computes again from the files: a task that reads the cached partition reads another
/// number of bytes than the task that filled it. `None` without the tasks of both.
fn share_of_same_slices(view: &View<'_>, filler: usize, stage: usize) -> Option<f64> {
    let slices = |stage: usize| -> Option<BTreeMap<u32, u64>> {
        let runs = view.job.stages[stage].runs.as_ref()?.runs.iter();
        Some(runs.map(|run| (run.index, run.bytes_read)).collect())
    };
    let (filled, read) = (slices(filler)?, slices(stage)?);
    let same = |(index, bytes): &(&u32, &u64)| **bytes > 0 && filled.get(index) == Some(bytes);
    Some(read.iter().filter(same).count() as f64 / filled.len().max(1) as f64)
}

/// Identity of cached rows: the nodes that compute them, with Spark's column numbers.
fn texts_below(plan: &[SparkNode], node: usize) -> String {
    let mut at = Some(node);
    let chain = std::iter::from_fn(|| {
        let node = at?;
        at = input_of(plan, node);
        Some(plan[node].text.as_str())
    });
    chain.collect::<Vec<_>>().join("\n")
}

/// Whether a stage scans the same files as the stage that filled the cache.
fn scans_the_same(view: &View<'_>, filler: usize, stage: usize) -> bool {
    let texts = |stage| -> BTreeSet<&str> {
        let nodes = view.scans.get(&stage).into_iter().flatten();
        nodes.map(|node| node.text.as_str()).collect()
    };
    texts(filler) == texts(stage)
}

/// The stage that reads most rows; of equals, the first one.
fn most_rows(view: &View<'_>, stages: &BTreeSet<usize>) -> Option<usize> {
    let known = stages.iter().rev();
    let known = known.filter_map(|stage| Some((*stage, rows_of_files(view, *stage)?.0)));
    let most = known.max_by(|a, b| a.1.total_cmp(&b.1));
    most.map(|(stage, _)| stage)
}

/// `again` gives the share of the cached rows that a stage computes again, from the stage and its rows relative to the rows of the `filler`, the
/// stage that filled the cache.
fn symptom(
    view: &View<'_>,
    stages: &BTreeSet<usize>,
    filler: usize,
    again: impl Fn(usize, f64) -> Option<f64>,
) -> Option<Symptom> {
    let run = view.run.as_ref()?;
    let (all, _) = rows_of_files(view, filler)?;
    let later = stages.range(filler + 1..run.stages.len());
    let known = later.filter_map(|stage| Some((*stage, rows_of_files(view, *stage)?)));
    let filled_s = run.stages[filler].run_s();
    let again = known.filter_map(|(stage, (rows, source))| {
        let share = again(stage, rows / all).filter(|share| *share >= LEAST)?;
        Some((stage, share, rows, source))
    });
    let again: Vec<_> = again.collect();
    let (first, ..) = again.first()?;
    let names: Vec<&str> = again.iter().map(|(stage, ..)| view.name(*stage)).collect();
    let shares: f64 = again.iter().map(|(_, share, ..)| share).sum();
    let kept = again.iter().map(|(stage, share, ..)| {
        let share = filled_s * share / run.stages[*stage].run_s();
        (*stage, 1.0 - share.min(1.0))
    });
    let kept: Vec<(usize, f64)> = kept.collect();
    Some(Symptom {
        stage: Some(*first),
        lines: view.lines_needed(filler, Part::Cache),
        summary: text!(
            "缓存没有留住全部数据：{filler} 计算的 {all}，之后的 {names} 又计算了 {rows}，约 {time} 的任务时间",
            "the cache does not keep its data: of the {all} that {filler} computes for it, {names} compute {rows} again, about {time} of task time",
            filler = view.name(filler),
            all = ROW.count(all),
            names = FewNames(&names),
            rows = ROW.count(all * shares),
            time = Seconds(filled_s * shares),
        ),
        evidence: again
            .iter()
            .map(|(stage, share, rows, source)| {
                fact! { view, RECOMPUTED, *rows, "count", (*source).clone();
                "{name} 读取 {count}，又计算缓存数据的 {share}", "{name} reads {count}, and computes {share} of the cached data again",
                name = view.name(*stage), count = ROW.count(*rows), share = Share(*share) }
            })
            .collect(),
        saved: view.saved(move |stages| {
            for (stage, share) in &kept {
                scale_run(&mut stages[*stage], *share);
            }
        }),
        method: "schedule replayed without computing cached rows again, at the speed at which the cache was filled",
        strength: 0.9,
    })
}
