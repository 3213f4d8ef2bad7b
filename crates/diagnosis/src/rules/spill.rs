//! Rule for `memory.spill`: sorts or hash tables that go to disk.
//!
//! Spilling costs the time of the spilling operators in excess of the time of the same rows in
//! memory, at the pace of this job's own sorts without spilling.

use job::facts::{OperatorFacts, value};
use job::info::Information;
use job::model::OperatorKind;

use super::support::{Symptom, rule};
use crate::facts::fact;
use crate::impact::scale_run;
use crate::measurements::sizing::too_few;
use crate::measurements::spill::{ms, surplus_ms};
use crate::measurements::tasks::spilled;
use crate::rule::Examination;
use crate::view::View;
use report::format::{Bytes, Names, Seconds};
use report::{Cause, Text, text};

/// Least ratio of temporary data to output that proves spilling.
const EXCESS: f64 = 1.5;

/// Spilling operators with their numbers in the evidence.
const MOST_SHOWN: usize = 4;

rule! { RULE = Spill, examine;
    "排序或哈希表落盘", "sorts or hash tables spill to disk";
    needs RuntimeCounters, StageGraph;
    helps MemoryEstimate, StageStatistics;
    unless "输入倾斜：只有热点顶点落盘", "skewed input: only the hot vertex spills";
    unless "分区太少或估计错误：落盘只是后果", "too few partitions or a wrong estimate: spilling follows from it";
    unless "落盘很少，几乎不花时间", "light spilling that takes hardly any time";
    cleared "没有算子因落盘而明显变慢", "no operator is much slower for spilling to disk";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    for stage in 0..view.job.stages.len() {
        if view.job.spark.is_some() {
            of_tasks(view, stage, result);
        } else if view.facts[stage].spills().is_some() {
            counted(view, stage, result);
        } else if keeps_rows(view, stage) && !view.failed() {
            uncounted(view, stage, result);
        }
    }
}

/// A stage with spill counters. Skewed vertices, and too few vertices,
/// spill because each has too much data.
fn counted(view: &View<'_>, stage: usize, result: &mut Examination) {
    let surplus = surplus_ms(view, stage);
    let uneven = view.uneven.iter().find(|u| u.stage == stage && u.matters);
    let buckets = |o: &OperatorFacts| value(&o.spilled).unwrap_or(0.0);
    if surplus <= 0.0 {
        let spilled = view.facts[stage].operators.iter();
        let most = spilled
            .filter(|o| o.spilled.is_some())
            .max_by(|a, b| buckets(a).total_cmp(&buckets(b)));
        let of_limit = f64::from(u8::from(most.is_some_and(OperatorFacts::has_spilled)));
        result.under(of_limit * 0.9, || {
            let fact = most.and_then(|o| view.measured(&o.spilled, "buckets"));
            fact.into_iter().collect()
        });
    } else if let Some(uneven) = uneven {
        result.attributed(view, uneven.cause, stage);
    } else if too_few(view, stage, false).is_some() {
        result.attributed(view, Cause::ParallelismTooLow, stage);
    } else if let Some(symptom) = spilling(view, stage, surplus) {
        result.found(view, symptom);
    }
}

/// A stage of an application; its tasks count the bytes of memory that they spilled. Skewed tasks, and
/// tasks of a gather, spill because each has too much data.
fn of_tasks(view: &View<'_>, stage: usize, result: &mut Examination) {
    let Some((bytes, fraction)) = spilled(view, stage).filter(|_| !view.failed()) else {
        return;
    };
    let of_stage = &view.facts[stage].per_vertex;
    let facts = || {
        let source = of_stage
            .memory_spilled
            .as_ref()
            .and_then(|s| s.sources.first());
        let fact = source.map(|source| {
            fact! { view, "Memory Bytes Spilled", bytes, "bytes", source.clone();
                "在内存中占 {size} 的行落盘", "rows that take {size} in memory were spilled", size = Bytes(bytes) }
        });
        fact.into_iter().collect()
    };
    let uneven = view.uneven.iter().find(|u| u.stage == stage && u.matters);
    if bytes <= 0.0 {
        result.under(0.0, facts);
    } else if let Some(uneven) = uneven {
        result.attributed(view, uneven.cause, stage);
    } else {
        let symptom = Symptom {
            stage: Some(stage),
            lines: None,
            summary: text!(
                "{stage} 的 Task 内存不足，把在内存中占 {size} 的行落盘",
                "the tasks of {stage} have too little memory and spill rows that take {size} in memory to disk",
                stage = view.name(stage),
                size = Bytes(bytes),
            ),
            evidence: facts(),
            saved: view.saved_in(stage, move |stage| scale_run(stage, 1.0 - fraction)),
            method: "schedule replayed without writing and reading the spilled data",
            strength: 0.5 + 0.5 * fraction,
        };
        result.found(view, symptom);
    }
}

/// Whether operators of a stage hold rows in memory: sorts, joins, aggregations.
fn keeps_rows(view: &View<'_>, stage: usize) -> bool {
    use OperatorKind::{Aggregate, Join, Sort};
    let operators = &view.job.stages[stage].operators;
    operators
        .iter()
        .any(|o| matches!(o.kind, Sort | Join | Aggregate))
}

