//! Every attempt of the run on one clock, and the chain of vertices that decided its end: from
//! vertex events, else from the replay of the run.

use std::collections::BTreeMap;

use job::model::Stage;
use job::runs::{RunState, VertexRun};

use super::Span;
use crate::impact::{Cover, RunModel, Turn, schedule};
use crate::view::View;

/// Clocks of two machines differ by some milliseconds.
const CLOCK_S: f64 = 1.0;

/// One attempt at a vertex; times are seconds since submission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Attempt {
    pub(super) stage: usize,
    pub(super) vertex: u32,
    pub(super) state: RunState,
    pub(super) created: f64,
    pub(super) started: f64,
    pub(super) running: f64,
    pub(super) ended: f64,
    /// Line of the events; `None` if the attempt is modeled.
    pub(super) line: Option<u64>,
}

impl Attempt {
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.state, RunState::Failed | RunState::Revoked)
    }

    pub(super) fn is_useful(&self) -> bool {
        self.state == RunState::Completed
    }
}

/// The attempts of a run.
#[derive(Debug)]
pub(super) struct Timeline {
    /// By stage, vertex and creation.
    pub(super) attempts: Vec<Attempt>,
    /// Attempts of the critical path, first to last.
    pub(super) path: Vec<usize>,
    /// Vertices that may run at once.
    pub(super) tokens: f64,
    /// Number of attempts that each recorded attempt of a stage represents.
    pub(super) weights: Vec<f64>,
}

impl Timeline {
    /// The timeline of a run; `None` if no file shows the cost of its stages.
    pub(super) fn of(view: &View<'_>, run: Span) -> Option<Timeline> {
        observed(view, run).or_else(|| Some(modeled(view.run.as_ref()?, run)))
    }

    /// Earlier lost attempts at the same vertex, first to last.
    pub(super) fn lost_before(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let useful = self.attempts[index];
        let of_vertex = (useful.stage, useful.vertex);
        let first = self
            .attempts
            .partition_point(|a| (a.stage, a.vertex) < of_vertex);
        (first..index).filter(move |at| {
            let a = self.attempts[*at];
            a.is_lost() && a.ended <= useful.created + CLOCK_S
        })
    }

    /// Time with any attempt waiting or running.
    pub(super) fn active(&self) -> Cover {
        Cover::of(self.attempts.iter().map(|a| (a.created, a.ended)))
    }

    /// From the first attempt of each stage to its last.
    pub(super) fn active_of_stages(&self, stages: usize) -> Vec<Option<Span>> {
        let mut active: Vec<Option<Span>> = vec![None; stages];
        for a in &self.attempts {
            let span = active[a.stage].get_or_insert(Span::new(a.created, a.ended));
            span.from = span.from.min(a.created);
            span.to = span.to.max(a.ended);
        }
        active
    }

    /// For each window: seconds of tokens that each stage held. Windows ascend and don't overlap; `before_s` is how long a
    /// token is held before the start.
    pub(super) fn held(&self, windows: &[Span], before_s: f64) -> Vec<BTreeMap<usize, f64>> {
        let mut held = vec![BTreeMap::new(); windows.len()];
        for a in &self.attempts {
            let from = (a.started - before_s).max(a.created);
            let first = windows.partition_point(|w| w.to <= from);
            for (at, window) in windows.iter().enumerate().skip(first) {
                if window.from >= a.ended {
                    break;
                }
                let seconds = a.ended.min(window.to) - from.max(window.from);
                *held[at].entry(a.stage).or_default() += seconds * self.weights[a.stage];
            }
        }
        held
    }
}

fn observed(view: &View<'_>, run: Span) -> Option<Timeline> {
    let path = view.job.critical_path()?.value;
    let last_ms = path.last()?.to_ms;
    let origin_ms = origin_ms(view, run, path.first()?.from_ms, last_ms);
    let at = |ms: i64| (ms - origin_ms) as f64 / 1000.0;
    let mut attempts = Vec::new();
    for (stage, runs) in view.job.stages.iter().enumerate() {
        let of_stage = runs.runs.iter().flat_map(|r| &r.runs);
        attempts.extend(of_stage.map(|r| attempt(stage, r, at)));
    }
    sort(&mut attempts);
    let index = |stage: usize, vertex: u32, ended: f64| {
        let first = attempts.partition_point(|a| (a.stage, a.vertex) < (stage, vertex));
        let useful = |a: &Attempt| a.is_useful() && a.ended == ended;
        attempts[first..]
            .iter()
            .position(useful)
            .map(|offset| first + offset)
    };
    let path = path
        .iter()
        .filter_map(|step| index(step.stage, step.vertex, at(step.to_ms)))
        .chain(fatal(view, &attempts))
        .collect();
    Some(Timeline {
        path,
        weights: view.job.stages.iter().map(weight).collect(),
        tokens: view.run.as_ref().map_or(1.0, |r| r.tokens as f64),
        attempts,
    })
}

