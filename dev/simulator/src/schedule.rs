//! Runs the vertices of a compiled job on its tokens: list scheduling over the stage graph, with start-up and queue
//! latencies, failed and revoked attempts, duplicates and slow machines.

use crate::physical::Physical;
use crate::plan::{Ending, MemoryLow, NodeId, Op, Place, Spec};
use crate::rng::{mix, noise, wobble};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Completed,
    Failed,
    Revoked,
    Abandoned,
    Cancelled,
}

/// Why an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    None,
    ReadFailure,
    Crash,
    Memory,
    UserCode,
    Timeout,
    TempData,
}

/// One attempt of one vertex; times are seconds from the start of the job.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) stage: usize,
    pub(crate) vertex: usize,
    pub(crate) version: u32,
    pub(crate) state: State,
    pub(crate) why: Why,
    pub(crate) machine: u64,
    pub(crate) created: f64,
    pub(crate) queued: f64,
    pub(crate) started: f64,
    pub(crate) running: f64,
    pub(crate) ended: f64,
    /// Share of the work done.
    pub(crate) done: f64,
}

/// What happened.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) elapsed: f64,
    /// Whether each vertex of each stage completed.
    pub(crate) completed: Vec<Vec<bool>>,
}

/// Reason why the job fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fatal {
    /// User code throws on some row of this stage.
    UserCode(usize),
    /// No vertex of this stage may run longer than this many seconds.
    Timeout(usize, f64),
    /// The temporary storage is full when the vertices of this stage have written.
    TempData(usize),
}

/// Machines that a job runs on.
const MACHINES: u64 = 90;
/// Attempts of a vertex with failing user code, before the job fails.
const TRIES: u32 = 4;
/// Seconds that the job manager needs before the first vertex.
const MANAGER_S: f64 = 1.5;

#[derive(Debug, Clone, Copy)]
struct Pending {
    stage: usize,
    vertex: usize,
    version: u32,
    created: f64,
}

/// An order of floats for the heaps; times are never NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

struct Scheduler<'a> {
    spec: &'a Spec,
    physical: &'a Physical,
    fatal: Option<Fatal>,
    names: Vec<String>,
    left: Vec<usize>,
    waiting: Vec<usize>,
    ready: BinaryHeap<Reverse<(Time, usize, usize, u32)>>,
    running: BinaryHeap<Reverse<(Time, usize)>>,
    attempts: Vec<Attempt>,
}

/// Runs the job.
pub(crate) fn run(spec: &Spec, physical: &Physical, fatal: Option<Fatal>) -> Run {
    let parents: Vec<Vec<usize>> = (0..physical.stages.len())
        .map(|s| physical.parents(s))
        .collect();
    let mut s = Scheduler {
        spec,
        physical,
        fatal,
        names: (0..physical.stages.len())
            .map(|i| stable_name(spec, physical, i))
            .collect(),
        left: physical.stages.iter().map(|s| s.vertices).collect(),
        waiting: parents.iter().map(Vec::len).collect(),
        ready: BinaryHeap::new(),
        running: BinaryHeap::new(),
        attempts: Vec::new(),
    };
    for stage in 0..physical.stages.len() {
        if s.waiting[stage] == 0 {
            s.release(stage, MANAGER_S);
        }
    }
    s.work(&parents)
}

/// A name that does not change when other stages come or go.
fn stable_name(spec: &Spec, physical: &Physical, stage: usize) -> String {
    let ops = &physical.stages[stage].ops;
    let main = ops
        .iter()
        .rev()
        .find(|o| !matches!(o.kind, crate::physical::Kind::Partition(_)));
    main.map_or_else(String::new, |o| match &spec.nodes[o.node].op {
        Op::Output { file, .. } => file.clone(),
        _ => spec.nodes[o.node].name.clone(),
    })
}