/// A stage without spill counters: more temporary data than output still proves spilling, but
/// not its cost.
fn uncounted(view: &View<'_>, stage: usize, result: &mut Examination) {
    let stated = view.facts[stage].stated.as_ref();
    let sizes = stated.and_then(|s| {
        let (temp, written) = (s.temp_written.as_ref()?, s.bytes_written.as_ref()?);
        Some((temp, temp.value, written.value))
    });
    let (info, reason) = match sizes {
        Some((fact, temp, written)) if temp <= written * EXCESS => {
            let of_limit = temp / (written * EXCESS).max(1.0);
            let fact = || view.measured(fact, "bytes").into_iter().collect();
            return result.under(of_limit, fact);
        }
        Some((_, temp, written)) => (
            Information::MemoryUse,
            text!(
                "{stage} 的临时数据（{temp}）多于其输出（{written}），但没有计数器说明落盘的代价",
                "{stage} wrote {temp} of temporary data for {written} of output; without counters the cost of spilling is unknown",
                stage = view.name(stage),
                temp = Bytes(temp),
                written = Bytes(written)
            ),
        ),
        None => (
            Information::RuntimeCounters,
            text!(
                "没有计数器说明 {stage} 的排序和哈希表是否落盘",
                "no counters show whether the sorts and hash tables of {stage} spilled to disk",
                stage = view.name(stage),
            ),
        ),
    };
    result.lacks(info, view, Some(stage), reason);
}

/// Spilling operators of a stage that belong to the same lines of the script.
struct Place<'a> {
    lines: Option<(u32, u32)>,
    /// The costliest first.
    nodes: Vec<&'a OperatorFacts>,
}

impl Place<'_> {
    fn ms(&self) -> f64 {
        self.nodes.iter().map(|node| ms(node)).sum()
    }

    /// The operators, with their numbers if `numbered`, and the lines if `located`.
    fn named(&self, numbered: bool, located: bool) -> Text {
        let name = |node: &&OperatorFacts| match node.uid {
            Some(uid) if numbered => format!("{}[{uid}]", node.name),
            _ => node.name.to_string(),
        };
        let names: Vec<String> = self.nodes.iter().map(name).collect();
        match self.lines.filter(|_| located) {
            Some((first, last)) => text!(
                "{names}（第 {first}–{last} 行）",
                "{names} (lines {first}–{last})",
                names = Names(&names),
            ),
            None => text!("{names}", "{names}", names = Names(&names)),
        }
    }
}

/// The spilling operators of a stage by their place in the script, the costliest place first.
fn places<'a>(view: &'a View<'_>, stage: usize) -> Vec<Place<'a>> {
    let mut places: Vec<Place<'a>> = Vec::new();
    let counted = view.facts[stage].operators.iter();
    for node in counted.filter(|o| o.has_spilled()) {
        let mut operators = view.job.stages[stage].operators.iter();
        let operator = operators.position(|o| o.uid.is_some() && o.uid == node.uid);
        let lines = operator.and_then(|o| view.lines(stage, o));
        match places.iter_mut().find(|p| p.lines == lines) {
            Some(place) => place.nodes.push(node),
            None => places.push(Place {
                lines,
                nodes: vec![node],
            }),
        }
    }
    for place in &mut places {
        place.nodes.sort_by(|a, b| ms(b).total_cmp(&ms(a)));
    }
    places.sort_by(|a, b| b.ms().total_cmp(&a.ms()));
    places
}

fn spilling(view: &View<'_>, stage: usize, surplus: f64) -> Option<Symptom> {
    let places = places(view, stage);
    let nodes: Vec<&OperatorFacts> = places.iter().flat_map(|p| p.nodes.clone()).collect();
    let fraction = view.fraction(stage, surplus);
    let mut evidence = Vec::new();
    for node in nodes.iter().take(MOST_SHOWN) {
        let spilled = view.measured(&node.spilled, "buckets");
        evidence.extend(spilled.map(|f| f.expecting("0")));
        evidence.extend(view.measured(&node.own_ms, "ms"));
        evidence.extend(view.measured(&node.rows, "rows"));
    }
    let spent: f64 = places.iter().map(Place::ms).sum();
    let named = |p: &Place<'_>| p.named(nodes.len() > 1, places.len() > 1);
    let names: Vec<Text> = places.iter().map(named).collect();
    Some(Symptom {
        stage: Some(stage),
        lines: places.first()?.lines,
        summary: text!(
            "{stage} 的 {names} 落盘，共耗时 {time}，其中 {surplus} 是落盘造成的",
            "{names} in {stage} spill to disk: {time} of work, {surplus} of it because of that",
            stage = view.name(stage),
            names = Text::joined(&names, ["、", ", "]),
            time = Seconds(spent / 1000.0),
            surplus = Seconds(surplus / 1000.0)
        ),
        evidence,
        saved: view.saved_in(stage, move |stage| scale_run(stage, 1.0 - fraction)),
        method: "schedule replayed with the spilling operators at their pace in memory",
        strength: 0.5 + 0.5 * (surplus / spent.max(1.0)).min(1.0),
    })
}