/// The attempt that a failed job ended with: the last one that failed, else the last one that was lost with its machine.
fn fatal(view: &View<'_>, attempts: &[Attempt]) -> Option<usize> {
    let last = |is_fatal: &dyn Fn(&Attempt) -> bool| {
        let fatal = (0..attempts.len()).filter(|at| is_fatal(&attempts[*at]));
        fatal.max_by(|a, b| attempts[*a].ended.total_cmp(&attempts[*b].ended))
    };
    let failed = view
        .failed()
        .then(|| last(&|a| a.state == RunState::Failed));
    failed?.or_else(|| last(&Attempt::is_lost))
}

/// 1 unless the events of the stage are a sample.
fn weight(stage: &Stage) -> f64 {
    let Some(runs) = stage.runs.as_ref().filter(|r| !r.runs.is_empty()) else {
        return 1.0;
    };
    let all = runs.completed + runs.failed + runs.revoked + runs.abandoned;
    (all as f64 / runs.runs.len() as f64).max(1.0)
}

fn attempt(stage: usize, run: &VertexRun, at: impl Fn(i64) -> f64) -> Attempt {
    let created = at(run.created_ms);
    let started = at(run.started_ms).max(created);
    let running = at(run.running_ms).max(started);
    Attempt {
        stage,
        vertex: run.index,
        state: run.state,
        created,
        started,
        running,
        ended: at(run.ended_ms).max(running),
        line: Some(run.line),
    }
}

fn sort(attempts: &mut [Attempt]) {
    attempts.sort_by(|a, b| {
        (a.stage, a.vertex)
            .cmp(&(b.stage, b.vertex))
            .then(a.created.total_cmp(&b.created))
    });
}

/// Milliseconds since 1970 of the submission, on the clock of the events. If the events don't fit into
/// the run by the job's own clock, the run is assumed to end with its last vertex.
fn origin_ms(view: &View<'_>, run: Span, first_ms: i64, last_ms: i64) -> i64 {
    let info = &view.job.info;
    if view.job.spark.is_some()
        && let Some(submitted) = info.submitted_ms
    {
        // the driver's clock has stamped all events
        return submitted;
    }
    let ms = |seconds: f64| (seconds * 1000.0) as i64;
    let by_start = info.started_ms.map(|start| start - ms(run.from));
    let fits = |origin: &i64| {
        first_ms >= origin + ms(run.from - CLOCK_S) && last_ms <= origin + ms(run.to + CLOCK_S)
    };
    let known = info.submitted_ms.or(by_start).filter(fits);
    known.unwrap_or_else(|| last_ms - ms(run.to))
}

/// The replay of the run, shortened if it takes longer than the run did.
fn modeled(model: &RunModel, run: Span) -> Timeline {
    let pace = (run.seconds() / model.replayed_s).min(1.0);
    let mut attempts = Vec::new();
    let mut last: Vec<Option<(f64, usize)>> = vec![None; model.stages.len()];
    schedule(&model.stages, model.tokens, |turn| {
        if !turn.lost && last[turn.stage].is_none_or(|(to, _)| turn.to > to) {
            last[turn.stage] = Some((turn.to, turn.vertex));
        }
        attempts.push(attempt_of(model, turn, |at| run.from + at * pace));
    });
    let ends = |stage: &usize| Some((last[*stage]?.0, *stage));
    let latest = |stages: &mut dyn Iterator<Item = usize>| {
        let ended = stages.filter_map(|s| ends(&s));
        ended.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, s)| s)
    };
    let mut chain: Vec<usize> = Vec::new();
    let mut at = latest(&mut (0..model.stages.len()));
    while let Some(stage) = at.filter(|_| chain.len() < model.stages.len()) {
        chain.push(stage);
        at = latest(&mut model.stages[stage].inputs.iter().copied());
    }
    sort(&mut attempts);
    let index = |stage: usize| {
        let vertex = last[stage]?.1 as u32;
        let after = attempts.partition_point(|a| (a.stage, a.vertex) <= (stage, vertex));
        after.checked_sub(1)
    };
    Timeline {
        path: chain.into_iter().rev().filter_map(index).collect(),
        tokens: model.tokens as f64,
        weights: vec![1.0; model.stages.len()],
        attempts,
    }
}

fn attempt_of(model: &RunModel, turn: Turn, at: impl Fn(f64) -> f64) -> Attempt {
    let work = model.stages[turn.stage].vertices[turn.vertex];
    let (state, start_s) = match turn.lost {
        true => (RunState::Failed, 0.0),
        false => (RunState::Completed, work.start_s),
    };
    Attempt {
        stage: turn.stage,
        vertex: turn.vertex as u32,
        state,
        created: at(turn.ready),
        started: at(turn.from),
        running: at(turn.from + start_s),
        ended: at(turn.to),
        line: None,
    }
}
