//! Slowdown from tasks of an application that share cores, and the start time of Python workers
//! under it.

use job::facts::{Derived, Spread, StageFacts};
use job::model::StageAttempt;

use crate::view::View;

/// Least run time of a stage for a meaningful processor time.
const LEAST_RUN_MS: f64 = 1000.0;

/// Contention beyond this has another reason than shared cores.
const MOST_CONTENTION: f64 = 4.0;

/// Milliseconds that a Python worker takes to start and to import, on an idle core.
const PYTHON_START_MS: f64 = 1000.0;

/// Milliseconds that a task needs to hand its function to a Python worker and to finish, on an idle core.
const PYTHON_TASK_MS: f64 = 50.0;

/// Bytes that a task without rows may read, and the least number of such tasks that measure its time.
const WITHOUT_ROWS: f64 = 256.0;
const LEAST_EMPTY: usize = 20;

/// Slowdown of the application's tasks because they share cores:
/// the median over its stages of the run time over processor time and known waits. Work outside the
/// tasks hides it, so stages that wait for Python are left out.
pub(crate) fn contention(view: &View<'_>) -> f64 {
    *view.contention.get_or_init(|| median_contention(view))
}

fn median_contention(view: &View<'_>) -> f64 {
    let Some(app) = view.job.spark.as_deref() else {
        return 1.0;
    };
    let stages = app.stages.iter().zip(&view.facts);
    let several = stages.filter(|(record, _)| record.tasks > 1);
    let mut known: Vec<f64> = several.filter_map(|(r, f)| pace_of(r, f)).collect();
    known.sort_by(f64::total_cmp);
    let median = known.get(known.len() / 2).copied();
    median.unwrap_or(1.0).clamp(1.0, MOST_CONTENTION)
}

/// Slowdown of a stage's tasks in relation to their own work; 1 if unknown.
pub(crate) fn pace(view: &View<'_>, stage: usize) -> f64 {
    let app = view.job.spark.as_deref();
    let own = app.and_then(|app| pace_of(&app.stages[stage], &view.facts[stage]));
    own.unwrap_or(1.0).max(1.0)
}

/// Run time over processor time and known waits; `None` for a stage that is too short, or waits for Python.
fn pace_of(record: &StageAttempt, facts: &StageFacts) -> Option<f64> {
    let of = &facts.per_vertex;
    let total = |d: &Option<Derived<Spread>>| d.as_ref().map(|d| d.value.total);
    let (run, cpu) = (total(&of.task_ms)?, total(&of.cpu_ms)?);
    let waits = [&of.gc_ms, &of.fetch_wait_ms, &of.exchange_write_ms];
    let waits: f64 = waits.into_iter().filter_map(total).sum();
    let tells = !record.python && run >= LEAST_RUN_MS && cpu > 0.0;
    tells.then(|| run / (cpu + waits))
}

/// Rows of a Python task, and its milliseconds, below which its fixed time hides the time per row.
const FEW_ROWS: f64 = 1000.0;
const SHORT_MS: f64 = 500.0;

/// Whether the Python tasks of a stage are too short, with too few rows, for their time per row to be known.
pub(crate) fn has_few_rows(view: &View<'_>, stage: usize) -> bool {
    let app = view.job.spark.as_deref();
    let facts = &view.facts[stage].per_vertex;
    let mean = |d: &Option<Derived<Spread>>| d.as_ref().map(|d| d.value.mean);
    let is_python = app.is_some_and(|app| app.stages[stage].python);
    is_python
        && mean(&facts.task_ms).is_some_and(|ms| ms < SHORT_MS)
        && mean(&facts.rows_read).is_some_and(|rows| rows < FEW_ROWS)
}

/// Milliseconds that the tasks of a stage would wait for Python without any row: for the start of workers, one per
/// used slot, which later stages may find running, and for the handover of each task.
pub(crate) fn python_start_ms(view: &View<'_>, stage: usize) -> f64 {
    let app = view.job.spark.as_deref();
    if !app.is_some_and(|app| app.stages[stage].python) {
        return 0.0;
    }
    let slots = view.run.as_ref().map_or(1, |r| r.tokens) as u64;
    let tasks = view.vertices(stage).unwrap_or(1);
    let workers = tasks.min(slots) as f64;
    let usual = PYTHON_TASK_MS * contention(view);
    let task = empty_python_ms(view).unwrap_or(usual);
    workers * PYTHON_START_MS * contention(view) + tasks as f64 * task
}

/// Milliseconds that a Python task without rows takes, the median over such tasks of the run; `None` if it has few.
pub(crate) fn empty_python_ms(view: &View<'_>) -> Option<f64> {
    let measure = || {
        let (app, run) = (view.job.spark.as_deref()?, view.run.as_ref()?);
        let stages = app.stages.iter().zip(&run.stages);
        let tasks = stages
            .filter(|(stage, _)| stage.python)
            .flat_map(|(_, work)| &work.vertices);
        let empty = tasks.filter(|task| task.bytes <= WITHOUT_ROWS);
        let mut times: Vec<f64> = empty.map(|task| task.run_s * 1000.0).collect();
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied();
        median.filter(|_| times.len() >= LEAST_EMPTY)
    };
    *view.python_task.get_or_init(measure)
}
