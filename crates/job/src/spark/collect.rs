//! Gathers the events of a log in any order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;

use super::event::{self, TaskEnd};
use super::failure::TaskFailure;
use super::limits::{Forgotten, Limits};
use super::lineage::Lineage;
use super::lists::owned;
use super::plan_text::{RawNode, plan};
use super::streams::Streams;
use super::tasks::{Tasks, state, task};
use super::texts;
use crate::model::{Application, CachedData, DriverJob, Execution, Executor};
use crate::runs::RunState;
use crate::text::head;

/// Executors kept.
const MOST_EXECUTORS: usize = 50_000;
/// Executors with a full reason of removal; further reasons are cut.
const MOST_REASONS: usize = 2_000;
/// Single tasks kept over all stages: some 250 bytes each, so 50 MB.
const MAX_TASKS: usize = 200_000;
/// Metrics that the driver set.
const MAX_METRICS: usize = 500_000;
/// Settings of the application.
const MAX_SETTINGS: usize = 10_000;
/// Failures of tasks kept with their stack.
const MAX_FAILURES: usize = 200;
/// Micro-batches kept: one week with a batch every ten seconds.
const MAX_BATCHES: usize = 60_000;

/// State of a stage attempt while the log is read.
#[derive(Debug, Default)]
pub(super) struct StageState {
    pub(super) name: String,
    pub(super) n_tasks: u32,
    pub(super) parents: Vec<u32>,
    /// The last RDD of its lineage.
    pub(super) last_rdd: Option<u32>,
    pub(super) lineage: Lineage,
    pub(super) of_library: bool,
    pub(super) submitted: Option<i64>,
    pub(super) completed: Option<i64>,
    pub(super) failure: Option<String>,
    /// Values of accumulators when it completed.
    pub(super) accumulators: HashMap<u64, f64>,
    pub(super) tasks: Tasks,
    /// Whether it was submitted, rather than only planned.
    pub(super) ran: bool,
    pub(super) line: u64,
    /// Part of the log.
    pub(super) part: usize,
}

/// A job of the driver and all stages that it consists of, run or not.
#[derive(Debug, Default)]
pub(super) struct JobState {
    pub(super) job: DriverJob,
    pub(super) stages: Vec<u32>,
    pub(super) execution: Option<u32>,
    /// Whether its texts were shortened to bound memory.
    pub(super) shed: bool,
}

#[derive(Debug, Default)]
pub(super) struct ExecutionState {
    pub(super) execution: Execution,
    pub(super) nodes: Vec<RawNode>,
    /// Whether its plan was dropped to bound memory.
    pub(super) shed: bool,
}

/// State of an application while its log is read.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    per_stage: usize,
    /// Names of the parts, as read.
    pub(super) parts: Vec<String>,
    pub(super) line: u64,
    /// Lines of the part without an event, including empty ones.
    pub(super) without_event: u64,
    pub(super) app: Application,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) user: Option<String>,
    /// Attempt at the application, from 1; resource managers that try once have none.
    pub(super) attempt: Option<u64>,
    pub(super) started: Option<(i64, u64)>,
    pub(super) ended: Option<(i64, u64)>,
    pub(super) executors: HashMap<String, u32>,
    pub(super) jobs: BTreeMap<u32, JobState>,
    pub(super) executions: BTreeMap<u32, ExecutionState>,
    pub(super) stages: BTreeMap<(u32, u32), StageState>,
    pub(super) driver_metrics: HashMap<u64, f64>,
    pub(super) cached: BTreeMap<u32, CachedData>,
    pub(super) cached_by: BTreeSet<(u32, u32)>,
    pub(super) failures: Vec<TaskFailure>,
    pub(super) streams: Streams,
    pub(super) unknown: BTreeMap<String, u64>,
    /// Number of lines without an event, and the first of them.
    pub(super) unreadable: u64,
    pub(super) first_unreadable: Option<(u64, bool)>,
    /// Number of events with impossible times, and the first such time.
    pub(super) impossible: Option<(u64, f64)>,
    /// Single tasks kept.
    pub(super) n_tasks: usize,
    /// Bytes of details since the last shedding, and whether details were shed.
    pub(super) detail_bytes: usize,
    pub(super) has_shed: bool,
    /// Milliseconds of the tasks of each execution, and the execution of each stage.
    pub(super) execution_ms: HashMap<u32, u64>,
    pub(super) execution_of: HashMap<u32, u32>,
    /// Whether stages, jobs, executions or executors were left out because there are too many.
    pub(super) left_out: bool,
    pub(super) forgotten: Forgotten,
    pub(super) limits: Limits,
}

