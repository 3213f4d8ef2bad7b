//! Rule for `shuffle.late_filter`: a filter after an exchange that could have run before it.
//!
//! The optimizer pushes filters that it understands below the exchange; one that calls user code
//! stays where it is written. It could run earlier if every column that it reads comes from one
//! input of the join (for an outer join: from the side that is kept).

use job::facts::value;
use job::info::Information;
use job::model::{Edge, Operator, OperatorKind};

use super::support::{Symptom, both};
use crate::impact::scale_run;
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::Share;
use report::{Cause, Evidence, text};

/// Share of the rows that the filter must drop.
pub(crate) static MIN_DROPPED: Threshold = Threshold {
    name: "late_filter.min_dropped",
    default: 0.3,
    unit: "share",
    reason_zh: "丢弃的行太少时，提前过滤省不了多少交换",
    reason_en: "a filter that drops few rows saves little of the exchange",
    source: "judgement; the replayed saving decides",
};

/// The rule.
pub(crate) struct LateFilter;

static ABOUT: About = About {
    cause: Cause::LateFilter,
    what: both(
        "交换之后的过滤本可以在交换之前执行",
        "a filter after an exchange could have run before it",
    ),
    needs: &[Information::StageGraph, Information::RuntimeCounters],
    helps: &[Information::Script],
    thresholds: &[&MIN_DROPPED],
    counter_evidence: &[
        both(
            "优化器已把过滤下推到交换之前",
            "the optimizer has pushed the filter below the exchange",
        ),
        both(
            "过滤用到连接两侧的列，或外连接被补空一侧的列",
            "the filter reads columns of both sides, or of the side that an outer join fills with nulls",
        ),
        both("过滤只丢弃少量行", "the filter drops few rows"),
    ],
};

impl Rule for LateFilter {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for (stage, s) in view.job.stages.iter().enumerate() {
            for (index, operator) in s
                .operators
                .iter()
                .enumerate()
                .filter(|(_, o)| o.kind == OperatorKind::Transform)
            {
                match late(view, stage, index, operator) {
                    Some(symptom) => result.found(view, symptom),
                    None => lacking(view, stage, index, operator, &mut result),
                }
            }
        }
        result.cleared_by(text!(
            "没有能提前到交换之前的过滤",
            "no filter could move below an exchange"
        ))
    }
}

/// A filter that user code keeps behind a join, of which the rows or the columns are not known.
fn lacking(
    view: &View<'_>,
    stage: usize,
    index: usize,
    filter: &Operator,
    result: &mut Examination,
) {
    let s = &view.job.stages[stage];
    let behind_join =
        operator_before(view, stage, filter).is_some_and(|o| o.kind == OperatorKind::Join);
    if !behind_join || view.failed() || s.native_only == Some(true) {
        return;
    }
    if view.facts[stage].counted.is_none() {
        let reason = text!(
            "不知道 {s} 中连接之后的过滤丢弃多少行",
            "how many rows the filter after the join in {s} drops is not known",
            s = s.name
        );
        result.lacks(Information::RuntimeCounters, view, Some(stage), reason);
    } else if drops_enough(view, stage, filter).is_some()
        && filter_columns(view, stage, index, filter).is_none()
    {
        let reason = text!(
            "{s} 中的过滤丢弃很多行，但没有脚本说明它用到哪些列",
            "the filter in {s} drops many rows, and without the script its columns are not known",
            s = s.name
        );
        result.lacks(Information::Script, view, Some(stage), reason);
    }
}

/// Share of the rows that a filter drops, if that is enough to matter.
fn drops_enough(view: &View<'_>, stage: usize, filter: &Operator) -> Option<f64> {
    let (rows_in, rows_out) = rows_through(view, stage, filter)?;
    let dropped = 1.0 - rows_out / rows_in;
    (dropped >= view.limit(&MIN_DROPPED)).then_some(dropped)
}

fn late(view: &View<'_>, stage: usize, index: usize, filter: &Operator) -> Option<Symptom> {
    let dropped = drops_enough(view, stage, filter)?;
    let columns = filter_columns(view, stage, index, filter)?;
    let source = operator_before(view, stage, filter)?;
    let edges = movable_edges(view, stage, source, &columns);
    if edges.is_empty() {
        return None;
    }
    let kept = |stage, ms: f64| 1.0 - view.fraction(stage, ms * dropped);
    let written = |e: &&Edge| view.node_ms(e.from, e.uid).unwrap_or(0.0);
    let read: f64 = edges.iter().map(|e| view.read_ms(e)).sum();
    let join = view.node_ms(stage, source.uid).unwrap_or(0.0);
    let mut factors: Vec<(usize, f64)> = edges
        .iter()
        .map(|e| (e.from, kept(e.from, written(e))))
        .collect();
    factors.push((stage, kept(stage, read + join)));
    let saved = view.saved(move |stages| {
        for (stage, factor) in &factors {
            scale_run(&mut stages[*stage], *factor);
        }
    });
    Some(Symptom {
        cause: Cause::LateFilter,
        stage: Some(stage),
        lines: view.lines(stage, index),
        summary: text!(
            "{stage} 中的过滤（列 {columns}）丢弃 {share} 的行，但它在数据交换之后才执行",
            "the filter on {columns} in {stage} drops {share} of the rows, but only after they have been exchanged",
            stage = view.name(stage),
            columns = columns.join(", "),
            share = Share(dropped)
        ),
        evidence: evidence(view, stage, filter, &edges, dropped),
        saved,
        method: "schedule replayed with the exchange at the rows that pass the filter",
        strength: 0.5 + 0.5 * dropped,
    })
}

