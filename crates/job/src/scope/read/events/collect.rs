//! Gathers attempts per stage: distributions over all attempts, and as many single attempts as memory
//! allows.

use foldhash::{HashMap, HashMapExt};

use super::clock::Clock;
use super::line::{Attempt, Event, attempt, event};
use super::older::Older;
use crate::counters::Name;
use crate::folder::Options;
use crate::problem::Problem;
use crate::runs::{RunState, StageRuns, VertexRun};
use crate::sketch::Sketch;
use crate::time::filetime_ms;
use crate::until::Until;

/// Attempts kept over all stages: 72 bytes each, so 6 MB, and some slack while lists grow.
const MAX_RUNS: usize = 80_000;
/// Distinct stages and machines; a real job has fewer.
const MAX_NAMES: usize = 100_000;
/// Different messages kept per stage.
const MAX_MESSAGES: usize = 32;
/// Unreadable lines that are reported one by one.
const MAX_COMPLAINTS: u64 = 5;

pub(super) struct Collected {
    pub(super) stages: Vec<(String, StageRuns)>,
    /// Milliseconds since 1970 and line.
    pub(super) graph_start: Option<(i64, u64)>,
    pub(super) finish: Option<(i64, u64)>,
    pub(super) complaints: Vec<(u64, Problem)>,
}

#[derive(Default)]
pub(crate) struct Collector {
    file: String,
    per_stage: usize,
    in_all: usize,
    clock: Clock,
    line: u64,
    kept: usize,
    stages: Vec<Stage>,
    stage_ids: HashMap<Box<[u8]>, usize>,
    /// Stage of the last line: lines of one stage follow each other.
    last: usize,
    machines: Vec<Name>,
    machine_ids: HashMap<Box<[u8]>, u32>,
    graph_start: Option<(i64, u64)>,
    finish: Option<(i64, u64)>,
    complaints: Vec<(u64, Problem)>,
    malformed: u64,
    /// Attempts of the older form; given up at the first line of the newer one.
    older: Option<Older>,
    until: Until,
}

#[derive(Default)]
struct Stage {
    name: Box<[u8]>,
    runs: Vec<VertexRun>,
    /// Every `stride`-th ordinary attempt is kept.
    stride: u64,
    seen: u64,
    counts: [u64; 4],
    run_ms: Sketch,
    wait_ms: Sketch,
    bytes_read: Sketch,
    bytes_written: Sketch,
    wasted_ms: f64,
    slowest_ms: i64,
    events: HashMap<String, u64>,
}

impl Collector {
    /// One of `parts` collectors that share the work and the limits.
    pub(crate) fn new(file: &str, options: &Options, parts: usize) -> Collector {
        Collector {
            file: file.to_owned(),
            per_stage: (options.max_runs_per_stage / parts).max(16),
            in_all: MAX_RUNS / parts,
            older: Some(Older::new(MAX_RUNS / parts)),
            until: options.until.clone(),
            ..Collector::default()
        }
    }

    /// Whether to stop reading; notes the reason.
    pub(super) fn stops(&mut self) -> bool {
        let early = self.until.reached();
        let stopped = early.map(|early| (self.line, Problem::stopped(early, self.line)));
        self.complaints.extend(stopped);
        early.is_some()
    }

