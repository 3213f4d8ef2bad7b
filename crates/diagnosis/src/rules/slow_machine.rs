//! Rule for `failure.slow_machine`: a few vertices are slow without more data: the machine, not
//! the data.

use std::collections::BTreeMap;

use job::info::Information;
use job::model::Source;
use job::runs::{RunState, StageRuns};

use super::support::{Draft, says};
use crate::facts::{measured, number, seconds, text, word};
use crate::impact::Basis;
use crate::model::{Cause, Fact};
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::signs::load::lines;
use crate::signs::spill::spills_in_part;
use crate::view::View;

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

/// Completed vertices without which their usual pace cannot be told.
const MIN_COMPLETED: usize = 4;

/// Part of the run that the work of the stages may leave unexplained before missing vertex events
/// matter.
const UNEXPLAINED: f64 = 0.2;

/// The rule.
pub(crate) struct SlowMachine;

static ABOUT: About = About {
    cause: Cause::SlowMachine,
    what: says(
        "少数顶点数据不多却很慢：问题在机器而不在数据",
        "a few vertices are slow without more data: the machine, not the data",
    ),
    needs: &[Information::VertexEvents],
    helps: &[Information::StageStatistics],
    thresholds: &[&MIN_SLOWDOWN, &MAX_VERTICES],
    counter_evidence: &[
        says(
            "慢的顶点数据更多（倾斜）",
            "the slow vertices have more data (skew)",
        ),
        says(
            "同一台机器上的其他顶点不慢，且偏差在波动范围内",
            "other vertices on the machine are not slow, and the deviation is ordinary",
        ),
        says(
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
                result.found(view, draft(view, stage, runs, &slow));
            } else if let Some(draft) = unseen_slow(view, stage, runs) {
                result.found(view, draft);
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
                let reason = text(
                    format!(
                        "各 stage 的工作量解释不了 {} 的运行时间",
                        seconds(run.unexplained_s())
                    ),
                    format!(
                        "the work of the stages leaves {} of the run unexplained",
                        seconds(run.unexplained_s())
                    ),
                );
                result.lacks(Information::VertexEvents, view, None, reason);
                if let Some(last) = result.undecided.last_mut() {
                    last.share_at_stake = unexplained;
                }
            }
        }
        result.cleared_by(
            "没有数据不多却很慢的顶点",
            "no vertex is slow without more data",
        )
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
fn unseen_slow(view: &View<'_>, stage: usize, runs: &StageRuns) -> Option<Draft> {
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
    let (run, times) = (seconds(worst.run_s), worst.run_s / usual);
    let mut evidence: Vec<Fact> = Vec::new();
    if let Some(stated) = &view.facts[stage].stated {
        evidence.extend(measured(&stated.run_ms, "ms"));
        evidence.extend(measured(&stated.bytes_read_max, "bytes"));
    }
    Some(Draft {
        cause: Cause::SlowMachine,
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text(
            format!(
                "{} 有 {} 个顶点不在被截断的事件中，按合计每个最多运行 {run}，是同样数据的 {times:.1} 倍",
                view.name(stage),
                unseen.len()
            ),
            format!(
                "{} vertices of {} are not in the cut-off events; by the totals one ran {run}, {times:.1} times what its data explains",
                unseen.len(),
                view.name(stage)
            ),
        ),
        evidence,
        saved: view.saved(|stages| {
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

fn draft(view: &View<'_>, stage: usize, runs: &StageRuns, slow: &[Slow]) -> Draft {
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
    Draft {
        cause: Cause::SlowMachine,
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text(
            format!(
                "{} 有 {} 个顶点数据不多却很慢：{machine} 上的一个运行 {}，是同样数据的 {times:.1} 倍",
                view.name(stage),
                slow.len(),
                seconds(worst.run_s)
            ),
            format!(
                "{} vertices of {} are slow without more data: one on {machine} ran {}, {times:.1} times what its data explains",
                slow.len(),
                view.name(stage),
                seconds(worst.run_s)
            ),
        ),
        evidence: evidence(runs, worst, machine),
        saved: view.saved(|stages| {
            let indices = vertex_indices(runs);
            for (vertex, index) in stages[stage].vertices.iter_mut().zip(indices) {
                if let Some(excess) = excess.get(&index) {
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

fn evidence(runs: &StageRuns, worst: &Slow, machine: &str) -> Vec<Fact> {
    let place = || Source {
        file: runs.file.clone(),
        locator: Some(format!("line {}", worst.line)),
    };
    vec![
        number(
            "run time of the slowest vertex",
            worst.run_s,
            "s",
            place(),
            text(
                format!("顶点 {} 运行 {}", worst.index, seconds(worst.run_s)),
                format!("vertex {} ran {}", worst.index, seconds(worst.run_s)),
            ),
        )
        .expecting(format!("about {}", seconds(worst.usual_s))),
        word(
            "machine",
            machine,
            place(),
            text(
                format!("在机器 {machine} 上"),
                format!("on machine {machine}"),
            ),
        ),
    ]
}
