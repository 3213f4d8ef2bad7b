//! Rule for `cache.ineffective`: several executions compute the same rows from the same files.
//!
//! What they share is no more than the cheapest of them takes, so that is what a cached result
//! saves in each of the others.

use std::collections::{BTreeMap, BTreeSet};

use job::info::Information;
use job::model::{Application, Execution, SparkNode};

use super::support::{Symptom, both};
use crate::impact::scale_run;
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use report::format::{Seconds, TIME};
use report::{Cause, Evidence, text};

/// The rule.
pub(crate) struct IneffectiveCache;

static ABOUT: About = About {
    cause: Cause::IneffectiveCache,
    what: both(
        "多次执行从同样的文件重复计算同样的数据",
        "several executions compute the same rows from the same files",
    ),
    needs: &[Information::StageGraph, Information::VertexEvents],
    helps: &[Information::Script],
    thresholds: &[],
    counter_evidence: &[
        both(
            "执行读取的是缓存（InMemoryTableScan）",
            "the executions read a cache (InMemoryTableScan)",
        ),
        both(
            "只是读取同样的文件，之后的计算不同",
            "they only read the same files and compute different things of them",
        ),
    ],
};

impl Rule for IneffectiveCache {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        let Some(app) = view.job.spark.as_deref().filter(|_| !view.failed()) else {
            return result;
        };
        let mut groups: BTreeMap<Lineage, Vec<usize>> = BTreeMap::new();
        for (at, execution) in app.executions.iter().enumerate() {
            if let Some(lineage) = Lineage::of(execution) {
                groups.entry(lineage).or_default().push(at);
            }
        }
        for executions in groups.values() {
            match repeated(view, app, executions) {
                Some(repeated) => result.found(view, symptom(view, app, executions, repeated)),
                None => result.under(0.5, || evidence(view, app, executions)),
            }
        }
        result.cleared_by(text!(
            "没有多次执行重复计算同样的数据",
            "no executions compute the same rows again"
        ))
    }
}

/// What rows are computed from and how: files, and the conditions, joins and functions of the user on
/// the way. Projections differ with the columns that are needed, so they don't count.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lineage {
    files: BTreeSet<String>,
    steps: BTreeSet<String>,
}

impl Lineage {
    /// `None` if the execution computes nothing of files, or reads a cache.
    fn of(execution: &Execution) -> Option<Lineage> {
        if execution
            .plan
            .iter()
            .any(|n| n.name.contains("InMemoryTableScan"))
        {
            return None;
        }
        let ran = |n: &&SparkNode| !n.stages.is_empty();
        let scans = execution.plan.iter().filter(ran);
        let files: BTreeSet<String> = scans.filter_map(files).collect();
        let steps: BTreeSet<String> = execution.plan.iter().filter_map(step).collect();
        (!files.is_empty() && !steps.is_empty()).then_some(Lineage { files, steps })
    }
}

fn files(node: &SparkNode) -> Option<String> {
    let is_scan = node.name.starts_with("Scan") || node.name.starts_with("FileScan");
    let place = node.metadata.get("Location").filter(|_| is_scan)?;
    let filters = node.metadata.get("PartitionFilters").map(|f| plain(f));
    Some(format!("{place} {}", filters.unwrap_or_default()))
}

/// A step that computes something, without the numbers that Spark gives columns. A condition that only
/// excludes nulls is made up for a join.
fn step(node: &SparkNode) -> Option<String> {
    const STEPS: [&str; 6] = [
        "Filter",
        "Join",
        "EvalPython",
        "Generate",
        "MapInPandas",
        "Window",
    ];
    if !STEPS.iter().any(|s| node.name.contains(s)) {
        return None;
    }
    let text = plain(&node.text);
    let conditions = text.strip_prefix("Filter");
    let is_trivial = conditions.is_some_and(|all| {
        all.split(" AND ")
            .all(|c| c.trim_matches([' ', '(', ')']).starts_with("isnotnull"))
    });
    (!is_trivial).then_some(text)
}