    /// Reads a line without its line feed.
    pub(super) fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = match self.line {
            1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            _ => line,
        };
        let Some(rest) = line.strip_prefix(b"---HiPriTime ") else {
            self.event(line);
            return;
        };
        self.older = None;
        let mut clock = std::mem::take(&mut self.clock);
        match attempt(rest, &mut clock) {
            Some(attempt) => self.attempt(&attempt, self.line),
            None => self.complain(Problem::Attempt),
        }
        self.clock = clock;
    }

    /// Reads a last line without a line feed: the file may be truncated there.
    pub(super) fn last_line(&mut self, line: &[u8]) {
        let before = self.malformed;
        self.line(line);
        if self.malformed > before
            && let Some((_, problem)) = self.complaints.last_mut()
        {
            *problem = Problem::CutLine;
        }
    }

    /// Counts a line that is too long to be one.
    pub(super) fn skipped_line(&mut self) {
        self.line += 1;
        self.complain(Problem::LongLine);
    }

    fn complain(&mut self, problem: Problem) {
        self.malformed += 1;
        if self.malformed <= MAX_COMPLAINTS {
            self.complaints.push((self.line, problem));
        }
    }

    fn event(&mut self, line: &[u8]) {
        if let (Some(older), Ok(text)) = (&mut self.older, std::str::from_utf8(line)) {
            older.line(text.trim_end(), self.line);
        }
        match event(line) {
            Some(Event::GraphStart(ticks)) => {
                self.graph_start = filetime_ms(ticks).map(|ms| (ms, self.line));
            }
            Some(Event::Finish(ticks)) => {
                self.finish = filetime_ms(ticks).map(|ms| (ms, self.line));
            }
            Some(Event::Vertex(name, message)) => {
                if let Some(at) = self.stage(name.as_bytes()) {
                    self.stages[at].count(message, 1);
                }
            }
            None => {}
        }
    }

    fn stage(&mut self, name: &[u8]) -> Option<usize> {
        if self.stages.get(self.last).is_some_and(|s| *s.name == *name) {
            return Some(self.last);
        }
        let at = match self.stage_ids.get(name) {
            Some(at) => *at,
            None if name.is_empty() || self.stages.len() >= MAX_NAMES => return None,
            None => {
                self.stages.push(Stage {
                    name: name.into(),
                    stride: 1,
                    ..Stage::default()
                });
                self.stage_ids.insert(name.into(), self.stages.len() - 1);
                self.stages.len() - 1
            }
        };
        self.last = at;
        Some(at)
    }

    fn machine(&mut self, name: &[u8]) -> u32 {
        if let Some(id) = self.machine_ids.get(name) {
            return *id;
        }
        if self.machines.len() >= MAX_NAMES {
            return u32::MAX;
        }
        let id = self.machines.len() as u32;
        self.machines
            .push(Name::from(String::from_utf8_lossy(name).as_ref()));
        self.machine_ids.insert(name.into(), id);
        id
    }

    fn attempt(&mut self, attempt: &Attempt<'_>, line: u64) {
        let Some(at) = self.stage(attempt.stage) else {
            return;
        };
        let machine = self.machine(attempt.machine);
        let [created, queued, started, running, ended] = attempt.times;
        let run = VertexRun {
            index: attempt.index,
            state: attempt.state,
            machine,
            created_ms: created,
            queued_ms: queued,
            started_ms: started,
            running_ms: running,
            ended_ms: ended,
            bytes_read: attempt.bytes_read,
            bytes_written: attempt.bytes_written,
            line,
        };
        let stage = &mut self.stages[at];
        stage.measure(&run);
        if stage.wants(&run) {
            stage.runs.push(run);
            self.kept += 1;
            if stage.runs.len() > self.per_stage {
                self.kept -= stage.thin();
            }
            if self.kept > self.in_all {
                let largest = self.stages.iter_mut().max_by_key(|s| s.runs.len());
                self.kept -= largest.map_or(0, Stage::thin);
            }
        }
    }

    /// Adds the events from the next part of the file.
    pub(super) fn absorb(&mut self, next: Collector) {
        let lines = self.line;
        let machines = next.machines.iter();
        let machines: Vec<u32> = machines.map(|name| self.machine(name.as_bytes())).collect();
        for mut stage in next.stages {
            let Some(at) = self.stage(&stage.name) else {
                continue;
            };
            let machine = |run: &VertexRun| machines.get(run.machine as usize).copied();
            let runs = std::mem::take(&mut stage.runs).into_iter();
            self.stages[at].runs.extend(runs.map(|run| VertexRun {
                machine: machine(&run).unwrap_or(u32::MAX),
                line: run.line + lines,
                ..run
            }));
            self.stages[at].absorb(stage);
        }
        let moved = |(ms, line): (i64, u64)| (ms, line + lines);
        self.graph_start = self.graph_start.or(next.graph_start.map(moved));
        self.finish = next.finish.map(moved).or(self.finish);
        for (line, problem) in next.complaints {
            let problem = match problem {
                Problem::TimeIsUp(at) => Problem::TimeIsUp(at + lines),
                Problem::Interrupted(at) => Problem::Interrupted(at + lines),
                other => other,
            };
            self.complaints.push((line + lines, problem));
        }
        self.malformed += next.malformed;
        self.older = match (self.older.take(), next.older) {
            (Some(mut older), Some(next)) => {
                older.absorb(next, lines);
                Some(older)
            }
            _ => None,
        };
        self.line += next.line;
    }

    pub(super) fn finish(mut self) -> Collected {
        if let Some(older) = self.older.take() {
            if older.lost() > 0 {
                let problem = Problem::MoreAttempts(older.lost());
                self.complaints.push((self.line, problem));
            }
            older.attempts(|attempt, line| self.attempt(attempt, line));
        }
        if self.malformed > MAX_COMPLAINTS {
            let more = self.malformed - MAX_COMPLAINTS;
            self.complaints.push((self.line, Problem::MoreLines(more)));
        }
        let stages = self.stages.into_iter().map(|stage| {
            let name = String::from_utf8_lossy(&stage.name).into_owned();
            (name, stage.finish(&self.file, &self.machines))
        });
        Collected {
            stages: stages.collect(),
            graph_start: self.graph_start,
            finish: self.finish,
            complaints: self.complaints,
        }
    }
}