/// Rows into and out of a filter; `None` if it drops nothing or the counters do not tell.
fn rows_through(view: &View<'_>, stage: usize, filter: &Operator) -> Option<(f64, f64)> {
    let out = value(&view.node(stage, filter.uid)?.rows)?;
    let before = operator_before(view, stage, filter)?;
    let rows = value(&view.node(stage, before.uid)?.rows)?;
    (rows > 0.0 && out < rows).then_some((rows, out))
}

/// The operator of the same stage that feeds the filter.
fn operator_before<'a>(view: &View<'a>, stage: usize, operator: &Operator) -> Option<&'a Operator> {
    let input = operator.inputs.first()?;
    view.job.stages[stage]
        .operators
        .iter()
        .find(|o| o.outputs.iter().any(|c| c.id == input.id))
}

/// Columns that the filter's condition reads, as far as the filter's input has them: those of the
/// script's `WHERE` and `HAVING`, without the script those of the generated class.
fn filter_columns(
    view: &View<'_>,
    stage: usize,
    index: usize,
    filter: &Operator,
) -> Option<Vec<String>> {
    let names = match view.job.script.as_ref() {
        Some(script) => {
            let statement = script.statement_at_line(view.lines(stage, index)?.0)?;
            let conditions = statement.query.filter.iter().chain(&statement.query.having);
            conditions
                .flat_map(|c| &c.expression.uses)
                .map(|c| c.name.clone())
                .collect()
        }
        None => generated_condition(view, filter)?,
    };
    let known = |name: &String| {
        filter
            .inputs
            .iter()
            .flat_map(|i| &i.schema)
            .any(|c| c.name == *name)
    };
    let mut columns: Vec<String> = names.into_iter().filter(known).collect();
    columns.sort_unstable();
    columns.dedup();
    (!columns.is_empty()).then_some(columns)
}

/// Words of the condition of a generated filter class: the first of its expressions.
fn generated_condition(view: &View<'_>, filter: &Operator) -> Option<Vec<String>> {
    let class = filter.class_name.rsplit('.').next()?;
    let generated = view
        .job
        .codegen
        .as_ref()?
        .classes
        .iter()
        .find(|c| c.name == class)?;
    let words = generated
        .expressions
        .first()?
        .split(|c: char| !c.is_alphanumeric() && c != '_');
    Some(words.map(str::to_owned).collect())
}

/// Exchanges below which the filter could run: those of the one join input that has all its
/// columns, through sorts and unions.
fn movable_edges<'a>(
    view: &View<'a>,
    stage: usize,
    source: &Operator,
    columns: &[String],
) -> Vec<&'a Edge> {
    let inputs: Vec<usize> = match source.kind {
        OperatorKind::Join => {
            let having: Vec<usize> = (0..source.inputs.len())
                .filter(|i| {
                    columns
                        .iter()
                        .all(|c| source.inputs[*i].schema.iter().any(|k| k.name == *c))
                })
                .filter(|i| keeps_side(view, stage, source, *i))
                .collect();
            if having.len() != 1 {
                Vec::new()
            } else {
                having
            }
        }
        OperatorKind::Aggregate if columns.iter().all(|c| source.keys.contains(c)) => vec![0],
        OperatorKind::Sort | OperatorKind::Union | OperatorKind::Transform => vec![0],
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for input in inputs {
        collect_edges(view, stage, &source.inputs[input].id, 0, &mut found);
    }
    found
}

/// Whether rows of one side of a join pass unless the filter drops them: both sides of an inner
/// join, the kept side of an outer one.
fn keeps_side(view: &View<'_>, stage: usize, join: &Operator, side: usize) -> bool {
    let index = view.position(stage, join);
    let plan = index
        .and_then(|i| view.job.estimate_of(stage, i))
        .map(|l| l.value);
    let kind = plan
        .and_then(|p| p.attributes.get("JoinType"))
        .map(|t| t.to_lowercase())
        .unwrap_or_default();
    if kind.contains("full") {
        false
    } else if kind.contains("left") {
        side == 0
    } else if kind.contains("right") {
        side == 1
    } else {
        true
    }
}

/// Repartitioning edges that a channel of a stage comes from, through sorts and unions.
fn collect_edges<'a>(
    view: &View<'a>,
    stage: usize,
    channel: &str,
    depth: usize,
    found: &mut Vec<&'a Edge>,
) {
    if let Some(edge) = view.inputs(stage).find(|e| e.channel == channel) {
        if View::is_shuffle(edge) {
            found.push(edge);
        }
        return;
    }
    let writer = view.job.stages[stage]
        .operators
        .iter()
        .find(|o| o.outputs.iter().any(|c| c.id == channel));
    if let Some(o) =
        writer.filter(|o| depth < 8 && matches!(o.kind, OperatorKind::Sort | OperatorKind::Union))
    {
        for input in &o.inputs {
            collect_edges(view, stage, &input.id, depth + 1, found);
        }
    }
}

fn evidence(
    view: &View<'_>,
    stage: usize,
    filter: &Operator,
    edges: &[&Edge],
    dropped: f64,
) -> Vec<Evidence> {
    let mut facts = Vec::new();
    if let Some(out) = view.node(stage, filter.uid).and_then(|o| o.rows.as_ref()) {
        facts.extend(view.measured(out, "rows"));
        let sentence = text!(
            "过滤丢弃 {share} 的行",
            "the filter drops {share} of its rows",
            share = Share(dropped)
        );
        let source = out.source();
        facts.push(view.number("dropped rows / rows", dropped, "ratio", source, sentence));
    }
    for edge in edges {
        if let Some(o) = view.node(stage, edge.uid) {
            facts.extend(view.measured(&o.rows, "rows"));
            facts.extend(view.measured(&o.bytes, "bytes"));
        }
    }
    facts
}
