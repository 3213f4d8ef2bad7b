//! Caches that drop a part of their rows, which later stages compute again.

use std::collections::{BTreeMap, BTreeSet};

use job::code::Part;
use job::model::{Application, SparkNode};

use super::support::Symptom;
use crate::facts::fact;
use crate::impact::scale_run;
use crate::measurements::plan_parts::{input_of, stages_below};
use crate::view::View;
use report::format::{FewNames, ROW, Seconds};
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

/// A symptom for each cache whose rows several stages compute.
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
    let of_cache = |stages: BTreeSet<usize>| symptom(view, &stages);
    caches.into_values().filter_map(of_cache).collect()
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

/// Whether all files that a stage scans are those of the stage that filled the cache.
fn scans_the_same(view: &View<'_>, filler: usize, stage: usize) -> bool {
    let texts = |stage| -> BTreeSet<&str> {
        let nodes = view.scans.get(&stage).into_iter().flatten();
        nodes.map(|node| node.text.as_str()).collect()
    };
    texts(filler) == texts(stage)
}

fn symptom(view: &View<'_>, stages: &BTreeSet<usize>) -> Option<Symptom> {
    let run = view.run.as_ref()?;
    let known = stages
        .iter()
        .filter_map(|s| Some((*s, rows_of_files(view, *s)?)));
    let known: Vec<_> = known.filter(|(s, _)| *s < run.stages.len()).collect();
    // of equals, the first one
    let most = known.iter().rev().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let (filler, (all, _)) = (most.0, most.1);
    let filled_s = run.stages[filler].run_s();
    let is_again = |stage: usize, rows: f64| {
        stage > filler && rows >= LEAST * all && scans_the_same(view, filler, stage)
    };
    let again: Vec<_> = known
        .iter()
        .filter(|(stage, (rows, _))| is_again(*stage, *rows))
        .map(|(stage, (rows, source))| (*stage, *rows, *source, filled_s * rows / all))
        .collect();
    let (first, ..) = again.first()?;
    let names: Vec<&str> = again.iter().map(|(stage, ..)| view.name(*stage)).collect();
    let rows: f64 = again.iter().map(|(_, rows, ..)| rows).sum();
    let seconds: f64 = again.iter().map(|(.., seconds)| seconds).sum();
    let kept = again.iter().map(|(stage, .., seconds)| {
        let share = seconds / run.stages[*stage].run_s();
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
            rows = ROW.count(rows),
            time = Seconds(seconds),
        ),
        evidence: again
            .iter()
            .map(|(stage, rows, source, _)| {
                fact! { view, RECOMPUTED, *rows, "count", (*source).clone();
                "{name} 又读取 {count}，用来计算缓存的数据", "{name} reads {count} again to compute cached data",
                name = view.name(*stage), count = ROW.count(*rows) }
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
