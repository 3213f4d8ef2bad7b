//! Rule for `cache.ineffective`: several executions compute the same rows from the same files, or several jobs
//! from the same RDDs.
//!
//! A part of a plan that several executions have in common, from the files on, is computed once in each. Its cost
//! is at most the cost of its stages in the cheapest execution; a cached result saves this in each of the others, less the time
//! to cache its rows and to read them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use job::facts::{Derived, Spread};
use job::model::{Application, Execution};

use super::support::{Symptom, rule};
use super::{dropped_cache, range_sample, wide_cache};
use crate::facts::fact;
use crate::impact::scale_run;
use crate::measurements::plan_parts::{Parts, below_caches, files, rows_from, stages_below};
use crate::measurements::rates::ROW_NS;
use crate::rule::Examination;
use crate::scans::EXISTING_RDD;
use crate::view::View;
use report::format::{Bytes, FewNames, Names, Seconds, TIME};
use report::{Evidence, Text, text};

rule! { RULE = IneffectiveCache, examine;
    "多次执行从同样的来源重复计算同样的数据", "several executions compute the same rows from the same source";
    needs StageGraph, VertexEvents;
    helps Script;
    unless "执行读取的是缓存（InMemoryTableScan）", "the executions read a cache (InMemoryTableScan)";
    unless "只是读取同样的文件，之后的计算不同", "they read the same files, but compute different results from them";
    cleared "没有多次执行重复计算同样的数据", "no executions compute the same rows again";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let Some(app) = view.job.spark.as_deref().filter(|_| !view.failed()) else {
        return;
    };
    let of_executions = shared_parts(&app.executions).into_iter();
    for same in of_executions.chain(alike_stages(view, app)) {
        match repeated(view, &same) {
            Some(repeated) => result.found(view, symptom(view, app, &same, repeated)),
            None => result.under(0.5, || evidence(view, app, &same)),
        }
    }
    for symptom in inferences(view, app)
        .into_iter()
        .chain(wide_cache::symptoms(view, app))
        .chain(dropped_cache::symptoms(view, app))
        .chain(range_sample::symptoms(view, app))
    {
        result.found(view, symptom);
    }
}

/// Execution or job that computes rows, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComputedBy {
    Execution(usize),
    /// A stage of a job without a plan.
    Stage(usize),
}

/// One of several computations of the same rows.
#[derive(Debug, PartialEq)]
struct Computation {
    by: ComputedBy,
    /// Stages that run it.
    stages: BTreeSet<usize>,
    /// Rows of its last node, and of the last step that the computations have in common.
    rows: Option<[f64; 2]>,
}

/// Stages that must start from the same RDDs.
const LEAST_ALIKE: usize = 3;

/// Largest deviation of their times from the median, as a share of the median.
const LIKE: f64 = 0.3;

