//! Estimates of stored rows that are far off, and the hints that made them so.

use job::facts::value;
use job::model::{Operator, PlanNode};

use crate::settings::Threshold;
use crate::view::View;

/// How many times an estimate of stored rows must be off.
pub(crate) static MIN_FACTOR: Threshold = Threshold {
    name: "misestimate.min_factor",
    default: 8.0,
    unit: "ratio",
    reason_zh: "文本输入按假定行宽估计，误差 4 倍很常见且无害",
    reason_en: "text inputs are estimated by assumed widths; four times off is common and harmless",
    source: "estimates of real local runs (up to 1.95) and of simulated text inputs (4.2)",
};

/// An estimate that is far off.
#[derive(Debug, Clone)]
pub(crate) struct Misestimate {
    pub(crate) stage: usize,
    pub(crate) operator: usize,
    pub(crate) estimated: f64,
    pub(crate) actual: f64,
    /// Line of the `ROWCOUNT` hint that made it, if one did.
    pub(crate) hint_lines: Option<(u32, u32)>,
}

impl Misestimate {
    pub(crate) fn factor(&self) -> f64 {
        let f = self.estimated.max(1.0) / self.actual.max(1.0);
        f.max(1.0 / f)
    }
}

/// The worst estimate among the inputs that reach a stage, if it is far off and too low.
pub(crate) fn misestimated_upstream(view: &View<'_>, stage: usize) -> Option<Misestimate> {
    let limit = view.limit(&MIN_FACTOR);
    let wrong = view
        .upstream(stage)
        .into_iter()
        .flat_map(|s| wrong_inputs(view, s));
    wrong
        .filter(|m| m.estimated < m.actual && m.factor() >= limit)
        .max_by(|a, b| (a.actual - a.estimated).total_cmp(&(b.actual - b.estimated)))
}

/// Estimates of the inputs of a stage, and of the hints on them.
fn wrong_inputs(view: &View<'_>, stage: usize) -> Vec<Misestimate> {
    let mut found = Vec::new();
    for (index, operator) in view.extracts(stage) {
        let Some(actual) = actual_rows(view, stage, operator) else {
            continue;
        };
        let Some(node) = view.job.estimate_of(stage, index).map(|l| l.value) else {
            continue;
        };
        let Some(estimated) = node.card else { continue };
        found.push(Misestimate {
            stage,
            operator: index,
            estimated,
            actual,
            hint_lines: None,
        });
        if let Some(hint) = hint_above(view, node) {
            found.push(Misestimate {
                stage,
                operator: index,
                estimated: hint,
                actual,
                hint_lines: hint_lines(view, hint),
            });
        }
    }
    found
}

fn actual_rows(view: &View<'_>, stage: usize, operator: &Operator) -> Option<f64> {
    view.node(stage, operator.uid)
        .and_then(|o| value(&o.rows))
        .or_else(|| view.table_of(stage, operator)?.rows.map(|r| r as f64))
}

/// Row-count hint of the nearest node above a plan node with nothing but projections between.
fn hint_above(view: &View<'_>, node: &PlanNode) -> Option<f64> {
    let plan = view.job.plan.as_ref()?;
    let mut at = plan.nodes.iter().position(|n| std::ptr::eq(n, node))?;
    for _ in 0..8 {
        let parent = plan.nodes.iter().position(|n| n.children.contains(&at))?;
        let above = &plan.nodes[parent];
        if let Some(hint) = above
            .attributes
            .get("RowCountHint")
            .and_then(|h| h.parse().ok())
        {
            return Some(hint);
        }
        if !matches!(
            above.name.as_str(),
            "NOP" | "ComputeScalar" | "RestrRemap" | "Filter"
        ) {
            return None;
        }
        at = parent;
    }
    None
}

fn hint_lines(view: &View<'_>, hint: f64) -> Option<(u32, u32)> {
    let script = view.job.script.as_ref()?;
    let has =
        |v: &Option<String>| v.as_deref().and_then(|t| t.trim().parse::<f64>().ok()) == Some(hint);
    script
        .statements
        .iter()
        .find(|s| {
            s.hints
                .iter()
                .any(|h| h.name == "ROWCOUNT" && has(&h.value))
        })
        .map(|s| s.lines)
}
