//! Rows that are shuffled and joined, deduplicated, or given to a Python function, although a filter after that drops them, on columns that are
//! there before it.

use std::collections::HashSet;

use job::listed;
use job::model::{Application, Execution, SparkNode};
use report::format::Share;
use report::{Cause, SegmentKind, text};

use super::shares::{TASKS, shares};
use super::{Excess, Unclaimed};
use crate::facts::at;
use crate::measurements::plan_parts::{columns_in, conjuncts, inputs_of, opaque_below};
use crate::view::View;

/// Least share of rows that a filter drops for its place to matter.
pub(super) const MOSTLY_DROPPED: f64 = 0.5;

/// A filter after a step with many rows, the condition that could be earlier, and the share of the step's rows that it keeps.
struct Late<'a> {
    filter: &'a SparkNode,
    step: Step,
    condition: &'a str,
    kept: f64,
    /// Stages of the step, and of the tasks that write its shuffles.
    stages: HashSet<usize>,
}

/// A step that a filter could precede.
#[derive(Clone, Copy)]
enum Step {
    Join,
    Deduplication,
    /// A Python function of groups or batches of rows.
    Function,
}

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view.job.spark.as_deref()?;
    let all: Vec<Late<'_>> = app.executions.iter().flat_map(late_filters).collect();
    let of_stage = |stage: usize| all.iter().find(|late| late.stages.contains(&stage));
    let dropped = |stage: usize, _| of_stage(stage).map(|late| 1.0 - late.kept);
    // Time that grows with the rows of the join; the rows are read in any case.
    let of_rows: Vec<SegmentKind> = TASKS
        .into_iter()
        .filter(|kind| *kind != SegmentKind::Read)
        .collect();
    let shares = shares(unclaimed, &of_rows, dropped)?;
    let (worst, dropped) = shares.worst;
    let late = of_stage(worst)?;
    let condition = late.condition;
    let sentence = match late.step {
        Step::Deduplication => text!(
            "去重之后的过滤 {condition} 去掉 {share} 的行；若重复的行在它的列上相同，可以先过滤",
            "the filter {condition} after a deduplication drops {share} of its rows, and could come before it if duplicates agree in its columns",
            share = Share(dropped),
        ),
        Step::Function => text!(
            "Python 函数之后的过滤 {condition} 去掉 {share} 的行，而函数的输入有同名的列；若函数原样传递该列，可以先过滤",
            "the filter {condition} after a Python function drops {share} of its rows, and the function's input has a column of this name; if the function passes it on, filter before it",
            share = Share(dropped),
        ),
        Step::Join => text!(
            "连接之后的过滤 {condition} 去掉 {share} 的行，而它的列在连接之前就有",
            "the filter {condition} after a join drops {share} of its rows, and has its columns before the join",
            share = Share(dropped),
        ),
    };
    let summary = text!(
        "{stage}：{sentence}；这些行在过滤之前耗时 {time}",
        "{stage}: {sentence}; these rows take {time} before the filter",
        stage = view.name(worst),
        sentence = sentence.clone(),
        time = shares.seconds(),
    );
    let evidence = rows(view, app, late.filter, sentence);
    Some(Excess {
        method: "time of the step before the filter and of its shuffles, times the share of rows that the filter drops",
        ..shares.excess(Cause::LateFilter, summary, evidence, 0.6)
    })
}

fn rows(
    view: &View<'_>,
    app: &Application,
    filter: &SparkNode,
    sentence: report::Text,
) -> Option<report::Evidence> {
    let rows = filter.metric("number of output rows")?;
    let place = format!("Filter[{}]/number of output rows", filter.uid);
    let source = at(&app.file, place);
    Some(view.number("number of output rows", rows, "rows", source, sentence))
}

fn late_filters(execution: &Execution) -> Vec<Late<'_>> {
    let plan = &execution.plan;
    let found = plan.iter().enumerate().filter_map(|(at, filter)| {
        let filter = Some(filter).filter(|f| f.name.trim() == "Filter")?;
        let conditions = conjuncts(filter.text.strip_prefix("Filter ")?).into_iter();
        let (step, before, condition) = early(plan, at, conditions)?;
        let rows = plan[before].metric("number of output rows")?;
        let kept = filter.metric("number of output rows")? / rows.max(1.0);
        Some(()).filter(|()| kept <= MOSTLY_DROPPED)?;
        let below = below(plan, before);
        let shuffles = below
            .into_iter()
            .filter(|n| plan[*n].name.contains("Exchange"));
        let stages = shuffles.chain([before]).flat_map(|n| &plan[n].stages);
        Some(Late {
            filter,
            step,
            condition: condition.trim(),
            kept,
            stages: stages.copied().collect(),
        })
    });
    found.collect()
}

