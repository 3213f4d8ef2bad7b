//! Wrong estimates of rows: the operator where the error begins, and the hints behind it.

use job::facts::value;
use job::model::{Edge, Operator, OperatorKind, PlanNode, Source};

use crate::facts::fact;
use crate::settings::threshold;
use crate::view::View;
use report::Evidence;
use report::format::ROW;

threshold! {
    /// Least factor of a wrong estimate of rows.
    pub(crate) MIN_FACTOR = 8.0, "ratio", "misestimate.min_factor";
    "文本输入按假定行宽估计，误差 4 倍很常见且无害", "text inputs are estimated by assumed widths; four times off is common and harmless";
    "estimates of real local runs (up to 1.95) and of simulated text inputs (4.2)"
}

/// Least factor of a wrong estimate that is shown next to a decision based on it. Below twice, the
/// optimizer would probably have made the same decision.
const SHOWN_FACTOR: f64 = 2.0;

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

/// Estimated and actual rows of an operator with a wrong estimate, as evidence for a decision of the
/// optimizer that followed it. `None` if the estimate was about right, or if one of them is unknown.
pub(crate) fn wrong_fact(view: &View<'_>, stage: usize, operator: usize) -> Option<Evidence> {
    let found = of_operator(view, stage, operator)?;
    if found.factor() < SHOWN_FACTOR {
        return None;
    }
    fact(view, &found)
}

/// Like [`wrong_fact`], for the rows that enter an exchange, counted at the operator that produces them.
pub(crate) fn wrong_fact_of(view: &View<'_>, edge: &Edge) -> Option<Evidence> {
    sources(view, edge).find_map(|(stage, operator)| wrong_fact(view, stage, operator))
}

/// The operator that writes an exchange, and the operator before it, with their stages.
fn sources(view: &View<'_>, edge: &Edge) -> impl Iterator<Item = (usize, usize)> {
    let stage = view.job.stages.get(edge.from);
    let mut operators = stage.into_iter().flat_map(|s| &s.operators).enumerate();
    let writer = operators.find(|(_, o)| o.outputs.iter().any(|c| c.id == edge.channel));
    let before = writer.and_then(|(_, operator)| feeding(view, edge.from, operator));
    let writer = writer.map(|(index, _)| (edge.from, index));
    writer.into_iter().chain(before)
}

/// Estimated and actual rows of an operator.
pub(crate) fn fact(view: &View<'_>, wrong: &Misestimate) -> Option<Evidence> {
    let plan = view.job.plan.as_ref()?;
    let node = view.job.estimate_of(wrong.stage, wrong.operator)?.value;
    let operator = &view.job.stages[wrong.stage].operators[wrong.operator];
    let estimated = node.card.unwrap_or(wrong.estimated);
    let group = node.group.as_ref();
    let source = Source {
        file: plan.file.clone(),
        locator: group.map(|g| format!("TableGroupProperties[@Grp={g}]/@Card")),
    };
    Some(fact! { view, "Card", estimated, "rows", source;
    "优化器估计 {stage} 的 {id} 有 {estimated}，实际有 {actual}", "the optimizer expected {estimated} from {id} in {stage}; there were {actual}", stage = view.name(wrong.stage), id = operator.id, estimated = ROW.count(estimated), actual = ROW.count(wrong.actual) })
}

/// The worst estimate among the inputs and operators that a stage depends on, if it is far too
/// low.
pub(crate) fn misestimated_upstream(view: &View<'_>, stage: usize) -> Option<Misestimate> {
    let limit = view.limit(&MIN_FACTOR);
    let low = |m: &Misestimate| m.estimated < m.actual && m.factor() >= limit;
    let upstream = view.upstream(stage);
    let inputs = upstream.iter().flat_map(|s| wrong_inputs(view, *s));
    let begun = upstream
        .iter()
        .filter(|s| **s != stage)
        .flat_map(|s| begins(view, *s, low));
    let wrong = inputs.filter(low).chain(begun);
    wrong.max_by(|a, b| (a.actual - a.estimated).total_cmp(&(b.actual - b.estimated)))
}

/// Operators of a stage at which an estimation error begins: the output estimate is wrong, the input estimate
/// is not. Rows of aggregations and joins are never known beforehand.
fn begins(view: &View<'_>, stage: usize, wrong: impl Fn(&Misestimate) -> bool) -> Vec<Misestimate> {
    let operators = view.job.stages[stage].operators.iter().enumerate();
    let single = operators.filter(|(_, o)| {
        matches!(o.kind, OperatorKind::Transform | OperatorKind::Process) && o.inputs.len() == 1
    });
    let begins = single.filter_map(|(index, operator)| {
        let output = of_operator(view, stage, index)?;
        let (from, source) = feeding(view, stage, operator)?;
        let input = of_operator(view, from, source)?;
        (wrong(&output) && !wrong(&input)).then_some(output)
    });
    begins.collect()
}

/// The operator, and its stage, that feeds a single-input operator.
fn feeding(view: &View<'_>, stage: usize, operator: &Operator) -> Option<(usize, usize)> {
    let channel = &operator.inputs.first()?.id;
    let within = |s: usize| {
        let operators = &view.job.stages[s].operators;
        let writes = |o: &Operator| o.outputs.iter().any(|c| c.id == *channel);
        Some((s, operators.iter().position(writes)?))
    };
    let edge = || view.inputs(stage).find(|e| e.channel == *channel);
    within(stage).or_else(|| within(edge()?.from))
}

/// Estimated and actual rows of an operator; `None` if one of them is unknown.
fn of_operator(view: &View<'_>, stage: usize, index: usize) -> Option<Misestimate> {
    let operator = view.job.stages[stage].operators.get(index)?;
    Some(Misestimate {
        stage,
        operator: index,
        estimated: view.job.estimate_of(stage, index)?.value.card?,
        actual: actual_rows(view, stage, operator)?,
        hint_lines: None,
    })
}

/// Estimates of the inputs of a stage, and of the hints on them.
fn wrong_inputs(view: &View<'_>, stage: usize) -> Vec<Misestimate> {
    let mut found = Vec::new();
    for (index, _) in view.extracts(stage) {
        let Some(own) = of_operator(view, stage, index) else {
            continue;
        };
        let node = view.job.estimate_of(stage, index).map(|l| l.value);
        let hint = node.and_then(|node| hint_above(view, node));
        found.push(own.clone());
        found.extend(hint.map(|hint| Misestimate {
            estimated: hint,
            hint_lines: hint_lines(view, hint),
            ..own
        }));
    }
    found
}

fn actual_rows(view: &View<'_>, stage: usize, operator: &Operator) -> Option<f64> {
    let stored = || view.table_of(stage, operator)?.rows.map(|r| r as f64);
    let reads = operator.kind == OperatorKind::Extract;
    view.node(stage, operator.uid)
        .and_then(|o| value(&o.rows))
        .or_else(|| stored().filter(|_| reads))
}

/// Row-count hint of the nearest node above a plan node, with only projections in between.
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
