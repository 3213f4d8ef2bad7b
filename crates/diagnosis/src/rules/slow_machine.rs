//! Rule for `failure.slow_machine`: a few vertices are slow without more data: the machine, not
//! the data.

use std::collections::{BTreeMap, BTreeSet};

use job::Job;
use job::runs::{RunState, StageRuns, VertexRun};

use super::support::{Symptom, lacks, rule};
use crate::facts::{at_line, fact};
use crate::measurements::load::lines;
use crate::measurements::managed::{gc, runs_user_code};
use crate::measurements::spill::{may_spill_in_part, spills_in_part};
use crate::rule::Examination;
use crate::settings::threshold;
use crate::view::View;
use report::format::{Seconds, VERTEX};
use report::{Cause, Evidence, text};

threshold! {
    /// Least ratio of a vertex's run time to the time that its data explains.
    pub(crate) MIN_SLOWDOWN = 2.5, "ratio", "slow_machine.min_slowdown";
    "同样数据的顶点运行时间通常在中位数的 0.6–2 倍之间", "vertices with like data run 0.6 to 2 times the median";
    "balanced stages of simulated jobs"
}

threshold! {
    /// Share of a stage's machines that may be slow.
    pub(crate) MAX_SHARE = 0.2, "share", "slow_machine.max_share";
    "很多机器都慢就不是机器的问题", "if many machines are slow it is not the machine";
    "report contract: a few vertices; several of a stage may run on one machine"
}

/// Least number of completed vertices to estimate their usual pace.
const MIN_COMPLETED: usize = 4;

/// Vertices with up to this many times the median input are compared with the others: for a larger
/// input, the data is the reason.
const LIKE_INPUT: f64 = 1.5;

/// Least excess in seconds of a vertex that can delay a run.
const MIN_EXCESS_S: f64 = 5.0;

/// Largest ratio to the time that its data explains for a vertex at full speed.
const FULL_SPEED: f64 = 1.3;

/// Probability that the machine is to blame if garbage collection or spilling could not be ruled out.
const RIVALED: f64 = 0.45;

rule! { RULE = SlowMachine, examine;
    "少数顶点数据不多却很慢：问题在机器而不在数据", "a few vertices are slow without more data: the machine, not the data";
    needs VertexEvents;
    helps StageStatistics;
    thresholds MIN_SLOWDOWN, MAX_SHARE;
    unless "慢的顶点数据更多（倾斜）", "the slow vertices have more data (skew)";
    unless "同一台机器上的其他顶点不慢，且偏差在波动范围内", "other vertices on the machine are not slow, and the deviation is ordinary";
    unless "慢的顶点在落盘或回收垃圾", "the slow vertices spill or collect garbage";
    cleared "没有顶点所在的机器比别的机器慢得多", "no machine is much slower than the others";
}

/// A completed vertex, and the run time that its data explains.
#[derive(Debug, Clone)]
struct Timed {
    index: u32,
    machine: u32,
    run_s: f64,
    usual_s: f64,
    line: u64,
}

impl Timed {
    fn slowdown(&self) -> f64 {
        self.run_s / self.usual_s.max(f64::MIN_POSITIVE)
    }
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let job = view.job;
    let timed: Vec<Vec<Timed>> = (0..job.stages.len()).map(|s| timed(view, s)).collect();
    let machines = Machines::of(job, &timed);
    for (stage, s) in job.stages.iter().enumerate().filter(|_| !view.failed()) {
        match &s.runs {
            Some(runs) => {
                let seen = Observed {
                    stage,
                    runs,
                    timed: &timed[stage],
                };
                seen.examine(view, &machines, result);
            }
            None if view.vertices(stage) == Some(1) || super::is_local(view) => {}
            None => {
                lacks! { result, view, VertexEvents, Some(stage);
                "没有事件说明 {stage} 的各顶点运行了多久、在哪台机器上", "no events show the run times and machines of the vertices of {stage}", stage = s.name }
            }
        }
    }
}

/// Slowdowns of the vertices of each machine, over all stages, the fastest first.
struct Machines<'a>(BTreeMap<&'a str, Vec<f64>>);