/// The step below a filter that one of its conditions could precede.
fn early<'a>(
    plan: &[SparkNode],
    filter: usize,
    mut conditions: impl Iterator<Item = &'a str>,
) -> Option<(Step, usize, &'a str)> {
    if let Some(step) = opaque_below(plan, filter) {
        let node = &plan[step];
        if is_deduplication(node) {
            let condition = conditions.find(|c| is_of_firsts(node, c))?;
            return Some((Step::Deduplication, step, condition));
        }
        if node.name.contains("InPandas") || node.name.contains("InArrow") {
            let condition = conditions.find(|c| is_of_arguments(node, c))?;
            return Some((Step::Function, step, condition));
        }
    }
    let (join, functions) = join_below(plan, filter)?;
    let condition = conditions.find(|c| may_precede(plan, join, c, &functions))?;
    Some((Step::Join, join, condition))
}

/// The join whose rows a node takes, past nodes that pass each row on, with the definitions of columns on the way: Python functions and
/// expressions.
fn join_below(plan: &[SparkNode], node: usize) -> Option<(usize, Vec<&str>)> {
    let mut functions = Vec::new();
    let mut at = node;
    loop {
        at = inputs_of(plan, at).next()?;
        let name = plan[at].name.trim();
        match name {
            _ if name.ends_with("Join") => return Some((at, functions)),
            "BatchEvalPython" | "ArrowEvalPython" => functions.push(plan[at].text.as_str()),
            "Project" => functions.extend(definitions(&plan[at].text)),
            "InputAdapter" => {}
            _ if name.starts_with("WholeStageCodegen") => {}
            _ => return None,
        }
    }
}

/// The expressions with a name in the text of a projection.
fn definitions(project: &str) -> impl Iterator<Item = &str> {
    let list = project.split_once('[').map_or("", |(_, list)| list);
    listed(list.strip_suffix(']').unwrap_or(list))
        .into_iter()
        .filter(|item| item.contains(" AS "))
}

/// Whether a condition has all its columns on one side of a join that keeps the rows of that side, or compares a key that both have.
fn may_precede(plan: &[SparkNode], join: usize, condition: &str, functions: &[&str]) -> bool {
    let text = plan[join].text.as_str();
    let used = columns(condition);
    // a function takes columns and makes one; an expression ends with the column that it makes
    let makes_used = |f: &str| {
        let made = f.rsplit_once(" AS ").map_or(f, |(_, made)| made);
        columns(made).iter().any(|c| used.contains(c))
    };
    let computed = functions.iter().copied().filter(|f| makes_used(f));
    let mut sides = inputs_of(plan, join);
    let side = |side: Option<usize>| -> HashSet<&str> {
        let nodes = side
            .into_iter()
            .flat_map(|n| below(plan, n).into_iter().chain([n]));
        nodes.flat_map(|n| columns(&plan[n].text)).collect()
    };
    let (left, right) = (side(sides.next()), side(sides.next()));
    let all = used
        .iter()
        .copied()
        .chain(computed.flat_map(|f| columns(f)));
    let used: HashSet<&str> = all
        .filter(|c| left.contains(c) || right.contains(c))
        .collect();
    if used.is_empty() {
        return false;
    }
    let is_kind = |kind: &str| text.contains(kind);
    let of_left = is_kind("Inner") || is_kind("LeftOuter") || is_kind("LeftSemi");
    let of_right = is_kind("Inner") || is_kind("RightOuter");
    // the keys of a full outer join come from either side
    let mut keys = text
        .split(['[', ']'])
        .skip(1)
        .step_by(2)
        .map(|k| k.split(", "));
    let pairs = keys
        .next()
        .into_iter()
        .flatten()
        .zip(keys.next().into_iter().flatten());
    let mut of_pair = pairs.map(|(a, b)| HashSet::from([a, b]));
    let both = is_kind("FullOuter")
        && of_pair.any(|pair| {
            let numbers: HashSet<&str> = pair.iter().flat_map(|key| columns(key)).collect();
            used == numbers
        });
    both || (of_left && used.is_subset(&left)) || (of_right && used.is_subset(&right))
}

/// Whether a node keeps the first row of each key, as `dropDuplicates` does.
fn is_deduplication(node: &SparkNode) -> bool {
    node.name.contains("Aggregate") && node.text.contains("first(")
}

/// Whether a condition needs only columns of the rows that an aggregation keeps.
fn is_of_firsts(group: &SparkNode, condition: &str) -> bool {
    let firsts = group.text.split("first(").skip(1);
    needs_only(condition, firsts.filter_map(|of| columns_in(of).next()))
}

