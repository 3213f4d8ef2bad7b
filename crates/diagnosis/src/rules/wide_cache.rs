//! Caches with columns that no query reads.

use std::collections::{BTreeMap, BTreeSet};

use job::code::Part;
use job::model::{Application, SparkNode};

use super::support::Symptom;
use crate::facts::fact;
use crate::impact::scale_run;
use crate::measurements::plan_parts::{columns_in, input_of};
use crate::view::View;
use report::format::{Bytes, Number};
use report::text;

/// Formats with which a query reads only the columns that it needs.
const COLUMNAR: [&str; 2] = ["Parquet", "ORC"];

/// Largest share of the cached columns that is read from a cache with too many.
const FEW: f64 = 0.5;

/// A cache of columns from files.
#[derive(Default)]
struct Cache<'a> {
    columns: usize,
    used: BTreeSet<&'a str>,
    /// Stages that fill it.
    stages: BTreeSet<usize>,
    line: u64,
}

/// A symptom for each cache of a columnar source of which the queries read few columns.
pub(super) fn symptoms(view: &View<'_>, app: &Application) -> Vec<Symptom> {
    let mut caches: BTreeMap<&str, Cache<'_>> = BTreeMap::new();
    for execution in &app.executions {
        let plan = execution.plan.as_slice();
        let tables = (0..plan.len()).filter(|at| plan[*at].reads_cache());
        for (at, scan) in tables.filter_map(|at| Some((at, scan_below(plan, at)?))) {
            let Some(place) = scan.metadata.get("Location") else {
                continue;
            };
            let cache = caches.entry(place).or_default();
            cache.columns = cache.columns.max(columns_of(scan));
            cache.used.extend(columns_in(&plan[at].text));
            cache.stages.extend(&scan.stages);
            cache.line = execution.line;
        }
    }
    let found = caches.into_iter();
    found
        .filter_map(|(place, cache)| symptom(view, app, place, &cache))
        .collect()
}

/// The scan of files that fills a cache, if only projections are between.
fn scan_below(plan: &[SparkNode], mut at: usize) -> Option<&SparkNode> {
    loop {
        at = input_of(plan, at)?;
        let (node, name) = (&plan[at], plan[at].name.trim());
        if name.starts_with("Scan") {
            let format = node.metadata.get("Format")?;
            return COLUMNAR.contains(&format.as_str()).then_some(node);
        }
        let passes = ["InputAdapter", "ColumnarToRow", "Project"].contains(&name);
        (passes || name.starts_with("WholeStageCodegen")).then_some(())?;
    }
}

/// Number of columns of a scan, whose text names the first of them and counts the rest.
fn columns_of(scan: &SparkNode) -> usize {
    let list = scan.text.split(']').next().unwrap_or_default();
    let rest = list
        .rsplit_once("... ")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    columns_in(list).count() + rest.unwrap_or(0)
}

fn symptom(view: &View<'_>, app: &Application, place: &str, cache: &Cache<'_>) -> Option<Symptom> {
    let (used, all) = (cache.used.len() as f64, cache.columns as f64);
    let filling = cache
        .stages
        .iter()
        .copied()
        .filter(|s| *s < view.facts.len());
    let bytes = |s: &usize| {
        let read = view.facts[*s].per_vertex.stored_bytes_read.as_ref();
        read.map_or(0.0, |read| read.value.total)
    };
    let stage = filling.max_by(|a, b| bytes(a).total_cmp(&bytes(b)))?;
    let share = used / all.max(1.0);
    (used > 0.0 && share <= FEW).then_some(())?;
    let sentence = text!(
        "缓存有 {all} 列，查询只读其中 {used} 列",
        "the cache has {all} columns, and the queries read {used} of them",
        all = Number(all),
        used = Number(used),
    );
    Some(Symptom {
        stage: Some(stage),
        lines: view.lines_needed(stage, Part::Cache),
        summary: text!(
            "{stage} 为缓存从文件读取 {size}：{sentence}",
            "{stage} reads {size} from files into a cache: {sentence}",
            stage = view.name(stage),
            size = Bytes(bytes(&stage)),
            sentence = sentence,
        ),
        evidence: vec![
            fact! { view, "cached columns", all, "count", app.at_line(cache.line);
            "{place}：{sentence}", "{place}: {sentence}", sentence = sentence },
        ],
        saved: view.saved_in(stage, move |stage| scale_run(stage, share)),
        method: "schedule replayed with the share of the columns that the queries read",
        strength: 0.8,
    })
}
