//! Rows that a global sort computes twice: once to sample the ranges of its partitions, and once to write them.

use job::code::Part;
use job::model::{Application, SparkNode};
use report::format::ROW;
use report::text;

use super::support::Symptom;
use crate::facts::fact;
use crate::measurements::plan_parts::{inputs_of, stages_below};
use crate::view::View;

/// Metric of the rows that are computed for a sample, in evidence.
pub const SAMPLED: &str = "rows computed for a sample";

/// A symptom for each stage that only samples the rows of a range partitioning.
pub(super) fn symptoms(view: &View<'_>, app: &Application) -> Vec<Symptom> {
    let mut found = Vec::new();
    for execution in &app.executions {
        let plan = execution.plan.as_slice();
        let nodes = plan.iter().enumerate();
        let sorts = nodes.filter(|(_, n)| n.text.starts_with("Exchange rangepartitioning("));
        for (at, exchange) in sorts.filter(|(at, _)| computes_below(plan, *at)) {
            let mut stages = stages_below(plan, at);
            stages.extend(&exchange.stages);
            stages.retain(|stage| *stage < view.facts.len());
            let stages: Vec<Rows> = stages.into_iter().map(|s| Rows::of(app, s)).collect();
            let writes = |s: &&Rows| exchange.stages.contains(&s.stage) && s.written > 0;
            let Some(writer) = stages.iter().find(writes) else {
                continue;
            };
            let is_sample = |s: &&Rows| {
                s.stage < writer.stage && s.written == 0 && s.read == writer.read && s.read > 0
            };
            let samples = stages.iter().filter(is_sample);
            found.extend(samples.map(|sample| symptom(view, app, sample, writer.stage)));
        }
    }
    found
}

/// Whether rows are computed between an exchange and the files, caches or exchanges below it. Where they are only read, the sample is
/// part of any global sort.
fn computes_below(plan: &[SparkNode], exchange: usize) -> bool {
    let mut open: Vec<usize> = inputs_of(plan, exchange).collect();
    while let Some(at) = open.pop() {
        let name = plan[at].name.trim();
        if COMPUTING.iter().any(|kind| name.contains(kind)) || calls_function(&plan[at].text) {
            return true;
        }
        if !name.contains("Exchange") && !plan[at].reads_cache() {
            open.extend(inputs_of(plan, at));
        }
    }
    false
}

/// Parts of the names of operators that compute rows.
const COMPUTING: [&str; 6] = [
    "Join",
    "Aggregate",
    "Generate",
    "Python",
    "Window",
    "Expand",
];

/// Whether a projection calls a function other than a cast.
fn calls_function(text: &str) -> bool {
    let Some(columns) = text.strip_prefix("Project [") else {
        return false;
    };
    let mut calls = columns.match_indices('(').map(|(at, _)| &columns[..at]);
    calls.any(|before| {
        let is_call = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        is_call && !before.ends_with("cast")
    })
}

/// Rows that the tasks of a stage read from files and shuffles, and rows that they write to a shuffle.
struct Rows {
    stage: usize,
    read: u64,
    written: u64,
}

impl Rows {
    fn of(app: &Application, stage: usize) -> Rows {
        let tasks = || app.stages[stage].attempts.iter().filter(|t| t.succeeded);
        Rows {
            stage,
            read: tasks().map(|t| t.input_rows + t.shuffle_read_rows).sum(),
            written: tasks().map(|t| t.shuffle_write_rows).sum(),
        }
    }
}

fn symptom(view: &View<'_>, app: &Application, sample: &Rows, writer: usize) -> Symptom {
    let (stage, read) = (sample.stage, sample.read as f64);
    let name = view.name(stage);
    Symptom {
        stage: Some(stage),
        lines: view.lines_needed(writer, Part::Sort),
        summary: text!(
            "{name} 计算一遍所有的行，只为抽样决定全局排序的分区；{writer} 再算一遍",
            "{name} computes all rows only to sample the ranges of a global sort, and {writer} computes them again",
            writer = view.name(writer),
        ),
        evidence: vec![
            fact! { view, SAMPLED, read, "rows", app.at_line(app.stages[stage].line);
            "{name} 读取 {read}，不写出任何行", "{name} reads {read} and writes none", read = ROW.count(read) },
        ],
        saved: view.saved_in(stage, |stage| stage.vertices.clear()),
        method: "schedule replayed without the stage that samples the rows",
        strength: 0.8,
    }
}

#[cfg(test)]
mod tests {
    use super::calls_function;

    #[test]
    fn casts_and_names_compute_nothing() {
        for (text, calls) in [
            ("Project [a#1, cast(b#2 as date) AS day#3]", false),
            ("Project [a#1, (b#2 + 1) AS c#3]", false),
            (
                "Project [a#1, regexp_extract(url#7, https://([^/]+)/, 1) AS host#29]",
                true,
            ),
            ("Filter (upper(a#1) = X)", false),
        ] {
            assert_eq!(calls_function(text), calls, "{text}");
        }
    }
}