impl<'a> Machines<'a> {
    fn of(job: &'a Job, timed: &[Vec<Timed>]) -> Machines<'a> {
        let mut slowdowns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (stage, timed) in job.stages.iter().zip(timed) {
            let machines = stage.runs.as_ref().map_or(&[][..], |r| &*r.machines);
            for t in timed {
                if let Some(name) = machines.get(t.machine as usize) {
                    slowdowns.entry(name).or_default().push(t.slowdown());
                }
            }
        }
        for all in slowdowns.values_mut() {
            all.sort_by(f64::total_cmp);
        }
        Machines(slowdowns)
    }

    /// Number of vertices that the machine ran at full speed, and number that it ran slowly.
    fn tally(&self, machine: &str, slow: f64) -> (usize, usize) {
        let all = self.0.get(machine).map_or(&[][..], Vec::as_slice);
        let below = |limit: f64| all.partition_point(|s| *s < limit);
        (below(FULL_SPEED), all.len() - below(slow))
    }
}

/// Completed vertices with similar input, and the run time that the input explains at the median pace.
fn timed(view: &View<'_>, stage: usize) -> Vec<Timed> {
    let runs = view.job.stages[stage].runs.as_ref();
    let of_stage = runs.map_or(&[][..], |r| &r.runs);
    // without spilling, time grows with the input and no faster; the equal rows of a hot key take fewer bytes than others
    let most = match view.facts[stage].spills() {
        Some(0) if !view.is_uneven(stage) => f64::INFINITY,
        _ => LIKE_INPUT,
    };
    let completed: Vec<_> = of_stage
        .iter()
        .filter(|r| r.state == RunState::Completed)
        .collect();
    if completed.len() < MIN_COMPLETED {
        return Vec::new();
    }
    let run = |r: &VertexRun| (r.ended_ms - r.running_ms).max(0) as f64 / 1000.0;
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let usual = median(completed.iter().map(|r| run(r)).collect());
    let bytes = median(completed.iter().map(|r| r.bytes_read as f64).collect());
    let share = |read: u64| {
        if bytes > 0.0 {
            (read as f64 / bytes).max(0.5)
        } else {
            1.0
        }
    };
    completed
        .iter()
        .filter(|r| match bytes > 0.0 {
            true => r.bytes_read as f64 / bytes <= most,
            // a vertex with input is not comparable to vertices without input
            false => r.bytes_read == 0,
        })
        .map(|r| Timed {
            index: r.index,
            machine: r.machine,
            run_s: run(r),
            usual_s: usual * share(r.bytes_read),
            line: r.line,
        })
        .collect()
}

/// Number of machines that ran the vertices.
fn machines_of(timed: &[Timed]) -> f64 {
    let machines: BTreeSet<u32> = timed.iter().map(|t| t.machine).collect();
    machines.len() as f64
}

/// A stage with vertex events.
struct Observed<'a> {
    stage: usize,
    runs: &'a StageRuns,
    timed: &'a [Timed],
}

impl Observed<'_> {
    /// The machine is not to blame for slowness due to data, garbage collection or spilling,
    /// or for vertices at full speed.
    fn examine(&self, view: &View<'_>, machines: &Machines<'_>, result: &mut Examination) {
        let stage = self.stage;
        let limit = view.limit(&MIN_SLOWDOWN);
        let slow = self.slow(limit);
        let worst = self.timed.iter().map(Timed::slowdown).fold(0.0, f64::max);
        let uneven = view.uneven.iter().find(|u| u.stage == stage && u.matters);
        if slow.is_empty() {
            match unseen_slow(view, stage, self.runs) {
                Some(symptom) => result.found(view, symptom),
                // Too few vertices to compare with each other.
                None if self.timed.is_empty() => {}
                None => result.under((worst / limit).min(0.99), || self.slowest(view)),
            }
        } else if worst <= gc_stretch(view, stage) * FULL_SPEED {
            result.attributed(view, Cause::HeapPressure, stage);
        } else if let Some(uneven) = uneven.filter(|_| spills_in_part(view, stage)) {
            result.attributed(view, uneven.cause, stage);
        } else if spills_in_part(view, stage) {
            result.attributed(view, Cause::Spill, stage);
        } else {
            let (blamed, cleared) = self.by_machine(&slow, machines, limit);
            let few = machines_of(self.timed) * view.limit(&MAX_SHARE);
            if blamed == 0 || cleared * 2 > slow.len() || machines_of(&slow) > few.max(1.0) {
                result.under(0.99, || self.slowest(view));
            } else if !may_spill_in_part(view, stage) && (blamed > 1 || !rivaled(view, stage)) {
                result.found(view, symptom(view, stage, self.runs, &slow));
            } else {
                result.suspected(view, symptom(view, stage, self.runs, &slow), RIVALED);
            }
        }
    }

    /// Vertices that ran far longer than their data explains.
    fn slow(&self, limit: f64) -> Vec<Timed> {
        let slow = |t: &&Timed| t.slowdown() > limit && t.run_s > t.usual_s + MIN_EXCESS_S;
        self.timed.iter().filter(slow).cloned().collect()
    }

    /// Number of slow vertices on mostly slow machines, and on
    /// machines that ran more vertices at full speed than slowly.
    fn by_machine(&self, slow: &[Timed], machines: &Machines<'_>, limit: f64) -> (usize, usize) {
        let tally = |t: &Timed| {
            let name = self.runs.machines.get(t.machine as usize)?;
            Some(machines.tally(name, limit))
        };
        let tallies: Vec<_> = slow.iter().filter_map(tally).collect();
        let cleared = tallies.iter().filter(|(fast, slow)| fast >= slow).count();
        let blamed = tallies.iter().filter(|(fast, slow)| fast < slow);
        (blamed.map(|(_, slow)| *slow).max().unwrap_or(0), cleared)
    }

    fn slowest(&self, view: &View<'_>) -> Vec<Evidence> {
        let worst = self
            .timed
            .iter()
            .max_by(|a, b| a.slowdown().total_cmp(&b.slowdown()));
        let Some(worst) = worst else {
            return Vec::new();
        };
        evidence(view, self.runs, worst)
    }
}