/// A text of the plan without the numbers of columns: `amount` of `amount#12L`.
fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '#' {
            kept.push(c);
            continue;
        }
        while rest.next_if(|c| c.is_ascii_digit()).is_some() {}
        rest.next_if(|c| *c == 'L');
    }
    kept
}

/// What executions of one lineage have in common.
struct Repeated {
    /// Stages that do it again, each with the seconds of work of its execution's part.
    again: Vec<(usize, f64)>,
    /// Seconds of work that the cheapest of them takes.
    shared_s: f64,
    first: Option<usize>,
}

/// The work that executions of one lineage repeat; `None` if fewer than two of them are known to do it.
fn repeated(view: &View<'_>, app: &Application, executions: &[usize]) -> Option<Repeated> {
    let run = view.run.as_ref()?;
    let reading = |e: &usize| -> Vec<usize> {
        let plan = &app.executions[*e].plan;
        let steps = plan
            .iter()
            .filter(|n| files(n).is_some() || step(n).is_some());
        let stages: BTreeSet<usize> = steps.flat_map(|n| n.stages.iter().copied()).collect();
        stages
            .into_iter()
            .filter(|s| *s < run.stages.len())
            .collect()
    };
    let stages: Vec<Vec<usize>> = executions.iter().map(reading).collect();
    let work = |of: &Vec<usize>| of.iter().map(|s| run.stages[*s].run_s()).sum::<f64>();
    let works: Vec<f64> = stages.iter().map(work).filter(|w| *w > 0.0).collect();
    let shared_s = works.iter().copied().reduce(f64::min)?;
    if works.len() < 2 {
        return None;
    }
    let first = stages.first().and_then(|s| s.first().copied());
    let again = stages.iter().skip(1);
    let again = again.flat_map(|of| {
        let all = work(of);
        of.iter().map(move |s| (*s, all))
    });
    Some(Repeated {
        again: again.collect(),
        shared_s,
        first,
    })
}

fn symptom(
    view: &View<'_>,
    app: &Application,
    executions: &[usize],
    repeated: Repeated,
) -> Symptom {
    let Repeated {
        again,
        shared_s,
        first,
    } = repeated;
    let n = executions.len() as f64;
    Symptom {
        cause: Cause::IneffectiveCache,
        stage: again.first().map(|(s, _)| *s).or(first),
        lines: None,
        summary: text!(
            "同样的数据从同样的文件计算了 {n}，每次至少 {time} 的任务时间；缓存后只需一次",
            "the same rows are computed from the same files {n}, each time with at least {time} of task time; cached, once would do",
            n = TIME.count(n),
            time = Seconds(shared_s),
        ),
        evidence: evidence(view, app, executions),
        saved: view.saved(move |stages| {
            for (s, all) in &again {
                scale_run(&mut stages[*s], 1.0 - (shared_s / all).min(1.0));
            }
        }),
        method: "schedule replayed with the shared work done once",
        strength: 0.6 + 0.1 * (n - 2.0).clamp(0.0, 3.0),
    }
}

fn evidence(view: &View<'_>, app: &Application, executions: &[usize]) -> Vec<Evidence> {
    let fact = |e: &usize| {
        let execution = &app.executions[*e];
        let place = execution.plan.iter().find_map(files)?;
        let id = execution.id;
        let sentence = text!(
            "SQL 执行 {id} 从 {place} 计算",
            "SQL execution {id} computes from {place}",
        );
        Some(view.word("Location", &place, app.at_line(execution.line), sentence))
    };
    executions.iter().filter_map(fact).take(6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, text: &str) -> SparkNode {
        SparkNode {
            name: name.into(),
            text: text.into(),
            ..SparkNode::default()
        }
    }

    #[test]
    fn steps_are_compared_without_the_numbers_of_columns() {
        for (name, text, expected) in [
            (
                "Filter",
                "Filter (edit#12 > 10)",
                Some("Filter (edit > 10)"),
            ),
            (
                "Filter",
                "Filter (isnotnull(a#1L) AND isnotnull(b#2))",
                None,
            ),
            ("Project", "Project [a#1L]", None),
        ] {
            assert_eq!(step(&node(name, text)).as_deref(), expected, "{text}");
        }
    }
}
