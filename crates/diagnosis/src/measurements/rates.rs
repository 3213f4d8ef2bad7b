//! Usual time of operators for their rows and bytes, on one core.

use job::facts::{OperatorFacts, Role, value};

use crate::view::View;

/// Nanoseconds per row handled by a plan operator, at the slow end of warm executors.
pub(crate) const ROW_NS: f64 = 1_000.0;

/// Nanoseconds for each row that a sort, a sort-based aggregation or a join handles.
const SORTED_ROW_NS: f64 = 4_000.0;

/// Nanoseconds for each row with an edit distance: its time grows with the square of the texts' length.
const EDIT_DISTANCE_ROW_NS: f64 = 10_000.0;

/// Nanoseconds for each byte that is read from storage: text that is parsed, some 20 MB/s.
const READ_BYTE_NS: f64 = 50.0;

/// Nanoseconds for each byte that is written or exchanged: serialized and compressed, some 20 MB/s.
const WRITTEN_BYTE_NS: f64 = 50.0;

/// Milliseconds that the code of a stage takes to compile and to warm up on each slot.
const WARM_UP_MS: f64 = 1_500.0;

/// Milliseconds that each task needs besides its rows.
const TASK_MS: f64 = 50.0;

/// Upper bound of the task time that a stage's work needs, in milliseconds; `None` without row counts.
pub(crate) fn needed_ms(view: &View<'_>, stage: usize) -> Option<f64> {
    let facts = &view.facts[stage];
    let counted = facts.counted.as_ref()?;
    let rows = |o: &OperatorFacts| {
        let own = value(&o.rows)?;
        let position = facts
            .operators
            .iter()
            .position(|other| std::ptr::eq(other, o))?;
        let read: f64 = facts.rows_in(position).iter().sum();
        Some(own + read)
    };
    let known: Vec<(Role, f64)> = facts
        .operators
        .iter()
        .filter_map(|o| Some((o.role, rows(o)?)))
        .collect();
    if known.is_empty() {
        return None;
    }
    let of_rows = known.iter().map(|(role, rows)| match role {
        Role::Sort | Role::PartialSort | Role::Other => rows * SORTED_ROW_NS,
        _ => rows * ROW_NS,
    });
    let mut operators = view.job.stages[stage].operators.iter();
    let of_distances = match operators.any(|o| o.args.contains("levenshtein(")) {
        true => known.iter().map(|(_, rows)| *rows).fold(0.0, f64::max) * EDIT_DISTANCE_ROW_NS,
        false => 0.0,
    };
    let bytes = value(&counted.bytes_read).unwrap_or(0.0) * READ_BYTE_NS
        + value(&counted.bytes_written).unwrap_or(0.0) * WRITTEN_BYTE_NS;
    let tasks = view.vertices(stage)? as f64;
    let slots = view.run.as_ref().map_or(1.0, |r| r.tokens as f64);
    let fixed = tasks * TASK_MS + tasks.min(slots) * WARM_UP_MS;
    Some((of_rows.sum::<f64>() + of_distances + bytes) / 1e6 + fixed)
}
