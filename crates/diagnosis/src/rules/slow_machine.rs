//! Rule for `failure.slow_machine`: a few vertices are slow without more data: the machine, not
//! the data.

use std::collections::BTreeMap;

use job::info::Information;
use job::model::Source;
use job::runs::{RunState, StageRuns};

use super::support::{Symptom, both};
use crate::impact::Basis;
use crate::measurements::load::lines;
use crate::measurements::spill::spills_in_part;
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::{Seconds, VERTEX};
use report::{Cause, Evidence, text};

/// Run time of a vertex over what its data explains.
pub(crate) static MIN_SLOWDOWN: Threshold = Threshold {
    name: "slow_machine.min_slowdown",
    default: 2.5,
    unit: "ratio",
    reason_zh: "同样数据的顶点运行时间通常在中位数的 0.6–2 倍之间",
    reason_en: "vertices with like data run 0.6 to 2 times the median",
    source: "balanced stages of simulated jobs",
};

/// Share of a stage's vertices that may be slow.
pub(crate) static MAX_VERTICES: Threshold = Threshold {
    name: "slow_machine.max_share",
    default: 0.2,
    unit: "share",
    reason_zh: "很多顶点都慢就不是机器的问题",
    reason_en: "if many vertices are slow it is not the machine",
    source: "report contract: a few vertices",
};

/// Least number of completed vertices from which their usual pace can be estimated.
const MIN_COMPLETED: usize = 4;

/// Part of the run that the work of the stages may leave unexplained before missing vertex events
/// matter.
const UNEXPLAINED: f64 = 0.2;

/// The rule.
pub(crate) struct SlowMachine;

static ABOUT: About = About {
    cause: Cause::SlowMachine,
    what: both(
        "少数顶点数据不多却很慢：问题在机器而不在数据",
        "a few vertices are slow without more data: the machine, not the data",
    ),
    needs: &[Information::VertexEvents],
    helps: &[Information::StageStatistics],
    thresholds: &[&MIN_SLOWDOWN, &MAX_VERTICES],
    counter_evidence: &[
        both(
            "慢的顶点数据更多（倾斜）",
            "the slow vertices have more data (skew)",
        ),
        both(
            "同一台机器上的其他顶点不慢，且偏差在波动范围内",
            "other vertices on the machine are not slow, and the deviation is ordinary",
        ),
        both(
            "慢的顶点溢出或在回收垃圾",
            "the slow vertices spill or collect garbage",
        ),
    ],
};

/// A vertex that ran far longer than its data explains.
#[derive(Debug, Clone)]
struct Slow {
    index: u32,
    machine: u32,
    run_s: f64,
    usual_s: f64,
    line: u64,
}

impl Rule for SlowMachine {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for (stage, s) in view.job.stages.iter().enumerate() {
            let Some(runs) = s.runs.as_ref().filter(|_| !view.failed()) else {
                continue;
            };
            let slow = slow_vertices(view, stage, runs);
            if !slow.is_empty() {
                result.found(view, symptom(view, stage, runs, &slow));
            } else if let Some(symptom) = unseen_slow(view, stage, runs) {
                result.found(view, symptom);
            }
        }
        if let (Some(run), false) = (&view.run, view.failed()) {
            let without: Vec<_> = (0..run.basis.len())
                .filter(|s| run.basis[*s] != Basis::Events)
                .collect();
            let unexplained = run.unexplained_s() / run.elapsed_s;
            if !without.is_empty()
                && view.job.stages.iter().all(|s| s.runs.is_none())
                && unexplained > UNEXPLAINED
            {
                let reason = text!(
                    "各阶段的工作量解释不了 {time} 的运行时间",
                    "the work of the stages leaves {time} of the run unexplained",
                    time = Seconds(run.unexplained_s())
                );
                result.lacks(Information::VertexEvents, view, None, reason);
                if let Some(last) = result.undecided.last_mut() {
                    last.share_at_stake = unexplained;
                }
            }
        }
        result.cleared_by(text!(
            "没有数据不多却很慢的顶点",
            "no vertex is slow without more data"
        ))
    }
}

fn slow_vertices(view: &View<'_>, stage: usize, runs: &StageRuns) -> Vec<Slow> {
    let completed: Vec<_> = runs
        .runs
        .iter()
        .filter(|r| r.state == RunState::Completed)
        .collect();
    if completed.len() < MIN_COMPLETED {
        return Vec::new();
    }
    let run = |r: &job::runs::VertexRun| (r.ended_ms - r.running_ms).max(0) as f64 / 1000.0;
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let usual = median(completed.iter().map(|r| run(r)).collect());
    let bytes = median(completed.iter().map(|r| r.bytes_read as f64).collect());
    let expected = |read: u64| {
        usual
            * if bytes > 0.0 {
                (read as f64 / bytes).max(0.5)
            } else {
                1.0
            }
    };
    let slow: Vec<Slow> = completed
        .iter()
        .filter(|r| r.bytes_read as f64 <= 1.5 * bytes)
        .filter(|r| {
            run(r) > expected(r.bytes_read) * view.limit(&MIN_SLOWDOWN) && run(r) > usual + 5.0
        })
        .map(|r| Slow {
            index: r.index,
            machine: r.machine,
            run_s: run(r),
            usual_s: expected(r.bytes_read),
            line: r.line,
        })
        .collect();
    let few = slow.len() as f64 <= (completed.len() as f64 * view.limit(&MAX_VERTICES)).max(1.0);
    // Vertices of a stage of which only some spill differ by that.
    let other = !view.is_uneven(stage) && spills_in_part(view, stage);
    if few && !other && !clashing(runs, &slow, usual) {
        slow
    } else {
        Vec::new()
    }
}