/// Whether all columns of a condition have the names of arguments of a Python function.
fn is_of_arguments(function: &SparkNode, condition: &str) -> bool {
    let arguments = function.text.split_once('(').map_or("", |(_, rest)| rest);
    let arguments = arguments.split(')').next().unwrap_or_default();
    needs_only(condition, columns_in(arguments))
}

/// Whether a condition excludes more than nulls and has only columns of these names.
fn needs_only<'a>(condition: &str, names: impl Iterator<Item = &'a str>) -> bool {
    let names: HashSet<&str> = names.collect();
    let mut used = columns_in(condition).peekable();
    let is_trivial = condition.trim_start_matches('(').starts_with("isnotnull(");
    !is_trivial && used.peek().is_some() && used.all(|column| names.contains(column))
}

fn below(plan: &[SparkNode], node: usize) -> Vec<usize> {
    let mut found = HashSet::from([node]);
    let inside =
        |n: &usize| plan[*n].parent.is_some_and(|p| found.contains(&p)) && found.insert(*n);
    (node + 1..plan.len()).filter(inside).collect()
}

/// The numbers that Spark gives columns: `12` of `amount#12L`.
fn columns(text: &str) -> HashSet<&str> {
    let after = text.split('#').skip(1);
    let number = after.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit());
        &rest[..end.unwrap_or(rest.len())]
    });
    number.filter(|n| !n.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, text: &str, parent: Option<usize>, rows: f64) -> SparkNode {
        let metric = job::model::NodeMetric {
            name: "number of output rows".to_owned(),
            value: Some(rows),
            max: None,
        };
        SparkNode {
            name: name.into(),
            text: text.into(),
            parent,
            metrics: vec![metric],
            stages: vec![parent.map_or(0, |p| p + 1)],
            ..SparkNode::default()
        }
    }

    #[test]
    fn only_conditions_that_all_must_hold_are_divided() {
        for (text, expected) in [
            ("(a#1 > 2)", vec!["a#1 > 2"]),
            ("((a#1 > 2) AND (b#2 = 3))", vec!["a#1 > 2", "b#2 = 3"]),
            (
                "((a#1 > 2) OR ((b#2 = 3) AND (c#3 = 4)))",
                vec!["(a#1 > 2) OR ((b#2 = 3) AND (c#3 = 4))"],
            ),
        ] {
            let mut found = conjuncts(text);
            found.sort_unstable();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_filter_is_late_if_a_side_of_the_join_has_its_columns() {
        for (join, condition, kept, expected) in [
            (
                "SortMergeJoin [k#1], [k#4], FullOuter",
                "(coalesce(k#1, k#4) < 9)",
                10.0,
                true,
            ),
            (
                "SortMergeJoin [k#1], [k#4], FullOuter",
                "(coalesce(k#1, k#4) < 9)",
                90.0,
                false,
            ),
            (
                "SortMergeJoin [k#1], [k#4], FullOuter",
                "(a#2 < 9)",
                10.0,
                false,
            ),
            (
                "SortMergeJoin [k#1], [k#4], LeftOuter",
                "(a#2 < 9)",
                10.0,
                true,
            ),
            (
                "SortMergeJoin [k#1], [k#4], LeftOuter",
                "isnull(b#5)",
                10.0,
                false,
            ),
            (
                "SortMergeJoin [k#1], [k#4], Inner",
                "(a#2 < b#5)",
                10.0,
                false,
            ),
        ] {
            let plan = vec![
                node("Filter", &format!("Filter {condition}"), None, kept),
                node("SortMergeJoin", join, Some(0), 100.0),
                node("Exchange", "Exchange hashpartitioning(k#1)", Some(1), 60.0),
                node("Scan parquet ", "FileScan parquet [k#1,a#2]", Some(2), 60.0),
                node("Exchange", "Exchange hashpartitioning(k#4)", Some(1), 60.0),
                node("Scan parquet ", "FileScan parquet [k#4,b#5]", Some(4), 60.0),
            ];
            let execution = Execution {
                plan,
                ..Execution::default()
            };
            let found = late_filters(&execution);
            assert_eq!(found.len() == 1, expected, "{join} {condition} {kept}");
        }
    }

    #[test]
    fn a_filter_is_late_if_the_python_function_before_it_has_its_column() {
        for (condition, expected) in [("(park#9 = 3)", true), ("(sigma#11 > 2.0)", false)] {
            let function = "FlatMapGroupsInPandas [turbine#0L], fit(turbine#0L, park#1, power#4)#7, [turbine#8L, park#9, sigma#11]";
            let plan = vec![
                node("Filter", &format!("Filter {condition}"), None, 10.0),
                node("FlatMapGroupsInPandas", function, Some(0), 100.0),
            ];
            let execution = Execution {
                plan,
                ..Execution::default()
            };
            assert_eq!(late_filters(&execution).len() == 1, expected, "{condition}");
        }
    }
}