/// Source of the rows of a stage.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Start<'a> {
    /// Tasks and rows read: stages that agree in both, and about in the bytes, have read the same files. Not so in
    /// different micro-batches: each reads the next files.
    Files(u32, u64, Option<&'a str>),
    /// Numbers of RDDs.
    Rdds(&'a [u32]),
}

/// Rows and bytes that a stage reads from files, if it reads nothing else.
fn read_from_files(view: &View<'_>, stage: usize) -> Option<(f64, f64)> {
    let facts = &view.facts[stage].per_vertex;
    let total = |d: &Option<_>| d.as_ref().map(|d: &Derived<Spread>| d.value.total);
    let shuffled = total(&facts.exchange_bytes_read).unwrap_or(0.0);
    let (rows, bytes) = (total(&facts.rows_read)?, total(&facts.stored_bytes_read)?);
    (shuffled == 0.0 && rows > 0.0 && bytes > 0.0).then_some((rows, bytes))
}

/// Largest ratio of the bytes of the same rows: reading ahead in a file differs a little.
const SAME_BYTES: f64 = 1.001;

/// Whether a stage starts from RDDs that no plan describes: it has no plan, or its plan reads an existing RDD, like the plans
/// of `foreachBatch`.
fn starts_from_rdds(view: &View<'_>, app: &Application, stage: usize) -> bool {
    let mut nodes = view.scans.get(&stage).into_iter().flatten();
    app.stages[stage].execution.is_none() || nodes.any(|n| n.name == EXISTING_RDD)
}

/// Stages of different jobs that start from the same RDDs and have about the same duration. The log does not record
/// their functions, so fewer or less similar stages are no evidence.
fn alike_stages(view: &View<'_>, app: &Application) -> Vec<Vec<Computation>> {
    let Some(run) = view.run.as_ref() else {
        return Vec::new();
    };
    let memory: u64 = app.executors.iter().filter_map(|e| e.memory_bytes).sum();
    let fits = |s: &usize| {
        let bytes = read_from_files(view, *s).map_or(0.0, |(_, bytes)| bytes);
        memory == 0 || bytes <= memory as f64
    };
    // the last such stage of each job
    let mut starts: BTreeMap<Start<'_>, BTreeMap<usize, usize>> = BTreeMap::new();
    for (at, stage) in app.stages.iter().enumerate().take(run.stages.len()) {
        // without their functions, the size of the rows to cache is unknown
        let is_known = starts_from_rdds(view, app, at) && !stage.sources.is_empty() && fits(&at);
        if let Some(job) = stage.job.filter(|_| is_known) {
            let start = match read_from_files(view, at) {
                Some((rows, _)) => Start::Files(stage.tasks, rows as u64, app.jobs[job].batch()),
                None => Start::Rdds(&stage.sources),
            };
            starts.entry(start).or_default().insert(job, at);
        }
    }
    let work = |s: &usize| run.stages[*s].run_s();
    let computation = |s| Computation {
        by: ComputedBy::Stage(s),
        stages: BTreeSet::from([s]),
        rows: None,
    };
    let of_start = |(start, of_jobs): (Start<'_>, BTreeMap<usize, usize>)| {
        let mut works: Vec<f64> = of_jobs.values().map(work).collect();
        works.sort_by(f64::total_cmp);
        let median = works.get(works.len() / 2).copied()?;
        let bytes = |s: &usize| read_from_files(view, *s).map_or(1.0, |(_, bytes)| bytes);
        let least_bytes = of_jobs.values().map(bytes).fold(f64::INFINITY, f64::min);
        let is_usual = |s: &usize| {
            (work(s) / median - 1.0).abs() <= LIKE && bytes(s) <= least_bytes * SAME_BYTES
        };
        let alike = of_jobs.into_values().filter(is_usual).map(computation);
        let alike: Vec<Computation> = alike.collect();
        let least = match start {
            Start::Files(..) => 2,
            Start::Rdds(_) => LEAST_ALIKE,
        };
        (alike.len() >= least).then_some(alike)
    };
    starts.into_iter().filter_map(of_start).collect()
}

/// Common parts of the plans of several executions, from the files on, the most frequent and then the longest
/// first. Each execution counts for only one part.
fn shared_parts(executions: &[Execution]) -> Vec<Vec<Computation>> {
    let mut known = Parts::default();
    let mut nodes_of: BTreeMap<usize, BTreeMap<usize, [usize; 2]>> = BTreeMap::new();
    for (at, execution) in executions.iter().enumerate() {
        let cached = below_caches(&execution.plan);
        for (node, part) in known.parts_of(&execution.plan).into_iter().enumerate() {
            // every plan that reads a cache also has the nodes that filled it
            let own = part.filter(|part| known.steps[*part] > 0 && !cached[node]);
            if let Some(part) = own {
                // among equal nodes, the first one is computed last; those above the last step may differ
                let nodes = nodes_of.entry(part).or_default();
                nodes.entry(at).or_insert([node, node])[1] = node;
            }
        }
    }
    let mut parts: Vec<(usize, BTreeMap<usize, [usize; 2]>)> = nodes_of.into_iter().collect();
    parts.retain(|(_, nodes)| nodes.len() > 1);
    parts.sort_by_key(|(part, nodes)| Reverse((nodes.len(), known.steps[*part])));
    let mut taken = BTreeSet::new();
    let mut found = Vec::new();
    for (_, mut nodes) in parts {
        nodes.retain(|at, _| !taken.contains(at));
        if nodes.len() > 1 {
            taken.extend(nodes.keys().copied());
            let computation = |(at, [last, step]): (usize, [usize; 2])| {
                let plan = &executions[at].plan;
                Computation {
                    by: ComputedBy::Execution(at),
                    stages: stages_below(plan, last),
                    rows: rows_from(plan, last)
                        .zip(rows_from(plan, step))
                        .map(Into::into),
                }
            };
            found.push(nodes.into_iter().map(computation).collect());
        }
    }
    found
}

/// Rows to cache: the last ones, if every computation ends with as many, else those of the last common step.
fn cached_rows(same: &[Computation]) -> f64 {
    let rows: Vec<[f64; 2]> = same.iter().filter_map(|c| c.rows).collect();
    match rows.first() {
        Some([last, step]) => match rows.iter().all(|[other, _]| other == last) {
            true => *last,
            false => *step,
        },
        None => 0.0,
    }
}

struct Repeated {
    /// Number of computations.
    times: usize,
    /// Stages that repeat it, each with the seconds of work of its computation.
    again: Vec<(usize, f64)>,
    /// Seconds of work of the cheapest computation, less those with a cache.
    shared_s: f64,
    first: Option<usize>,
}

/// The repeated work; `None` with fewer than two known computations.
fn repeated(view: &View<'_>, same: &[Computation]) -> Option<Repeated> {
    let run = view.run.as_ref()?;
    // an execution that reads a cache also lists the stages that filled it
    let mut seen = BTreeSet::new();
    let mut own = |computation: &Computation| -> Vec<usize> {
        let known = computation.stages.iter().copied();
        let known = known.filter(|s| *s < run.stages.len());
        known.filter(|s| seen.insert(*s)).collect()
    };
    let stages: Vec<Vec<usize>> = same.iter().map(&mut own).collect();
    let work = |own: &Vec<usize>| own.iter().map(|s| run.stages[*s].run_s()).sum::<f64>();
    let works: Vec<f64> = stages.iter().map(work).filter(|w| *w > 0.0).collect();
    let cheapest = works.iter().copied().reduce(f64::min)?;
    if works.len() < 2 {
        return None;
    }
    // the rows are cached once, and read each time
    let times = works.len() as f64;
    let shared_s = cheapest - cached_rows(same) * ROW_NS / 1e9 * times / (times - 1.0);
    if shared_s <= 0.0 {
        return None;
    }
    let first = stages.first().and_then(|s| s.first().copied());
    let again = stages.iter().skip(1).flat_map(|own| {
        let all = work(own);
        own.iter().map(move |s| (*s, all))
    });
    Some(Repeated {
        times: works.len(),
        again: again.collect(),
        shared_s,
        first,
    })
}

fn symptom(
    view: &View<'_>,
    app: &Application,
    same: &[Computation],
    repeated: Repeated,
) -> Symptom {
    let (n, shared_s, again) = (repeated.times as f64, repeated.shared_s, repeated.again);
    Symptom {
        stage: again.first().map(|(s, _)| *s).or(repeated.first),
        lines: None,
        summary: text!(
            "同样的数据从同样的来源计算了 {n}，每次至少 {time} 的任务时间；缓存后只需一次",
            "the same rows are computed from the same source {n}, each time with at least {time} of task time; with a cache, once would be enough",
            n = TIME.count(n),
            time = Seconds(shared_s),
        ),
        evidence: evidence(view, app, same),
        saved: view.saved(move |stages| {
            for (s, all) in &again {
                scale_run(&mut stages[*s], 1.0 - (shared_s / all).min(1.0));
            }
        }),
        method: "schedule replayed with the shared work done once",
        strength: 0.6 + 0.1 * (n - 2.0).clamp(0.0, 3.0),
    }
}

/// Passes over all files that only look for a schema, before a query reads the same files.
fn inferences(view: &View<'_>, app: &Application) -> Vec<Symptom> {
    let bytes = |stage: usize| read_from_files(view, stage).map(|(_, bytes)| bytes);
    let is_query = |stage: usize| !app.stages[stage].lists_files();
    let stages = 0..app.stages.len().min(view.facts.len());
    let queries: Vec<f64> = stages
        .clone()
        .filter(|s| is_query(*s))
        .filter_map(bytes)
        .collect();
    let inferred = stages.filter(|s| app.stages[*s].lists_files());
    let symptom = |stage: usize| {
        let read = bytes(stage)?;
        queries
            .iter()
            .any(|b| *b >= read / SAME_BYTES)
            .then_some(())?;
        let (name, site) = (view.name(stage), &app.stages[stage].call_site);
        Some(Symptom {
            stage: Some(stage),
            lines: None,
            summary: text!(
                "{name}（{site}）读取 {size} 只为推断模式，之后的查询再读一遍",
                "{name} ({site}) reads {size} only to infer the schema, and a query reads them again",
                size = Bytes(read),
            ),
            evidence: view.facts[stage].per_vertex.stored_bytes_read.as_ref()
                .and_then(|of| of.sources.first())
                .map(|source| fact! { view, "Bytes Read", read, "bytes", source.clone();
                    "{name} 读取 {size}，没有 SQL 计划", "{name} reads {size} without a plan of SQL", size = Bytes(read) })
                .into_iter()
                .collect(),
            saved: view.saved_in(stage, |stage| stage.vertices.clear()),
            method: "schedule replayed without the stage that infers the schema",
            strength: 0.9,
        })
    };
    inferred.filter_map(symptom).collect()
}

fn evidence(view: &View<'_>, app: &Application, same: &[Computation]) -> Vec<Evidence> {
    let fact = |computation: &Computation| match computation.by {
        ComputedBy::Execution(at) => files_of(view, app, at, &computation.stages),
        ComputedBy::Stage(at) => Some(rdds_of(view, app, at)),
    };
    same.iter().filter_map(fact).take(CITED).collect()
}

/// Computations that are cited.
const CITED: usize = 12;

/// The files that an execution starts from.
fn files_of(
    view: &View<'_>,
    app: &Application,
    at: usize,
    stages: &BTreeSet<usize>,
) -> Option<Evidence> {
    let execution = &app.executions[at];
    let place = execution.plan.iter().find_map(files)?;
    let id = execution.id;
    // `InMemoryFileIndex(1 paths)[file:/data/labs]`
    let listed = place
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    let path = listed.map_or(place.as_str(), |(path, _)| path);
    let names: Vec<&str> = stages.iter().map(|s| view.name(*s)).collect();
    let stages = match names.is_empty() {
        true => Text::default(),
        false => text!("（{names}）", " ({names})", names = FewNames(&names)),
    };
    Some(
        fact! { view, "Location", &place, app.at_line(execution.line);
        "SQL 执行 {id}{stages}从 {path} 计算", "SQL execution {id}{stages} computes from {path}", stages = stages },
    )
}

/// The RDDs that a stage starts from.
fn rdds_of(view: &View<'_>, app: &Application, at: usize) -> Evidence {
    let stage = &app.stages[at];
    let sources: Vec<String> = stage.sources.iter().map(u32::to_string).collect();
    fact! { view, "RDD ID", &sources.join(", "), app.at_line(stage.line);
    "{name} 从 RDD {sources} 开始计算", "{name} computes from RDD {sources}", name = view.name(at), sources = Names(&sources) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use job::model::SparkNode;

    use super::*;

    /// A scan is named after its format.
    fn metadata(name: &str, text: &str) -> BTreeMap<String, String> {
        let format = name.trim_start_matches("Scan ").to_uppercase();
        let all = [("Location", text), ("Format", format.trim())];
        all.map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    }

    /// An execution with a chain of nodes, each in a separate stage.
    fn execution(nodes: &[(&str, &str)]) -> Execution {
        let chained = |(at, (name, text)): (usize, &(&str, &str))| SparkNode {
            parent: at.checked_sub(1),
            metadata: metadata(name, text),
            stages: vec![at],
            name: (*name).into(),
            text: (*text).into(),
            ..SparkNode::default()
        };
        Execution {
            plan: nodes.iter().enumerate().map(chained).collect(),
            ..Execution::default()
        }
    }

    #[test]
    fn what_several_executions_compute_is_shared_whatever_they_do_with_it() {
        let scan = ("Scan parquet ", "/data");
        let groups = ("HashAggregate", "HashAggregate(keys=[a#1], functions=[])");
        let top = |text| execution(&[("HashAggregate", text), ("Exchange", ""), groups, scan]);
        let hours = top("HashAggregate(keys=[h#2], functions=[])");
        let all = top("HashAggregate(keys=[], functions=[max(n#3)])");
        let other = execution(&[("HashAggregate", "HashAggregate(keys=[z#1])"), scan]);
        let found = shared_parts(&[hours.clone(), other.clone(), all.clone(), hours.clone()]);
        let below = BTreeSet::from([2, 3]);
        let same = [0, 2, 3].map(|at| Computation {
            by: ComputedBy::Execution(at),
            stages: below.clone(),
            rows: None,
        });
        assert_eq!(found.len(), 1);
        assert_eq!(found[0], same);
        let cached = execution(&[groups, ("InMemoryTableScan", ""), groups, scan]);
        assert!(shared_parts(&[cached, other]).is_empty());
    }

    #[test]
    fn reading_the_same_files_is_shared_only_if_their_rows_are_parsed() {
        let count = |filter, scan| execution(&[("HashAggregate", ""), ("Filter", filter), scan]);
        for (scan, filters, is_shared) in [
            (
                ("Scan csv ", "/data"),
                ["Filter isnull(a#1)", "Filter isnull(b#2)"],
                true,
            ),
            (
                ("Scan parquet ", "/data [a#1]"),
                ["Filter (a#1 > 1)", "Filter (a#1 > 2)"],
                false,
            ),
            (
                ("Scan parquet ", "/data [doc#1]"),
                [
                    "Filter (from_json(StructField(x), doc#1).x > 1)",
                    "Filter (get_json_object(doc#1, $.y) > 1)",
                ],
                true,
            ),
        ] {
            let found = shared_parts(&filters.map(|filter| count(filter, scan)));
            assert_eq!(found.len(), usize::from(is_shared), "{scan:?}");
        }
    }
}