impl Collector {
    /// A collector that keeps at most `per_stage` tasks of a stage.
    pub(crate) fn new(per_stage: usize) -> Collector {
        Collector {
            per_stage,
            ..Collector::default()
        }
    }

    /// Begins another part of the log.
    pub(super) fn part(&mut self, name: &str) {
        self.parts.push(name.to_owned());
        (self.line, self.without_event) = (0, 0);
    }

    /// Counts a line without an event, or an overlong one.
    pub(super) fn unreadable(&mut self, cut: bool) {
        self.unreadable += 1;
        self.first_unreadable.get_or_insert((self.line, cut));
    }

    /// Reads a line. With `last`, it has no line feed: the log may be truncated there.
    pub(super) fn line(&mut self, line: &[u8], last: bool) {
        self.line += 1;
        let line = line.trim_ascii();
        if line.is_empty() {
            self.without_event += 1;
            return;
        }
        if self.event(line).is_none() {
            self.without_event += 1;
            self.unreadable(last);
        }
    }

    fn application_start(&mut self, start: &event::ApplicationStart<'_>) {
        (self.id, self.name) = (start.id.kept(texts::NAME), start.name.kept(texts::NAME));
        self.user = start.user.kept(texts::NAME);
        self.attempt = start.attempt.count();
        self.check(&[start.time]);
        self.started = start.time.time().map(|at| (at, self.line));
    }

    fn driver_updates(&mut self, event: &event::DriverUpdates) {
        for (id, value) in event.updates.iter() {
            let id = id.or_zero();
            if self.driver_metrics.len() < MAX_METRICS || self.driver_metrics.contains_key(&id) {
                let known = self.driver_metrics.entry(id).or_default();
                *known = known.max(value.0.unwrap_or(0.0));
            }
        }
    }

    fn event(&mut self, line: &[u8]) -> Option<()> {
        // damaged text must not hide an event
        let text: Cow<'_, str> = String::from_utf8_lossy(line);
        let text = text.as_ref();
        let name = event::name(text.as_bytes())?;
        match name.as_ref() {
            "TaskEnd" => self.task_end(&read(text)?),
            "LogStart" => {
                let start: event::LogStart<'_> = read(text)?;
                self.app.version = start.version.text();
            }
            "ApplicationStart" => self.application_start(&read(text)?),
            "ApplicationEnd" => {
                let end: event::ApplicationEnd = read(text)?;
                self.check(&[end.time]);
                self.ended = end.time.time().map(|at| (at, self.line));
                self.app.complete = true;
            }
            "EnvironmentUpdate" => {
                /// Characters of a setting.
                const MAX_SETTING: usize = 100_000;
                let update: event::EnvironmentUpdate<'_> = read(text)?;
                let known = self.app.configuration.len();
                let new = owned(update.properties).take(MAX_SETTINGS.saturating_sub(known));
                let new = new.map(|(name, value)| (name, texts::cut(&value, MAX_SETTING)));
                self.app.configuration.extend(new);
            }
            "ResourceProfileAdded" => self.resources(&read(text)?),
            "ExecutorAdded" => self.executor_added(&read(text)?),
            "ExecutorRemoved" => self.executor_removed(&read(text)?),
            "BlockManagerAdded" => self.block_manager(&read(text)?),
            "JobStart" => self.job_start(&read(text)?),
            "JobEnd" => self.job_end(&read(text)?),
            "StageSubmitted" | "StageCompleted" => {
                let event: event::StageEvent<'_> = read(text)?;
                self.stage(&event.info, true);
            }
            "SQLExecutionStart" => {
                self.execution_start(read(text)?);
                self.plan(text)?;
            }
            "SQLAdaptiveExecutionUpdate" => self.plan(text)?,
            "SQLExecutionEnd" => self.execution_end(&read(text)?),
            "StreamingQueryListener$QueryStartedEvent" => self.streams.started(&read(text)?),
            "StreamingQueryListener$QueryTerminatedEvent" => {
                self.streams.terminated(&read(text)?, self.line);
            }
            "StreamingQueryListener$QueryProgressEvent" => {
                let event: event::QueryProgress<'_> = read(text)?;
                let room = self.app.batches.len() < MAX_BATCHES;
                let batch = self
                    .streams
                    .batch(&event.progress, self.line)
                    .filter(|_| room);
                self.app.batches.extend(batch);
            }
            "DriverAccumUpdates" => self.driver_updates(&read(text)?),
            "UnpersistRDD" => {
                #[derive(Deserialize)]
                struct Unpersist {
                    #[serde(rename = "RDD ID")]
                    rdd: event::Number,
                }
                let event: Unpersist = read(text)?;
                if let Some(known) = self.cached_as(event.rdd.id()) {
                    known.released = true;
                }
            }
            known if IGNORED.contains(&known) => {}
            other => {
                /// A log has some dozen kinds of events.
                const MAX_KINDS: usize = 1_000;
                if self.unknown.len() < MAX_KINDS || self.unknown.contains_key(other) {
                    let name = texts::cut(other, texts::NAME);
                    *self.unknown.entry(name).or_default() += 1;
                }
            }
        }
        Some(())
    }