impl Scheduler<'_> {
    fn release(&mut self, stage: usize, now: f64) {
        for vertex in 0..self.physical.stages[stage].vertices {
            self.ready.push(Reverse((Time(now), stage, vertex, 0)));
        }
    }

    /// Tokens that the job holds, and when it gets more or fewer.
    fn tokens(&self, now: f64) -> (usize, Option<f64>) {
        let env = &self.spec.env;
        let granted = env.grants.iter().rfind(|g| g.0 <= now);
        let tokens = granted.map_or(env.tokens, |g| g.1.min(env.tokens));
        let next = env.grants.iter().find(|g| g.0 > now).map(|g| g.0);
        (tokens as usize, next)
    }

    fn work(mut self, parents: &[Vec<usize>]) -> Run {
        let mut now = MANAGER_S;
        let mut dead = None;
        loop {
            let (tokens, granted) = self.tokens(now);
            while self.running.len() < tokens
                && let Some(&Reverse((Time(at), ..))) = self.ready.peek()
                && at <= now + 1e-9
            {
                let Some(Reverse((Time(created), stage, vertex, version))) = self.ready.pop()
                else {
                    break;
                };
                self.start(
                    Pending {
                        stage,
                        vertex,
                        version,
                        created,
                    },
                    now,
                );
            }
            let ends = self.running.peek().map(|r| r.0.0.0);
            if let Some(at) = granted
                && !self.ready.is_empty()
                && ends.is_none_or(|end| end > at)
            {
                now = at;
                continue;
            }
            let Some(Reverse((Time(end), index))) = self.running.pop() else {
                break;
            };
            now = end;
            let a = self.attempts[index].clone();
            match a.state {
                State::Completed => {
                    self.left[a.stage] -= 1;
                    if self.left[a.stage] == 0 {
                        self.finish(a.stage, now, parents);
                    }
                }
                State::Failed if self.ends_job(&a) => {
                    dead = Some(now);
                    break;
                }
                _ => self
                    .ready
                    .push(Reverse((Time(now), a.stage, a.vertex, a.version + 1))),
            }
        }
        if let Some(now) = dead {
            self.cancel(now);
        }
        self.result(now)
    }

    fn finish(&mut self, stage: usize, now: f64, parents: &[Vec<usize>]) {
        for (child, its) in parents.iter().enumerate() {
            if its.contains(&stage) {
                self.waiting[child] -= 1;
                if self.waiting[child] == 0 {
                    self.release(child, now);
                }
            }
        }
    }

    fn ends_job(&self, a: &Attempt) -> bool {
        matches!(a.why, Why::Timeout | Why::TempData)
            || a.why == Why::UserCode && a.version + 1 >= TRIES
    }

    /// Cancels the attempts that are running when the job fails.
    fn cancel(&mut self, now: f64) {
        while let Some(Reverse((_, index))) = self.running.pop() {
            let a = &mut self.attempts[index];
            let whole = (a.ended - a.running).max(1e-9);
            a.done *= ((now - a.running) / whole).clamp(0.0, 1.0);
            a.state = State::Cancelled;
            a.why = Why::None;
            a.ended = now;
            a.running = a.running.min(now);
            a.started = a.started.min(now);
        }
    }

    fn start(&mut self, p: Pending, now: f64) {
        let place = &self.names[p.stage];
        let index = p.vertex as u64 * 16 + u64::from(p.version);
        let seed = self.spec.noise();
        let queued = now.max(p.created) + 0.02 + 0.06 * noise(seed, place, index ^ 0x100_0000);
        let started = queued + 0.05 + 0.3 * noise(seed, place, index ^ 0x200_0000);
        let running =
            started + self.spec.env.start_s * wobble(seed, &format!("start {place}"), index, 0.25);
        let mut machine = mix(seed ^ mix(index) ^ crate::rng::hash_text(3, place)) % MACHINES;
        let mut full = self.physical.stages[p.stage].run_s[p.vertex];
        if let Some(slow) = self.spec.env.slow
            && self.is_at(slow.place, &p, machine)
        {
            let cpu = self.cpu_seconds(&p).min(full);
            let factor = (cpu * slow.cpu + (full - cpu) * slow.wait) / full.max(1e-9);
            full *= factor * (0.9 + 0.2 * noise(seed, "slow", p.vertex as u64));
            if matches!(slow.place, Place::Vertices(..)) {
                machine = MACHINES + p.vertex as u64 % 2;
            }
        }
        let (state, why, done) = self.fate(&p, full, index, machine);
        let ended = running + full * done;
        self.attempts.push(Attempt {
            stage: p.stage,
            vertex: p.vertex,
            version: p.version,
            state,
            why,
            machine,
            created: p.created,
            queued,
            started,
            running,
            ended,
            done,
        });
        self.running
            .push(Reverse((Time(ended), self.attempts.len() - 1)));
    }

    /// Whether an attempt is where something goes wrong.
    fn is_at(&self, place: Place, p: &Pending, machine: u64) -> bool {
        let of = |node: NodeId| self.physical.stage_of(node) == Some(p.stage);
        match place {
            Place::Stage(node) => of(node),
            Place::Vertices(node, count) => {
                of(node) && is_slow(p.vertex, count, self.physical.stages[p.stage].vertices)
            }
            Place::Machines(count) => machine < count,
            Place::Anywhere => true,
        }
    }

    fn cpu_seconds(&self, p: &Pending) -> f64 {
        let ops = &self.physical.stages[p.stage].ops;
        ops.iter().map(|o| o.cpu_ms[p.vertex] / 1e3).sum()
    }

    /// State, reason and share of the work done of an attempt.
    fn fate(&self, p: &Pending, full: f64, index: u64, machine: u64) -> (State, Why, f64) {
        let (seed, place) = (self.spec.noise(), &self.names[p.stage]);
        let stop = 0.1 + 0.85 * noise(seed, "stop", index ^ crate::rng::hash_text(1, place));
        match self.fatal {
            Some(Fatal::UserCode(stage))
                if stage == p.stage && p.vertex == self.physical.stages[stage].vertices / 3 =>
            {
                return (State::Failed, Why::UserCode, 0.4 + 0.2 * stop);
            }
            Some(Fatal::TempData(stage)) if stage == p.stage && p.vertex == self.slowest(stage) => {
                return (State::Failed, Why::TempData, 0.97);
            }
            Some(Fatal::Timeout(stage, limit)) if stage == p.stage && full > limit => {
                return (State::Failed, Why::Timeout, limit / full);
            }
            _ => {}
        }
        if let Some((node, low)) = self.spec.env.memory_low
            && self.physical.stage_of(node) == Some(p.stage)
            && p.version < self.memory_failures(low, p)
        {
            return (State::Failed, Why::Memory, 0.55 + 0.4 * stop);
        }
        if p.version < 4 {
            let luck = noise(seed, &format!("fate {place}"), index);
            let fails = self.spec.env.fails;
            let (rate, ending) = match fails.filter(|f| self.is_at(f.place, p, machine)) {
                Some(fails) => (fails.rate, fails.ending),
                None => (self.spec.env.fail_rate, Ending::Mixed),
            };
            if luck < rate {
                let crash = noise(seed, "why", index) < 0.4;
                let revoked = noise(seed, "revoked", index) < 0.35;
                return match ending {
                    Ending::Revoked => (State::Revoked, Why::None, stop),
                    Ending::Crash => (State::Failed, Why::Crash, stop),
                    Ending::Unreadable => (State::Failed, Why::ReadFailure, stop),
                    Ending::Mixed if revoked => (State::Revoked, Why::None, stop),
                    Ending::Mixed if crash => (State::Failed, Why::Crash, stop),
                    Ending::Mixed => (State::Failed, Why::ReadFailure, stop),
                };
            }
        }
        (State::Completed, Why::None, 1.0)
    }

    /// Attempts of a vertex that run out of memory.
    fn memory_failures(&self, low: MemoryLow, p: &Pending) -> u32 {
        let read = &self.physical.stages[p.stage].read;
        let mean = read.iter().sum::<f64>() / read.len().max(1) as f64;
        match low {
            MemoryLow::Every => {
                1 + u32::from(noise(self.spec.noise(), "oom", p.vertex as u64) < 0.45)
            }
            MemoryLow::Large => 2 * u32::from(read[p.vertex] > mean),
            MemoryLow::Thrice => 3,
        }
    }

    /// The vertex of a stage that runs longest: when it ends, the others have written.
    fn slowest(&self, stage: usize) -> usize {
        let run = &self.physical.stages[stage].run_s;
        (0..run.len())
            .max_by(|&a, &b| run[a].total_cmp(&run[b]))
            .unwrap_or(0)
    }

    fn result(self, now: f64) -> Run {
        let mut completed: Vec<Vec<bool>> = self
            .physical
            .stages
            .iter()
            .map(|s| vec![false; s.vertices])
            .collect();
        for a in self.attempts.iter().filter(|a| a.state == State::Completed) {
            completed[a.stage][a.vertex] = true;
        }
        let mut attempts = self.attempts;
        duplicates(self.spec, &mut attempts);
        attempts.sort_by(|a, b| {
            a.ended
                .total_cmp(&b.ended)
                .then((a.stage, a.vertex, a.version).cmp(&(b.stage, b.vertex, b.version)))
        });
        Run {
            attempts,
            elapsed: now + 0.3,
            completed,
        }
    }
}

