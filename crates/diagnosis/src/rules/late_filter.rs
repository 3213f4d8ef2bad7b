//! Rule for `shuffle.late_filter`: a filter after an exchange that could have run before it.
//!
//! The optimizer pushes filters that it understands below the exchange; a filter that calls user code
//! stays in its place. It could run earlier if all its columns come from one
//! input of the join (for an outer join: from the outer side).

use job::model::OperatorKind;

use super::support::{Symptom, lacks, rule};
use crate::alternatives::cost::Rates;
use crate::alternatives::filter::{Pushed, alternatives, columns_of, rows_through};
use crate::facts::fact;
use crate::measurements::exchange::measured_write;
use crate::rule::Examination;
use crate::view::View;
use report::format::{Names, Share};
use report::{Evidence, text};

rule! { RULE = LateFilter, examine;
    "交换之后的过滤本可以在交换之前执行", "a filter after an exchange could have run before it";
    needs StageGraph, RuntimeCounters;
    helps Script;
    unless "优化器已把过滤下推到交换之前", "the optimizer has pushed the filter below the exchange";
    unless "过滤用到连接两侧的列，或外连接被补空一侧的列", "the filter reads columns of both sides, or of the side that an outer join fills with nulls";
    unless "过滤只丢弃少量行", "the filter drops few rows";
    cleared "没有能提前到交换之前的过滤", "no filter could move below an exchange";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    for found in alternatives(view, &Rates::of(view)) {
        result.offer(view, symptom(view, &found));
    }
    lacking(view, result);
    result.exchanges(view, View::is_shuffle);
}

/// Filters behind a join with unknown rows or columns.
fn lacking(view: &View<'_>, result: &mut Examination) {
    let nodes = &view.derived().flow.nodes;
    for (at, filter) in nodes.iter().enumerate() {
        let stage = filter.stage;
        let before = filter.inputs.first().and_then(|f| f.node);
        let behind_join = before.is_some_and(|n| nodes[n].operator.kind == OperatorKind::Join);
        let native = view.job.stages[stage].native_only == Some(true);
        let filters = filter.operator.kind == OperatorKind::Transform;
        if !filters || !behind_join || native || view.failed() {
            continue;
        }
        if view.facts[stage].counted.is_none() {
            lacks! { result, view, RuntimeCounters, Some(stage);
            "不知道 {stage} 中连接之后的过滤丢弃多少行", "the number of rows that the filter after the join in {stage} drops is unknown", stage = view.name(stage) }
        } else if view.job.script.is_none()
            && rows_through(view, at).is_some()
            && columns_of(view, at).is_none()
        {
            lacks! { result, view, Script, Some(stage);
            "{stage} 中的过滤丢弃行，但没有脚本说明它用到哪些列", "the filter in {stage} drops rows, and without the script its columns are unknown", stage = view.name(stage) }
        }
    }
}

fn symptom(view: &View<'_>, found: &Pushed) -> Symptom {
    Symptom {
        stage: Some(found.stage),
        lines: view.lines(found.stage, found.filter),
        summary: text!(
            "{stage} 中的过滤（列 {columns}）丢弃 {share} 的行，但它在数据交换之后才执行",
            "the filter on {columns} in {stage} drops {share} of the rows, but only after they have been exchanged",
            stage = view.name(found.stage),
            columns = Names(&found.columns),
            share = Share(found.dropped)
        ),
        evidence: evidence(view, found),
        saved: found.saved.clone(),
        method: "schedule replayed with the exchange at the rows that pass the filter",
        strength: 0.5 + 0.5 * found.dropped,
    }
}

fn evidence(view: &View<'_>, found: &Pushed) -> Vec<Evidence> {
    let mut facts = Vec::new();
    let filter = &view.job.stages[found.stage].operators[found.filter];
    let counted = view.node(found.stage, filter.uid);
    if let Some(out) = counted.and_then(|o| o.rows.as_ref()) {
        facts.extend(view.measured(out, "rows"));
        let source = out.source();
        facts.push(fact! { view, "dropped rows / rows", found.dropped, "ratio", source;
            "过滤丢弃 {share} 的行", "the filter drops {share} of its rows", share = Share(found.dropped) });
    }
    let edges = found.edges.iter().map(|e| &view.job.edges[*e]);
    facts.extend(edges.flat_map(|e| measured_write(view, e)));
    facts
}