    /// Notes impossible times of an event.
    pub(super) fn check(&mut self, times: &[event::Number]) {
        if let Some(time) = times.iter().find_map(|time| time.impossible_time()) {
            self.impossible.get_or_insert((0, time)).0 += 1;
        }
    }

    /// Position of an executor, created if necessary.
    fn executor(&mut self, id: &str, host: &str) -> u32 {
        let (id, host) = (head(id, texts::SHORT), head(host, texts::SHORT));
        if let Some(at) = self.executors.get(id) {
            let known = &mut self.app.executors[*at as usize];
            if known.host.is_empty() {
                host.clone_into(&mut known.host);
            }
            return *at;
        }
        let at = self.app.executors.len() as u32;
        if self.app.executors.len() >= MOST_EXECUTORS {
            self.left_out = true;
            return at - 1;
        }
        self.app.executors.push(Executor {
            id: id.to_owned(),
            host: host.to_owned(),
            ..Executor::default()
        });
        self.executors.insert(id.to_owned(), at);
        at
    }

    fn executor_added(&mut self, event: &event::ExecutorAdded<'_>) {
        let at = self.executor(&event.id.0, &event.info.host.0) as usize;
        let line = self.line;
        let executor = &mut self.app.executors[at];
        executor.cores = event.info.cores.count().map(|n| n as u32);
        executor.added_ms = event.time.time();
        if executor.removed_ms.is_none() {
            executor.line = line;
        }
    }

    fn executor_removed(&mut self, event: &event::ExecutorRemoved<'_>) {
        // at shutdown, some executors are removed that were never added
        let at = self.executor(&event.id.0, "") as usize;
        let executor = &mut self.app.executors[at];
        executor.removed_ms = event.time.time();
        let most = match at < MOST_REASONS {
            true => texts::ERROR,
            false => texts::SHORT_ERROR,
        };
        executor.reason = event.reason.kept(most);
        executor.line = self.line;
    }

    fn block_manager(&mut self, event: &event::BlockManagerAdded<'_>) {
        if let Some(at) = self
            .executors
            .get(head(&event.manager.executor.0, texts::SHORT))
        {
            self.app.executors[*at as usize].memory_bytes = event.memory.count();
        } else if !["driver", "<driver>"].contains(&event.manager.executor.0.as_ref()) {
            let at = self.executor(&event.manager.executor.0, "") as usize;
            self.app.executors[at].memory_bytes = event.memory.count();
        }
    }

    fn resources(&mut self, event: &event::ResourceProfileAdded) {
        if event.id.or_zero() == 0
            && let Some(cores) = event.task.0.get("cpus").and_then(|r| r.amount.0)
        {
            self.app.task_cores = cores.max(1.0) as u32;
        }
    }

    fn task_end(&mut self, event: &TaskEnd<'_>) {
        self.check(&[event.info.launched, event.info.finished]);
        let executor = self.executor(&event.info.executor.0, &event.info.host.0);
        let task = task(event, executor, self.line);
        let state = state(event);
        let known = &mut self.app.executors[executor as usize];
        known.tasks += 1;
        known.busy_ms += task.finished_ms.abs_diff(task.launched_ms);
        let heap = event.executor.heap.count().filter(|bytes| *bytes > 0);
        known.heap_peak = known.heap_peak.max(heap);
        let key = (event.stage.id(), event.attempt.id());
        if !self.keeps_stage(key) {
            return;
        }
        // later stages share the remaining memory
        let most = self
            .per_stage
            .min((MAX_TASKS - self.n_tasks.min(MAX_TASKS)) / 4);
        let part = self.parts.len().saturating_sub(1);
        let stage = self.stages.entry(key).or_default();
        (stage.ran, stage.part) = (true, part);
        let before = (stage.tasks.kept.len(), stage.tasks.detail_bytes());
        let task = crate::model::Task {
            succeeded: state == RunState::Completed,
            ..task
        };
        stage.tasks.add(state, task, event, most);
        self.n_tasks = (self.n_tasks + stage.tasks.kept.len()).saturating_sub(before.0);
        let more = stage.tasks.detail_bytes().saturating_sub(before.1);
        if state != RunState::Completed {
            let failure = TaskFailure::of(event, key, state, self.line, part);
            stage.tasks.message(failure.message());
            if state != RunState::Cancelled && self.failures.len() < MAX_FAILURES {
                self.failures.push(failure);
            }
        }
        if let Some(execution) = self.execution_of.get(&key.0) {
            let held = task.finished_ms.abs_diff(task.launched_ms);
            *self.execution_ms.entry(*execution).or_default() += held;
        }
        self.details(more);
    }