/// Gives a few vertices a duplicate that lost the race; it ran on idle tokens without delaying any
/// vertex.
fn duplicates(spec: &Spec, attempts: &mut Vec<Attempt>) {
    let extra: Vec<Attempt> = attempts
        .iter()
        .enumerate()
        .filter(|(i, a)| {
            a.state == State::Completed
                && a.ended - a.running > 20.0
                && noise(spec.noise(), "duplicate", *i as u64) < 0.006
        })
        .map(|(_, a)| {
            let begin = a.running + 0.6 * (a.ended - a.running);
            Attempt {
                state: State::Abandoned,
                version: a.version + 1,
                machine: (a.machine + 17) % MACHINES,
                created: begin,
                queued: begin + 0.1,
                started: begin + 0.3,
                running: begin + 2.0,
                done: 0.3,
                ..a.clone()
            }
        })
        .collect();
    attempts.extend(extra);
}

/// The slow vertices are spread over the stage.
fn is_slow(vertex: usize, count: u32, vertices: usize) -> bool {
    let step = (vertices / count.max(1) as usize).max(1);
    vertex % step == step / 2 && (vertex / step) < count as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Dialect;
    use crate::templates::{Scale, Template, build};

    fn ran(template: Template, seed: u64) -> (Spec, Physical, Run) {
        let (spec, _) = build(template, Dialect::Scope, Scale::Small, seed);
        let physical = crate::compile::compile(&spec);
        let run = run(&spec, &physical, None);
        (spec, physical, run)
    }

    #[test]
    fn tokens_are_never_exceeded_and_every_vertex_completes() {
        for template in crate::templates::TEMPLATES {
            let (spec, _, run) = ran(template, 5);
            assert!(run.completed.iter().flatten().all(|done| *done));
            // A duplicate runs on a token that is idle.
            let held: Vec<&Attempt> = run
                .attempts
                .iter()
                .filter(|a| a.state != State::Abandoned)
                .collect();
            for a in &held {
                let at = a.started;
                let busy = held
                    .iter()
                    .filter(|b| b.queued <= at && at < b.ended)
                    .count();
                assert!(busy <= spec.env.tokens as usize, "{busy} at {at}");
            }
        }
    }

    #[test]
    fn a_stage_starts_after_those_it_reads() {
        let (_, physical, run) = ran(Template::SameKey, 9);
        for stage in 0..physical.stages.len() {
            let first = run
                .attempts
                .iter()
                .filter(|a| a.stage == stage)
                .map(|a| a.created);
            let first = first.fold(f64::INFINITY, f64::min);
            for parent in physical.parents(stage) {
                let completed = |a: &&Attempt| a.stage == parent && a.state == State::Completed;
                let last = run
                    .attempts
                    .iter()
                    .filter(completed)
                    .map(|a| a.ended)
                    .fold(0.0, f64::max);
                assert!(last <= first + 1e-9, "{parent} -> {stage}");
            }
        }
    }

    #[test]
    fn more_tokens_are_not_slower() {
        let (mut spec, physical, few) = ran(Template::Star, 4);
        spec.env.tokens *= 4;
        let many = super::run(&spec, &physical, None);
        assert!(many.elapsed <= few.elapsed);
    }
}
