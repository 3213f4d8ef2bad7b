//! Vertices with almost no work, and the small files behind them.

use job::model::{Operator, Source, Table};

use super::load;
use super::sizing::{bytes_read, merged_vertices, overhead_s, starting_s};
use crate::facts::fact;
use crate::impact::{Saved, regroup};
use crate::settings::threshold;
use crate::view::View;
use report::Evidence;
use report::format::Bytes;

threshold! {
    /// Mean size up to which a file is small.
    pub(crate) MAX_FILE = 125e6, "bytes", "small_files.max_bytes";
    "默认每个文件一个顶点；不到半个区段（250 MB）的文件可以合并", "by default each file gets a vertex; those below half an extent (250 MB) could share one";
    "documentation of the service (one vertex per file)"
}

threshold! {
    /// Least share of start-up in the time of vertices for them to be too small.
    pub(crate) MIN_START = 0.1, "share", "tiny_vertices.min_start_share";
    "启动一个顶点需 1–3 秒；占不到十分之一，合并顶点也省不了多少", "starting a vertex takes one to three seconds; under a tenth of its time, fewer vertices save little";
    "judgment; the replayed saving decides"
}

/// Share of the time of a stage's vertices that is start-up; `None` if unknown.
pub(crate) fn start_share(view: &View<'_>, stage: usize) -> Option<f64> {
    let work = &view.run.as_ref()?.stages[stage];
    let all = work.start_s() + work.run_s();
    (all > 0.0).then_some(starting_s(view, stage)? / all)
}

/// Whether start-up takes much of the time of a stage's vertices, and its data requires at most half of them: the size of the
/// optimizer's partitions varies by up to a factor of two. `None` if unknown.
pub(crate) fn is_tiny(view: &View<'_>, stage: usize) -> Option<bool> {
    let vertices = view.vertices(stage)? as usize;
    let starting = start_share(view, stage)? >= view.limit(&MIN_START);
    Some(starting && merged_vertices(view, stage)? * 2 <= vertices)
}

/// Saving with fewer vertices: start-ups, and the time that each vertex spends outside its
/// operators.
pub(crate) fn saved(view: &View<'_>, stage: usize) -> Option<Saved> {
    let fitting = merged_vertices(view, stage)?;
    let overhead = overhead_s(view, stage)?;
    view.saved_in(stage, move |stage| regroup(stage, fitting, overhead))
}

/// The files that a stage reads.
pub(crate) struct Files {
    pub(crate) operator: usize,
    pub(crate) name: String,
    pub(crate) count: f64,
    pub(crate) mean_bytes: f64,
    pub(crate) source: Option<Source>,
}

/// Small files that a stage reads one vertex each: by the table's metadata; for text without
/// metadata, by the engine's default.
pub(crate) fn reads_small_files(view: &View<'_>, stage: usize) -> Option<Files> {
    let n = view.vertices(stage)? as f64;
    let all = bytes_read(view, stage)?;
    view.extracts(stage).find_map(|(operator, o)| {
        let files = match view.table_of(stage, o) {
            Some(table) => of_table(operator, table)?,
            None if o.id.starts_with("Extract") => Files {
                operator,
                name: o.id.clone(),
                count: n,
                mean_bytes: all / n,
                source: None,
            },
            None => return None,
        };
        let small = files.mean_bytes <= view.limit(&MAX_FILE);
        (small && n >= files.count * 0.3).then_some(files)
    })
}

/// Whether a stage may read only stored data, and no file has the number of its input files.
pub(crate) fn reads_unknown_files(view: &View<'_>, stage: usize) -> bool {
    let mut stored = view.extracts(stage).map(|(_, o)| o);
    let untold = |o: &Operator| match view.table_of(stage, o) {
        Some(table) => table.file_count.is_none(),
        None => !o.id.starts_with("Extract"),
    };
    let is_undefined = view.job.stages[stage].operators.is_empty();
    view.inputs(stage).next().is_none() && (is_undefined || stored.any(untold))
}

fn of_table(operator: usize, table: &Table) -> Option<Files> {
    let count = table.file_count? as f64;
    let source = table
        .sources
        .get("file_count")
        .or_else(|| table.sources.values().next())
        .cloned();
    Some(Files {
        operator,
        name: table.name.clone(),
        count,
        mean_bytes: table.bytes? as f64 / count.max(1.0),
        source,
    })
}

pub(crate) fn evidence(view: &View<'_>, stage: usize) -> Vec<Evidence> {
    let mut facts: Vec<Evidence> = Vec::new();
    let of = &view.facts[stage];
    if let Some(counted) = &of.counted {
        facts.extend(view.measured(&counted.run_ms, "ms"));
        facts.extend(view.measured(&counted.bytes_read, "bytes"));
        if let (Some(n), Some(all)) = (view.vertices(stage), &counted.bytes_read) {
            let each = all.value / n as f64;
            let metric = format!("{} / vertices", all.metric);
            facts.push(fact! { view, &metric, each, "bytes", all.source();
            "每个顶点读取 {size}", "each vertex reads {size}", size = Bytes(each) });
        }
    }
    if let Some(stated) = &of.stated {
        facts.extend(view.measured(&stated.vertices, "vertices"));
        facts.extend(view.measured(&stated.bytes_read, "bytes"));
    }
    if facts.is_empty() {
        facts.extend(load::evidence(view, stage, 0.0));
    }
    facts
}