    fn execution_start(&mut self, event: event::ExecutionStart<'_>) {
        let line = self.line;
        if !self.keeps_execution(event.id.id()) {
            return;
        }
        let state = self.executions.entry(event.id.id()).or_default();
        let e = &mut state.execution;
        e.id = event.id.id();
        e.description = event.description.kept(texts::DESCRIPTION);
        e.details = event.details.kept(texts::DESCRIPTION);
        e.started_ms = event.time.time();
        e.configuration = owned(event.configuration).collect();
        e.line = line;
        let more = state.detail_bytes();
        self.details(more);
    }

    fn execution_end(&mut self, event: &event::ExecutionEnd<'_>) {
        if !self.keeps_execution(event.id.id()) {
            return;
        }
        let e = &mut self.executions.entry(event.id.id()).or_default().execution;
        e.id = event.id.id();
        e.ended_ms = event.time.time();
        e.error = event.error.kept(texts::ERROR);
        let more = e.error.as_ref().map_or(0, String::len);
        self.details(more);
    }

    /// Takes a plan if it is later than the known one. Updates have no time: a plan gains query
    /// stages as they run, and the last plan is marked as final.
    fn plan(&mut self, text: &str) -> Option<()> {
        let update: event::PlanUpdate = read(text)?;
        if !self.keeps_execution(update.id.id()) {
            return Some(());
        }
        let state = self.executions.entry(update.id.id()).or_default();
        if state.shed {
            return Some(());
        }
        let nodes = plan(text);
        let known = rank(&state.nodes);
        let new = rank(&nodes);
        let later = (new, nodes.len()) > (known, state.nodes.len());
        let same = (new, nodes.len()) == (known, state.nodes.len());
        let texts =
            |nodes: &[RawNode]| -> Vec<String> { nodes.iter().map(|n| n.text.clone()).collect() };
        if later || (same && texts(&nodes) > texts(&state.nodes)) {
            let before = state.detail_bytes();
            state.nodes = nodes;
            let more = state.detail_bytes().saturating_sub(before);
            self.details(more);
        }
        Some(())
    }
}

/// Progress of an execution by its plan: whether it is final, and the number of completed query stages.
fn rank(nodes: &[RawNode]) -> (bool, usize) {
    let is_final = nodes.iter().any(|n| n.text.contains("isFinalPlan=true"));
    let stages = nodes.iter().filter(|n| n.name.ends_with("QueryStage"));
    (is_final, stages.count())
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// Events without relevant data.
const IGNORED: [&str; 27] = [
    "StreamingQueryListener$QueryIdleEvent",
    "TaskStart",
    "TaskGettingResult",
    "SpeculativeTaskSubmitted",
    "BlockManagerRemoved",
    "BlockUpdated",
    "ExecutorMetricsUpdate",
    "StageExecutorMetrics",
    "ExecutorExcluded",
    "ExecutorExcludedForStage",
    "ExecutorUnexcluded",
    "ExecutorBlacklisted",
    "ExecutorBlacklistedForStage",
    "ExecutorUnblacklisted",
    "NodeExcluded",
    "NodeExcludedForStage",
    "NodeUnexcluded",
    "NodeBlacklisted",
    "NodeBlacklistedForStage",
    "NodeUnblacklisted",
    "UnschedulableTaskSetAdded",
    "UnschedulableTaskSetRemoved",
    "SQLAdaptiveSQLMetricUpdates",
    "MiscellaneousProcessAdded",
    "CreatedProcess",
    "DBCEventLoggingListenerMetadata",
    "ResourceProfileRemoved",
];
