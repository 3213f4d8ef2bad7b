//! Rule for `join.explosion`: a many-to-many join that produces far more rows than it reads.

use std::collections::BTreeSet;

use job::facts::{OperatorFacts, Role, value};
use job::model::{Operator, OperatorKind};

use super::nested_loop;
use super::support::{Symptom, lacks, rule};
use crate::facts::fact;
use crate::impact::{Saved, scale_run};
use crate::measurements::estimate::wrong_fact;
use crate::measurements::explosion::{MIN_FACTOR, output};
use crate::rule::Examination;
use crate::view::View;
use report::format::{Names, Number, ROW};
use report::text;

rule! { RULE = JoinExplosion, examine;
    "多对多连接的输出行数远多于输入，或连接逐对比较所有行", "a many-to-many join produces far more rows than it reads, or a join compares every pair of rows";
    needs RuntimeCounters, StageGraph;
    helps TableStatistics, Estimates;
    thresholds MIN_FACTOR;
    unless "输出与较大一侧相当", "the output is about the size of the larger side";
    unless "输出多但后续很便宜", "the output is large but the steps after it are cheap";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let limit = view.limit(&MIN_FACTOR);
    for (stage, s) in view.job.stages.iter().enumerate() {
        for (index, join) in s
            .operators
            .iter()
            .enumerate()
            .filter(|(_, o)| matches!(o.kind, OperatorKind::Join | OperatorKind::Combine))
        {
            if is_cross(view, join) {
                result.under(0.0, Vec::new);
                continue;
            }
            let Some((out, should)) = output(view, stage, index) else {
                if !view.failed() {
                    lacks! { result, view, RuntimeCounters, Some(stage);
                    "没有行数说明 {stage} 的连接输出多少行", "no file gives the number of rows that the join in {stage} produces", stage = view.name(stage) }
                }
                continue;
            };
            if out / should >= limit {
                result.found(view, symptom(view, stage, index, out, should));
            } else {
                result.under(out / should / limit, || {
                    let rows = view.node(stage, join.uid).map(|o| &o.rows);
                    let fact = rows.and_then(|rows| view.measured(rows, "rows"));
                    fact.into_iter().collect()
                });
            }
        }
    }
    if let Some(app) = view.job.spark.as_deref().filter(|_| !view.failed()) {
        for symptom in nested_loop::symptoms(view, app) {
            result.found(view, symptom);
        }
    }
    let most = result.closest.as_ref().map_or(0.0, |c| c.of_limit * limit);
    result.cleared_by(text!(
        "连接输出最多为键只在一侧重复时的 {most:.1} 倍",
        "joins produce at most {most:.1} times as many rows as if the key repeated on one side only"
    ));
}

/// Whether the code asks for every pair of rows, by `crossJoin` or CROSS JOIN.
fn is_cross(view: &View<'_>, join: &Operator) -> bool {
    let plans = view.job.spark.iter().flat_map(|app| &app.executions);
    let mut nodes = plans.flat_map(|execution| &execution.plan);
    let node = nodes.find(|node| join.uid == Some(node.uid));
    node.is_some_and(|node| node.text.split([',', ' ']).any(|word| word == "Cross"))
}

fn symptom(view: &View<'_>, stage: usize, index: usize, out: f64, should: f64) -> Symptom {
    let join = &view.job.stages[stage].operators[index];
    let factor = out / should;
    let mut evidence = Vec::new();
    if let Some(rows) = view.node(stage, join.uid).and_then(|o| o.rows.as_ref()) {
        evidence.extend(view.measured(rows, "rows"));
        let limit = view.limit(&MIN_FACTOR);
        let metric = format!("{} / rows if the key repeated on one side", rows.metric);
        evidence.push(
            fact! { view, &metric, factor, "ratio", rows.source();
                "输出是键只在一侧重复时的 {factor:.1} 倍", "the output is {factor:.1} times as large as if the key repeated on one side only" }
                .expecting(format!("<= {limit:.0}")),
        );
        evidence.extend(wrong_fact(view, stage, index));
        for edge in view.inputs(stage) {
            let read = view.node(stage, edge.uid);
            evidence.extend(read.and_then(|o| view.measured(&o.rows, "rows")));
        }
    }
    Symptom {
        stage: Some(stage),
        lines: view.lines(stage, index),
        summary: text!(
            "{stage} 按 {keys} 的连接输出 {rows}：两侧的键都有重复；若只在一侧重复约为 {n_2} 行，实际是其 {factor:.1} 倍",
            "the join on {keys} in {stage} produces {rows}: the key repeats on both sides; if it repeated on one only, there would be about {n_2}, {factor:.1} times fewer",
            stage = view.name(stage),
            keys = Names(&join.keys),
            n_2 = Number(should),
            rows = ROW.count(out)
        ),
        evidence,
        saved: saved(view, stage, join, should / out, out),
        method: "schedule replayed with the key of the join repeating on one side only",
        strength: 0.6 + 0.4 * ((factor / 4.0).log2() / 3.0).clamp(0.0, 1.0),
    }
}

/// Shrinks the join, the later operators in its stage, and the stages that its rows reach.
fn saved(view: &View<'_>, stage: usize, join: &Operator, factor: f64, out: f64) -> Option<Saved> {
    if view.is_untimed(stage) {
        return None;
    }
    let after = ms_from(view, stage, join);
    // operators of an application run fused: their time is proportional to their rows
    let fraction = match view.job.spark {
        Some(_) => 1.0 / (1.0 + factor),
        None => view.fraction(stage, after),
    };
    let mut reached = BTreeSet::new();
    reach(view, stage, out, &mut reached);
    view.saved(move |stages| {
        scale_run(&mut stages[stage], 1.0 - fraction * (1.0 - factor));
        for s in &reached {
            scale_run(&mut stages[*s], factor);
        }
    })
}

/// Time of a join and of everything above it in its stage.
fn ms_from(view: &View<'_>, stage: usize, join: &Operator) -> f64 {
    let facts = &view.facts[stage];
    let Some(at) = facts.position(join.uid) else {
        return 0.0;
    };
    // further outputs of the stage write the join's rows as well, through their own nodes
    let is_output = |o: &OperatorFacts| o.parent.is_none() && o.role == Role::ChannelWriter;
    let outputs = (0..facts.operators.len()).filter(|i| is_output(&facts.operators[*i]));
    let reached: BTreeSet<usize> = [at]
        .into_iter()
        .chain(facts.above(at))
        .chain(outputs)
        .collect();
    let ms = |i: usize| value(&facts.operators[i].own_ms).unwrap_or(0.0);
    reached.into_iter().map(ms).sum()
}

/// Stages that read a large part of the multiplied rows.
fn reach(view: &View<'_>, stage: usize, out: f64, reached: &mut BTreeSet<usize>) {
    for edge in view.outputs(stage) {
        if edge.rows_written.is_some_and(|r| r >= 0.4 * out) && reached.insert(edge.to) {
            reach(view, edge.to, out, reached);
        }
    }
}
