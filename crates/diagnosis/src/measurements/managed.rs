//! Managed code in a stage: its operators, its time, and its garbage collection.

use job::facts::Role;
use job::model::{Operator, OperatorKind};

use crate::properties::dataflow::is_generated_class;
use crate::view::View;

/// Share of time in garbage collection of a healthy stage.
const USUAL_GC: f64 = 0.03;

/// Mean and worst share of garbage collection over the vertices of a stage.
pub(crate) fn gc(view: &View<'_>, stage: usize) -> Option<(f64, f64)> {
    let gc = &view.facts[stage].gc;
    let mean = gc.mean_share()?;
    Some((mean, gc.max_share().map_or(mean, |max| max.max(mean))))
}

/// Part of the time of managed operators that is garbage collection beyond the usual.
pub(crate) fn gc_part(mean: f64, max: f64) -> f64 {
    let max = max.min(0.95);
    let low = (2.0 * mean - max).max(0.0);
    let stretch = if max - low < 0.01 {
        1.0 / (1.0 - mean)
    } else {
        ((1.0 - low) / (1.0 - max)).ln() / (max - low)
    };
    (1.0 - 1.0 / (stretch * (1.0 - USUAL_GC))).max(0.0)
}

/// Whether a class that the user wrote runs in a stage.
pub(crate) fn runs_user_code(view: &View<'_>, stage: usize) -> bool {
    let stage = &view.job.stages[stage];
    stage.native_only != Some(true)
        && stage.operators.iter().any(|o| {
            use job::model::OperatorKind::{Combine, Process, Reduce};
            matches!(o.kind, Process | Reduce | Combine) && !is_generated_class(&o.class_name)
        })
}

/// Operators of a stage that run managed code.
pub(crate) fn managed<'a>(
    view: &View<'a>,
    stage: usize,
) -> impl Iterator<Item = (usize, &'a Operator)> {
    use OperatorKind::{Combine, Process, Reduce};
    let operators = view.job.stages[stage].operators.iter().enumerate();
    operators.filter(move |(_, o)| match view.node(stage, o.uid) {
        Some(counted) => counted.role == Role::ManagedCode,
        None => matches!(o.kind, Process | Reduce | Combine),
    })
}

/// Whether an operator of this name passes batches or groups of rows to Python, by Arrow.
pub fn takes_batches(name: &str) -> bool {
    let parts = ["InPandas", "InArrow", "ArrowEvalPython"];
    parts.iter().any(|part| name.contains(part))
}

/// Milliseconds that the managed operators of a stage take, and the one that takes most.
pub(crate) fn managed_ms(view: &View<'_>, stage: usize) -> (f64, Option<usize>) {
    let mut all = 0.0;
    let mut most: (f64, Option<usize>) = (-1.0, None);
    for (index, operator) in managed(view, stage) {
        let spent = view.node_ms(stage, operator.uid).unwrap_or(0.0);
        all += spent;
        if spent > most.0 {
            most = (spent, Some(index));
        }
    }
    (all, most.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_vertices_weigh_most() {
        assert!(gc_part(0.03, 0.03).abs() < 0.01);
        let even = gc_part(0.5, 0.5);
        let spread = gc_part(0.5, 0.9);
        assert!(even > 0.45 && spread > even, "{even} {spread}");
    }
}
