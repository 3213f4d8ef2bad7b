//! Number of vertices that a stage's data requires.

use job::model::ExchangeKind;

use super::contention::{contention, empty_python_ms, has_few_rows};
use crate::impact::StageWork;
use crate::settings::threshold;
use crate::view::View;

/// Share of start-up in the time of a vertex with enough work.
const LITTLE_START: f64 = 0.2;

/// Milliseconds that an empty task of an application takes, on an idle core.
const EMPTY_TASK_MS: f64 = 10.0;

threshold! {
    /// Bytes that a vertex usually reads from an exchange.
    pub(crate) SHUFFLE_BYTES = 256e6, "bytes", "sizing.shuffle_bytes_per_vertex";
    "优化器按约 250 MB 一个分区选择分区数（实际 150–500 MB）", "the optimizer chooses partitions of about 250 MB (150 to 500 MB in fact)";
    "partition counts of healthy simulated jobs"
}

threshold! {
    /// Bytes that a vertex usually reads from storage.
    pub(crate) STORED_BYTES = 512e6, "bytes", "sizing.stored_bytes_per_vertex";
    "读取存储的顶点通常一个区段（约 0.5–1 GB）", "a vertex that reads storage usually takes an extent (0.5 to 1 GB)";
    "healthy simulated jobs"
}

threshold! {
    /// Bytes per vertex of a stage with too few vertices.
    pub(crate) HEAVY_BYTES = 512e6, "bytes", "sizing.heavy_bytes_per_vertex";
    "优化器最多给每个顶点约 500 MB；再多又有空闲令牌，就是顶点太少", "the optimizer gives a vertex 500 MB at most; with more, and tokens to spare, there are too few";
    "partition counts of healthy simulated jobs"
}

threshold! {
    /// Like [`HEAVY_BYTES`], for stages that read storage.
    pub(crate) HEAVY_STORED_BYTES = 1.5e9, "bytes", "sizing.heavy_stored_bytes_per_vertex";
    "读取存储的顶点通常不超过 1 GB；一个 gzip 文件只能由一个顶点读取", "a vertex rarely reads more than 1 GB of storage; one gzip file is read by one vertex";
    "healthy simulated jobs; documentation of the service"
}

/// Whether a stage reads an exchange rather than storage.
pub(crate) fn reads_exchange(view: &View<'_>, stage: usize) -> bool {
    view.inputs(stage).any(|e| {
        matches!(
            e.exchange,
            ExchangeKind::Hash | ExchangeKind::Range | ExchangeKind::Gather
        )
    })
}

/// Bytes that all vertices of a stage read.
pub(crate) fn bytes_read(view: &View<'_>, stage: usize) -> Option<f64> {
    let bytes = view.run.as_ref().map(|r| r.stages[stage].bytes())?;
    (bytes > 0.0).then_some(bytes)
}

/// Number of vertices that the data of a stage requires.
pub fn fitting_vertices(view: &View<'_>, stage: usize) -> Option<usize> {
    let per_vertex = view.limit(if reads_exchange(view, stage) {
        &SHUFFLE_BYTES
    } else {
        &STORED_BYTES
    });
    Some((bytes_read(view, stage)? / per_vertex).ceil().max(1.0) as usize)
}

/// Suitable number of vertices for a stage with too many: by its data, and more if
/// tokens are free and the start-up stays small. With several waves, the last one is full.
pub fn merged_vertices(view: &View<'_>, stage: usize) -> Option<usize> {
    let run = view.run.as_ref()?;
    let work = &run.stages[stage];
    let start_s = starting_s(view, stage)? / work.vertices.len().max(1) as f64;
    let own_s = (work.run_s() - overhead_s(view, stage)?).max(0.0);
    let most = (own_s * LITTLE_START / start_s.max(f64::MIN_POSITIVE))
        .ceil()
        .max(1.0) as usize;
    let fitting = fitting_vertices(view, stage)?.max(most.min(run.tokens));
    let waves = (fitting as f64 / run.tokens as f64).round() as usize;
    Some(match waves {
        0 => fitting,
        waves => waves * run.tokens,
    })
}