/// Ratio of the run time of the vertex with the most garbage collection to the mean vertex, due to garbage collection.
fn gc_stretch(view: &View<'_>, stage: usize) -> f64 {
    gc(view, stage).map_or(1.0, |(mean, max)| (1.0 - mean) / (1.0 - max.min(0.95)))
}

/// Whether garbage collection or spilling could be the reason for a slow vertex, and no file rules it out.
fn rivaled(view: &View<'_>, stage: usize) -> bool {
    let facts = &view.facts[stage];
    (runs_user_code(view, stage) && gc(view, stage).is_none()) || facts.operators.is_empty()
}

/// Vertices missing from truncated events that, by the totals of the stage,
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
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text!(
            "{stage} 有 {unseen}不在被截断的事件中，按合计每个最多运行 {run}，是同样数据的 {times:.1} 倍",
            "{unseen} of {stage} are missing in the truncated events; by the totals one ran {run}, {times:.1} times as long as its data explains",
            stage = view.name(stage),
            run = Seconds(worst.run_s),
            unseen = VERTEX.count(unseen.len() as f64)
        ),
        evidence,
        saved: view.saved_in(stage, move |stage| {
            for vertex in stage.vertices.iter_mut().skip(seen) {
                vertex.run_s = vertex.run_s.min(usual);
            }
        }),
        method: "schedule replayed with the slow vertices at the pace of the others",
        strength: 0.5,
    })
}

fn symptom(view: &View<'_>, stage: usize, runs: &StageRuns, slow: &[Timed]) -> Symptom {
    let worst = slow
        .iter()
        .max_by(|a, b| a.run_s.total_cmp(&b.run_s))
        .unwrap_or(&slow[0]);
    let machine = machine(runs, worst);
    let times = worst.slowdown();
    let over = |run: f64, usual: f64| (run - usual).max(0.0);
    let excess: BTreeMap<u32, f64> = slow
        .iter()
        .map(|s| (s.index, over(s.run_s, s.usual_s)))
        .collect();
    let indices = vertex_indices(runs);
    let (usual, limit) = (worst.usual_s, view.limit(&MIN_SLOWDOWN));
    let like_bytes = runs.bytes_read.p50 * LIKE_INPUT;
    Symptom {
        stage: Some(stage),
        lines: lines(view, stage),
        summary: text!(
            "{stage} 有 {slow}数据不多却很慢：{machine} 上的一个运行 {time}，是同样数据的 {times:.1} 倍",
            "in {stage}, {slow} took long without more data: one on {machine} ran {time}, {times:.1} times as long as its data explains",
            stage = view.name(stage),
            time = Seconds(worst.run_s),
            slow = VERTEX.count(slow.len() as f64)
        ),
        evidence: evidence(view, runs, worst),
        saved: view.saved_in(stage, move |stage| {
            for (vertex, index) in stage.vertices.iter_mut().zip(&indices) {
                if let Some(excess) = excess.get(index) {
                    vertex.run_s = (vertex.run_s - excess).max(0.0);
                }
            }
            // truncated events lack the vertices that ended last
            for vertex in stage.vertices.iter_mut().skip(indices.len()) {
                if vertex.bytes <= like_bytes && vertex.run_s > usual * limit {
                    vertex.run_s = usual;
                }
            }
        }),
        method: "schedule replayed with the slow vertices at the pace of the others",
        strength: 0.5 + 0.5 * ((times / 2.5).log2() / 2.0).clamp(0.0, 1.0),
    }
}

fn machine<'a>(runs: &'a StageRuns, vertex: &Timed) -> &'a str {
    runs.machines
        .get(vertex.machine as usize)
        .map_or("?", |m| m)
}

/// Indices of the vertices in the sequence of the run model.
fn vertex_indices(runs: &StageRuns) -> Vec<u32> {
    let mut indices: Vec<u32> = runs.runs.iter().map(|r| r.index).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn evidence(view: &View<'_>, runs: &StageRuns, worst: &Timed) -> Vec<Evidence> {
    let index = worst.index;
    let machine = machine(runs, worst);
    let place = || at_line(&runs.file, worst.line);
    vec![
        fact! { view, "run time of the slowest vertex", worst.run_s, "s", place();
        "顶点 {index} 运行 {time}", "vertex {index} ran {time}", time = Seconds(worst.run_s) }
        .expecting(view.about(Seconds(worst.usual_s))),
        fact! { view, "machine", machine, place();
        "在机器 {machine} 上", "on machine {machine}" },
    ]
}