impl Stage {
    fn measure(&mut self, run: &VertexRun) {
        let ms = |from: i64, to: i64| u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let ran = ms(run.running_ms, run.ended_ms);
        match run.state {
            RunState::Completed => {
                self.counts[0] += 1;
                self.run_ms.add(ran);
                self.wait_ms.add(ms(run.queued_ms, run.running_ms));
                self.bytes_read.add(run.bytes_read);
                self.bytes_written.add(run.bytes_written);
                return;
            }
            RunState::Failed => self.counts[1] += 1,
            RunState::Revoked => self.counts[2] += 1,
            RunState::Abandoned | RunState::Cancelled => self.counts[3] += 1,
        }
        self.wasted_ms += ran as f64;
    }

    /// Whether to keep an attempt: every `stride`-th one, every failed one, and each new slowest one.
    fn wants(&mut self, run: &VertexRun) -> bool {
        self.seen += 1;
        let ran = run.ended_ms.saturating_sub(run.running_ms);
        let slowest = ran > self.slowest_ms;
        self.slowest_ms = self.slowest_ms.max(ran);
        // a power of two
        self.seen & (self.stride - 1) == 0 || slowest
    }

    /// Drops every second attempt except the slowest 64, and returns the number of dropped ones.
    fn thin(&mut self) -> usize {
        let before = self.runs.len();
        let ran = |run: &VertexRun| run.ended_ms.saturating_sub(run.running_ms);
        let mut times: Vec<i64> = self.runs.iter().map(ran).collect();
        let keep = before.saturating_sub(64);
        let (_, bar, _) = times.select_nth_unstable(keep.min(before - 1));
        let bar = *bar;
        let mut number = 0_usize;
        self.runs.retain(|run| {
            number += 1;
            number.is_multiple_of(2) || ran(run) > bar
        });
        self.stride *= 2;
        before - self.runs.len()
    }

    fn count(&mut self, message: String, n: u64) {
        if self.events.len() < MAX_MESSAGES || self.events.contains_key(&message) {
            *self.events.entry(message).or_default() += n;
        }
    }

    /// Adds the measures of a later part; its runs were added before.
    fn absorb(&mut self, next: Stage) {
        self.stride = self.stride.max(next.stride);
        self.seen += next.seen;
        for (sum, n) in self.counts.iter_mut().zip(next.counts) {
            *sum += n;
        }
        self.run_ms.absorb(next.run_ms);
        self.wait_ms.absorb(next.wait_ms);
        self.bytes_read.absorb(next.bytes_read);
        self.bytes_written.absorb(next.bytes_written);
        self.wasted_ms += next.wasted_ms;
        for (message, n) in next.events {
            self.count(message, n);
        }
    }

    fn finish(mut self, file: &str, machines: &[Name]) -> StageRuns {
        let mut local: HashMap<u32, u32> = HashMap::new();
        let mut names: Vec<Name> = Vec::new();
        for run in &mut self.runs {
            run.machine = *local.entry(run.machine).or_insert_with(|| {
                let name = machines.get(run.machine as usize).cloned();
                names.push(name.unwrap_or_default());
                names.len() as u32 - 1
            });
        }
        self.runs.shrink_to_fit();
        let mut events: Vec<(String, u64)> = self.events.into_iter().collect();
        events.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let [completed, failed, revoked, abandoned] = self.counts;
        StageRuns {
            file: file.to_owned(),
            sampled: self.stride > 1,
            runs: self.runs,
            machines: names.into(),
            completed,
            failed,
            revoked,
            abandoned,
            run_ms: self.run_ms.distribution(),
            wait_ms: self.wait_ms.distribution(),
            bytes_read: self.bytes_read.distribution(),
            bytes_written: self.bytes_written.distribution(),
            wasted_ms: self.wasted_ms,
            events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_attempts_are_sampled_and_still_measured() {
        let options = Options {
            max_runs_per_stage: 100,
            ..Options::default()
        };
        let mut collector = Collector::new("profile", &options, 1);
        for vertex in 0..10_000_u32 {
            let second = if vertex == 777 { 59 } else { 10 + vertex % 5 };
            let line = format!(
                "---HiPriTime A,B,SV1[{vertex}],Completed,m{},2024-01-01 00:00:00.000 UTC,2024-01-01 00:00:01.000 UTC,\
                 2024-01-01 00:00:02.000 UTC,2024-01-01 00:00:03.000 UTC,2024-01-01 00:00:{second}.000 UTC,x,{vertex},1",
                vertex % 7
            );
            collector.line(line.as_bytes());
        }
        let mut collected = collector.finish();
        let (name, runs) = collected.stages.remove(0);
        assert_eq!(name, "SV1");
        assert!(runs.sampled && runs.runs.len() <= 100);
        assert_eq!((runs.completed, runs.run_ms.count), (10_000, 10_000));
        assert_eq!(runs.run_ms.max, 56_000.0);
        // the slowest is kept
        assert!(runs.runs.iter().any(|r| r.index == 777));
        assert_eq!(runs.machines.len(), 7);
    }
}