/// Vertices that the events lack because they were cut off, and that by the totals of the stage
/// took far longer than the others for the same data.
fn unseen_slow(view: &View<'_>, stage: usize, runs: &StageRuns) -> Option<Symptom> {
    let seen = vertex_indices(runs).len();
    let work = &view.run.as_ref()?.stages[stage];
    let (known, unseen) = work.vertices.split_at_checked(seen)?;
    if known.len() < MIN_COMPLETED || unseen.is_empty() || unseen.len() * 5 > known.len() {
        return None;
    }
    let pace = known.iter().map(|v| v.run_s).sum::<f64>()
        / known.iter().map(|v| v.bytes).sum::<f64>().max(1.0);
    let mean_s = known.iter().map(|v| v.run_s).sum::<f64>() / known.len() as f64;
    let worst = unseen.iter().max_by(|a, b| a.run_s.total_cmp(&b.run_s))?;
    let usual = (worst.bytes * pace).max(mean_s * 0.5);
    if worst.run_s < usual * view.limit(&MIN_SLOWDOWN)
        || worst.bytes * pace > 1.5 * mean_s
        || view.is_uneven(stage)
    {
        return None;
    }
    let times = worst.run_s / usual;
    let mut evidence: Vec<Evidence> = Vec::new();
    if let Some(stated) = &view.facts[stage].stated {
        evidence.extend(view.measured(&stated.run_ms, "ms"));
        evidence.extend(view.measured(&stated.bytes_read_max, "bytes"));
    }
    Some(Symptom {
        cause: Cause::SlowMachine,
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text!(
            "{stage} 有 {unseen}不在被截断的事件中，按合计每个最多运行 {run}，是同样数据的 {times:.1} 倍",
            "{unseen} of {stage} are not in the cut-off events; by the totals one ran {run}, {times:.1} times what its data explains",
            stage = view.name(stage),
            run = Seconds(worst.run_s),
            unseen = VERTEX.count(unseen.len() as f64)
        ),
        evidence,
        saved: view.saved(move |stages| {
            for vertex in stages[stage].vertices.iter_mut().skip(seen) {
                vertex.run_s = vertex.run_s.min(usual);
            }
        }),
        method: "schedule replayed with the slow vertices at the pace of the others",
        strength: 0.5,
    })
}

/// Whether most of the slow vertices ran on machines that ran others of the stage at full speed.
fn clashing(runs: &StageRuns, slow: &[Slow], usual: f64) -> bool {
    let mut fast: BTreeMap<u32, u32> = BTreeMap::new();
    for r in runs.runs.iter().filter(|r| r.state == RunState::Completed) {
        if ((r.ended_ms - r.running_ms) as f64 / 1000.0) < 1.3 * usual {
            *fast.entry(r.machine).or_default() += 1;
        }
    }
    let on_fast = slow
        .iter()
        .filter(|s| fast.contains_key(&s.machine))
        .count();
    on_fast * 2 > slow.len()
}

fn symptom(view: &View<'_>, stage: usize, runs: &StageRuns, slow: &[Slow]) -> Symptom {
    let worst = slow
        .iter()
        .max_by(|a, b| a.run_s.total_cmp(&b.run_s))
        .unwrap_or(&slow[0]);
    let machine = runs.machines.get(worst.machine as usize).map_or("?", |m| m);
    let times = worst.run_s / worst.usual_s;
    let over = |run: f64, usual: f64| (run - usual).max(0.0);
    let excess: BTreeMap<u32, f64> = slow
        .iter()
        .map(|s| (s.index, over(s.run_s, s.usual_s)))
        .collect();
    let indices = vertex_indices(runs);
    Symptom {
        cause: Cause::SlowMachine,
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text!(
            "{stage} 有 {slow}数据不多却很慢：{machine} 上的一个运行 {time}，是同样数据的 {times:.1} 倍",
            "{slow} of {stage} are slow without more data: one on {machine} ran {time}, {times:.1} times what its data explains",
            stage = view.name(stage),
            time = Seconds(worst.run_s),
            slow = VERTEX.count(slow.len() as f64)
        ),
        evidence: evidence(view, runs, worst, machine),
        saved: view.saved(move |stages| {
            for (vertex, index) in stages[stage].vertices.iter_mut().zip(&indices) {
                if let Some(excess) = excess.get(index) {
                    vertex.run_s = (vertex.run_s - excess).max(0.0);
                }
            }
        }),
        method: "schedule replayed with the slow vertices at the pace of the others",
        strength: 0.5 + 0.5 * ((times / 2.5).log2() / 2.0).clamp(0.0, 1.0),
    }
}

/// Indices of the vertices in the order in which the run model has them.
fn vertex_indices(runs: &StageRuns) -> Vec<u32> {
    let mut indices: Vec<u32> = runs.runs.iter().map(|r| r.index).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn evidence(view: &View<'_>, runs: &StageRuns, worst: &Slow, machine: &str) -> Vec<Evidence> {
    let index = worst.index;
    let place = || Source {
        file: runs.file.clone(),
        locator: Some(format!("line {}", worst.line)),
    };
    vec![
        view.number(
            "run time of the slowest vertex",
            worst.run_s,
            "s",
            place(),
            text!(
                "顶点 {index} 运行 {time}",
                "vertex {index} ran {time}",
                time = Seconds(worst.run_s)
            ),
        )
        .expecting(view.about(Seconds(worst.usual_s))),
        view.word(
            "machine",
            machine,
            place(),
            text!("在机器 {machine} 上", "on machine {machine}"),
        ),
    ]
}