/// Seconds that the vertices of a stage run without working on rows: time outside the operators. An
/// application adds the time of an empty task, which its tasks do not report.
pub(crate) fn overhead_s(view: &View<'_>, stage: usize) -> Option<f64> {
    let work = &view.run.as_ref()?.stages[stage];
    let (run_s, operators_s) = (work.run_s(), view.stage_ms(stage) / 1000.0);
    let untimed_s = (run_s - operators_s).max(0.0);
    if view.job.spark.is_some() {
        return Some(empty_tasks_s(view, stage, work)? + untimed_s);
    }
    Some(match operators_s > 0.0 {
        true => untimed_s,
        false => run_s * 0.5,
    })
}

/// Seconds that the vertices of a stage take to start; with Python, a task also hands its function over, if that was measured.
pub(crate) fn starting_s(view: &View<'_>, stage: usize) -> Option<f64> {
    let work = &view.run.as_ref()?.stages[stage];
    let empty_s = || empty_tasks_s(view, stage, work);
    let handover_s = handover_ms(view, stage).and_then(|_| empty_s());
    Some(work.start_s() + handover_s.unwrap_or(0.0))
}

/// Milliseconds of a Python task without rows, if tasks of the run show it. Tasks with few rows take little more.
fn handover_ms(view: &View<'_>, stage: usize) -> Option<f64> {
    let app = view.job.spark.as_deref()?;
    match has_few_rows(view, stage) {
        true => Some(f64::INFINITY),
        false => empty_python_ms(view).filter(|_| app.stages[stage].python),
    }
}

/// Seconds that the tasks of a stage would take without rows, at most the time of its shortest twentieth.
fn empty_tasks_s(view: &View<'_>, stage: usize, work: &StageWork) -> Option<f64> {
    let mut runs: Vec<f64> = work.vertices.iter().map(|v| v.run_s).collect();
    runs.sort_by(f64::total_cmp);
    let shortest = runs.get(runs.len() / 20)?;
    let usual_ms = EMPTY_TASK_MS * contention(view);
    let empty_ms = handover_ms(view, stage).unwrap_or(usual_ms);
    let empty_s = shortest.min(empty_ms / 1000.0);
    Some(empty_s * runs.len() as f64)
}

/// Bytes per vertex of a stage with too few vertices: tokens stay idle while each vertex works on
/// far more than usual. `None` if it has enough. If
/// a hint sets the vertices, more than usual suffices.
pub(crate) fn too_few(view: &View<'_>, stage: usize, by_hint: bool) -> Option<f64> {
    let vertices = view.vertices(stage)?;
    let run = view.run.as_ref()?;
    let per_vertex = per_vertex(view, stage)?;
    let idle = (vertices as f64) < run.tokens as f64 * 0.75;
    let heavy = per_vertex >= heavy(view, stage, by_hint);
    (heavy && idle && !view.is_uneven(stage)).then_some(per_vertex)
}

/// Bytes that a vertex of a stage reads; `None` if unknown.
pub(crate) fn per_vertex(view: &View<'_>, stage: usize) -> Option<f64> {
    let vertices = view.vertices(stage).filter(|n| *n > 0)?;
    Some(bytes_read(view, stage)? / vertices as f64)
}

/// Bytes per vertex of a stage with too few vertices.
pub(crate) fn heavy(view: &View<'_>, stage: usize, by_hint: bool) -> f64 {
    match (by_hint, reads_exchange(view, stage)) {
        (true, true) => 1.5 * view.limit(&SHUFFLE_BYTES),
        (true, false) => 1.5 * view.limit(&STORED_BYTES),
        (false, true) => view.limit(&HEAVY_BYTES),
        (false, false) => view.limit(&HEAVY_STORED_BYTES),
    }
}
