//! Spark-only parts of a job: executors, jobs of the driver, SQL executions, cached data,
//! configuration. Times are milliseconds since 1970 on the driver's clock.

use std::collections::BTreeMap;

use report::Source;

use super::MicroBatch;
use crate::code::{Actions, Program};
use crate::time::setting_ms;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Application {
    /// The log, or the first part of a rolling log.
    pub file: String,
    /// `3.5.9`.
    pub version: Option<String>,
    /// Whether a user types commands (shell, notebook). Time without an open job then belongs to the
    /// user, not to the application.
    pub interactive: bool,
    /// Whether the log has the end of the application.
    pub complete: bool,
    /// Whether reading stopped before the end of the log.
    pub left_unread: bool,
    /// `Spark Properties`, as text.
    pub configuration: BTreeMap<String, String>,
    /// Cores that a task takes.
    pub task_cores: u32,
    /// In the order of arrival.
    pub executors: Vec<Executor>,
    /// In the order of submission.
    pub jobs: Vec<DriverJob>,
    /// By id.
    pub executions: Vec<Execution>,
    /// Parallel to [`Job::stages`](super::Job::stages).
    pub stages: Vec<StageAttempt>,
    pub exchanges: Vec<Exchange>,
    pub cached: Vec<CachedData>,
    /// In the order of their start; none outside of Structured Streaming.
    pub batches: Vec<MicroBatch>,
    /// Runs of streaming queries that ended without an exception.
    pub ended_streams: usize,
    /// Sorted, disjoint spans of stages that were left out because of their number; the same for jobs and executions.
    pub untold: Vec<(i64, i64)>,
    pub untold_actions: Vec<(i64, i64)>,
    /// Programs that were next to the log, the one that the application most probably ran first.
    pub scripts: Vec<Program>,
    /// The actions in the first of them; `None` if it is too large to be compared with every operator.
    pub actions: Option<Actions>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Executor {
    /// `1`; `driver` where the driver runs the tasks itself.
    pub id: String,
    pub host: String,
    pub cores: Option<u32>,
    /// Time of registration; `None` if the log lacks it.
    pub added_ms: Option<i64>,
    pub removed_ms: Option<i64>,
    /// `Command exited with code 137`; `None` if it was never removed.
    pub reason: Option<String>,
    pub exit_code: Option<i32>,
    /// Whether it was lost: removed neither as idle nor at the end of the application.
    pub lost: bool,
    /// Number of attempts that ended on it, and milliseconds that they held a core.
    pub tasks: u64,
    pub busy_ms: u64,
    /// Bytes of memory for cached and working data.
    pub memory_bytes: Option<u64>,
    /// Largest heap reported by a task, in bytes; `None` if not recorded.
    pub heap_peak: Option<u64>,
    /// 1-based line of its removal, else of its registration.
    pub line: u64,
}

/// A job that the driver submitted for an action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DriverJob {
    pub id: u32,
    pub submitted_ms: i64,
    pub ended_ms: Option<i64>,
    /// `None` if it did not end.
    pub succeeded: Option<bool>,
    pub error: Option<String>,
    /// Position in [`Application::executions`].
    pub execution: Option<usize>,
    pub description: Option<String>,
    pub call_site: Option<String>,
    /// Stages that ran for it, by their index in the job.
    pub stages: Vec<usize>,
    /// Stages that were skipped because their output existed: the earlier stages that wrote it, by
    /// their index in the job.
    pub reused: Vec<usize>,
    pub line: u64,
}

/// An execution of SQL or of a DataFrame.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Execution {
    pub id: u32,
    pub description: Option<String>,
    /// Stack of the action that started it.
    pub details: Option<String>,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    pub error: Option<String>,
    /// Configuration that the session changed for it.
    pub configuration: BTreeMap<String, String>,
    /// Whether the plan is the final one.
    pub is_final: bool,
    /// Whether adaptive execution could change the plan.
    pub adaptive: bool,
    /// Nodes of the last plan, parents before children.
    pub plan: Vec<SparkNode>,
    pub line: u64,
}

/// A node of a plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparkNode {
    /// Number of the operator, as in [`Operator::uid`](super::Operator::uid); unique in the job.
    pub uid: u32,
    /// `SortMergeJoin`.
    pub name: String,
    /// `SortMergeJoin [user_id#1L], [customer_id#14L], Inner`.
    pub text: String,
    /// Position of the node that takes its rows.
    pub parent: Option<usize>,
    /// Location, format, filters of a scan.
    pub metadata: BTreeMap<String, String>,
    pub metrics: Vec<NodeMetric>,
    /// Stages that it ran in, by their index in the job. Those that write, for an exchange.
    pub stages: Vec<usize>,
}

impl SparkNode {
    /// Whether it reads cached rows.
    pub fn reads_cache(&self) -> bool {
        self.name.contains("InMemoryTableScan")
    }

    /// Value of a metric by the name that Spark gives it, over all tasks; times in milliseconds.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let found = self.metrics.iter().find(|m| m.name == name);
        found.and_then(|m| m.value)
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeMetric {
    pub name: String,
    /// Over all tasks, or as the driver set it; nanoseconds are converted to milliseconds.
    pub value: Option<f64>,
    /// Of the task with most; `None` if the driver set it.
    pub max: Option<f64>,
}

/// An exchange of rows between stages, from the plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exchange {
    /// Number of the node, as in [`Edge::uid`](super::Edge::uid).
    pub uid: u32,
    /// Position in [`Application::executions`].
    pub execution: usize,
    /// Origin of the exchange: `ENSURE_REQUIREMENTS`, `REPARTITION_BY_COL`, `REPARTITION_BY_NUM`, ….
    pub origin: Option<String>,
    /// Stages that write and read it, by their index in the job.
    pub writers: Vec<usize>,
    pub readers: Vec<usize>,
    /// Result of adaptive execution for the reading side: `coalesced`, `coalesced and skewed`, `local`.
    pub read: Option<String>,
    /// Partitions that it split because they were skewed, and merged because they were small.
    pub skewed_partitions: Option<f64>,
    pub coalesced_partitions: Option<f64>,
    /// Milliseconds on the driver to collect, build and distribute a broadcast.
    pub collect_ms: Option<f64>,
    pub build_ms: Option<f64>,
    pub broadcast_ms: Option<f64>,
    /// Bytes of a broadcast, or of a shuffle before compression.
    pub data_bytes: Option<f64>,
    pub rows: Option<f64>,
}

impl Exchange {
    /// The origin of an exchange that the code asks for, such as a `repartition`.
    pub fn asked_for(&self) -> Option<&str> {
        let origin = self.origin.as_deref();
        origin.filter(|origin| *origin != "ENSURE_REQUIREMENTS")
    }

    /// Whether the driver built or distributed its rows as a broadcast.
    pub fn is_broadcast(&self) -> bool {
        self.build_ms.is_some() || self.broadcast_ms.is_some()
    }
}

/// One attempt at a stage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageAttempt {
    pub id: u32,
    pub attempt: u32,
    /// `parquet at NativeMethodAccessorImpl.java:0`.
    pub call_site: String,
    pub submitted_ms: Option<i64>,
    pub completed_ms: Option<i64>,
    /// Tasks that the stage consists of.
    pub tasks: u32,
    /// Partitions of the last RDD: more than the tasks if an action such as `take` reads only some
    /// of them; 0 if the log lacks it.
    pub partitions: u32,
    /// Reason of its failure; `None` if it did not fail.
    pub failure: Option<String>,
    /// Position in [`Application::jobs`] of the job that submitted it.
    pub job: Option<usize>,
    /// Position in [`Application::executions`].
    pub execution: Option<usize>,
    /// Whether the log lacks task ends of a completed stage. Shares of its numbers are then meaningless.
    pub lost_events: bool,
    /// Whether rows go through Python.
    pub python: bool,
    /// Whether an algorithm of MLlib submitted it.
    pub of_library: bool,
    /// The RDDs that it starts from, by their numbers; none if it may start from cached ones.
    pub sources: Vec<u32>,
    /// Attempts in the order of [`StageRuns::runs`](crate::runs::StageRuns::runs).
    pub attempts: Vec<Task>,
    /// Exchanges that it reads and writes, by their position in [`Application::exchanges`].
    pub reads: Vec<usize>,
    pub writes: Vec<usize>,
    pub line: u64,
}

/// One attempt at a task. Without metrics, its numbers are 0 and `measured` is false.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Task {
    pub id: u32,
    pub index: u32,
    pub attempt: u32,
    /// Position in [`Application::executors`].
    pub executor: u32,
    pub launched_ms: i64,
    pub finished_ms: i64,
    pub speculative: bool,
    pub succeeded: bool,
    /// Whether the task reports its metrics.
    pub measured: bool,
    /// Time for loading code, which is long in the first tasks of an executor.
    pub deserialize_ms: u64,
    /// Run time, including garbage collection and waiting for data.
    pub run_ms: u64,
    pub cpu_ms: u64,
    pub gc_ms: u64,
    /// Time from launch to end, less the times above and below.
    pub scheduler_delay_ms: u64,
    pub result_ms: u64,
    pub fetch_wait_ms: u64,
    pub shuffle_write_ms: u64,
    pub input_bytes: u64,
    pub input_rows: u64,
    pub output_bytes: u64,
    pub output_rows: u64,
    pub shuffle_read_bytes: u64,
    pub shuffle_read_rows: u64,
    pub shuffle_write_bytes: u64,
    pub shuffle_write_rows: u64,
    pub memory_spilled: u64,
    pub disk_spilled: u64,
    pub peak_memory: u64,
    pub result_bytes: u64,
    pub line: u64,
}

/// An RDD or DataFrame that was marked for caching.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CachedData {
    pub rdd: u32,
    pub name: String,
    pub partitions: u32,
    /// Most partitions that were in the cache when a stage completed.
    pub cached: u32,
    pub memory_bytes: u64,
    pub disk_bytes: u64,
    /// Stages with it in their lineage, by their index in the job.
    pub stages: Vec<usize>,
    /// Whether the application released it.
    pub released: bool,
}

impl Application {
    /// Source of a line of the log.
    pub fn at_line(&self, line: u64) -> Source {
        Source {
            file: self.file.clone(),
            locator: Some(format!("line {line}")),
        }
    }

    /// Whether it runs micro-batches of Structured Streaming.
    pub fn is_streaming(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Whether time without open work is spent waiting: for a user at the prompt, or for data to arrive.
    pub fn waits_for_others(&self) -> bool {
        self.interactive || self.is_streaming()
    }

    pub fn is_databricks(&self) -> bool {
        let mut names = self.configuration.keys();
        names.any(|name| name.starts_with("spark.databricks."))
    }

    /// A setting of an execution's session, else of the application.
    pub fn setting(&self, execution: Option<usize>, name: &str) -> Option<&str> {
        let of_session = execution.and_then(|e| self.executions.get(e)?.configuration.get(name));
        of_session
            .or_else(|| self.configuration.get(name))
            .map(String::as_str)
    }

    /// Milliseconds after which dynamic allocation removes an idle executor; `None` without dynamic
    /// allocation, or if the setting is not a duration.
    pub fn idle_timeout_ms(&self) -> Option<i64> {
        let enabled = self.setting(None, "spark.dynamicAllocation.enabled");
        enabled.filter(|on| on.trim() == "true")?;
        let stated = self.setting(None, "spark.dynamicAllocation.executorIdleTimeout");
        stated.map_or(Some(60_000), |text| setting_ms(text, 1_000))
    }

    /// Number of task slots over time, as executors were added and removed.
    pub fn slots_over_time(&self) -> SlotsOverTime {
        let mut changes: Vec<(i64, i64)> = Vec::new();
        for e in self.executors.iter().filter(|e| e.came()) {
            let slots = i64::from(e.slots(self.task_cores));
            let added = e.added_ms.unwrap_or(i64::MIN);
            changes.push((added, slots));
            changes.extend(e.removed_ms.map(|at| (at, -slots)));
        }
        // the sort puts removals before additions at the same time
        changes.sort_unstable();
        let (mut now, mut most) = (0, 0);
        let after = changes.into_iter().map(|(at_ms, step)| {
            now += step;
            let slots = u32::try_from(now).unwrap_or(0);
            most = slots.max(most);
            SlotChange { at_ms, slots, most }
        });
        SlotsOverTime(after.collect())
    }

    /// Milliseconds that the executors held each of their cores, between two times.
    pub fn held_core_ms(&self, from: i64, to: i64) -> i64 {
        let of_one = |e: &Executor| {
            let added = e.added_ms.map_or(from, |at| at.max(from));
            let removed = e.removed_ms.map_or(to, |at| at.min(to));
            (removed - added).max(0) * i64::from(e.cores.unwrap_or(self.task_cores.max(1)))
        };
        self.executors.iter().filter(|e| e.came()).map(of_one).sum()
    }

    /// Most tasks that all executors together could run at once; `None` without executors.
    pub fn slots(&self) -> Option<u32> {
        Some(self.slots_over_time().most()).filter(|n| *n > 0)
    }

    /// The parts of a time span outside of [`Application::untold`].
    pub fn told(&self, from: i64, to: i64) -> Vec<(i64, i64)> {
        let first = self.untold.partition_point(|(_, end)| *end <= from);
        let untold = self.untold[first..].iter().copied();
        let untold = untold.take_while(|(begin, _)| *begin < to);
        let mut at = from;
        let mut told: Vec<(i64, i64)> = Vec::new();
        for (begin, end) in untold.chain([(to, to)]) {
            if at < begin {
                told.push((at, begin));
            }
            at = end;
        }
        told
    }

    /// Sorted, disjoint spans with an open job, execution or micro-batch.
    pub fn open_spans(&self) -> Vec<(i64, i64)> {
        let last = self.jobs.iter().filter_map(|j| j.ended_ms).max();
        let jobs = self.jobs.iter().map(|j| (Some(j.submitted_ms), j.ended_ms));
        let executions = self.executions.iter().map(|e| (e.started_ms, e.ended_ms));
        let batches = self.batches.iter();
        let batches = batches.map(|b| (Some(b.started_ms), Some(b.ended_ms())));
        let mut spans: Vec<(i64, i64)> = jobs
            .chain(executions)
            .chain(batches)
            .filter_map(|(from, to)| Some((from?, to.or(last)?)))
            .chain(self.untold_actions.iter().copied())
            .filter(|(from, to)| from < to)
            .collect();
        spans.sort_unstable();
        spans.dedup_by(|next, before| {
            let joined = next.0 <= before.1;
            if joined {
                before.1 = before.1.max(next.1);
            }
            joined
        });
        spans
    }
}

/// Number of task slots over time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlotsOverTime(Vec<SlotChange>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct SlotChange {
    /// Milliseconds since 1970, ascending.
    at_ms: i64,
    /// Slots after it, and most slots so far.
    slots: u32,
    most: u32,
}

impl SlotsOverTime {
    /// The slots at a time; 0 before the first executor.
    pub fn at(&self, ms: i64) -> u32 {
        self.last(ms).map_or(0, |change| change.slots)
    }

    pub fn most(&self) -> u32 {
        self.most_until(i64::MAX)
    }

    pub fn most_until(&self, ms: i64) -> u32 {
        self.last(ms).map_or(0, |change| change.most)
    }

    fn last(&self, ms: i64) -> Option<&SlotChange> {
        let so_far = self.0.partition_point(|change| change.at_ms <= ms);
        self.0[..so_far].last()
    }
}

/// Methods that read files. They run a separate job if they have to list or sample the files.
const READERS: [&str; 8] = [
    "parquet", "orc", "json", "csv", "avro", "text", "load", "table",
];

impl StageAttempt {
    /// Whether the stage only lists files or infers their schema: no plan runs it, and a file-reading
    /// method submitted its job. The methods that write files have the same names.
    pub fn lists_files(&self) -> bool {
        let method = self.call_site.split(" at ").next().unwrap_or_default();
        let only_reads = |t: &Task| t.shuffle_read_bytes == 0 && t.output_bytes == 0;
        let is_reader = self.execution.is_none() && READERS.contains(&method);
        is_reader && self.attempts.iter().all(only_reads)
    }
}

impl Executor {
    /// Whether it was there: at shutdown, some executors are removed that never registered.
    fn came(&self) -> bool {
        self.added_ms.is_some() || self.tasks > 0 || self.memory_bytes.is_some()
    }

    /// Tasks that it runs at once.
    pub fn slots(&self, task_cores: u32) -> u32 {
        self.cores
            .map_or(1, |cores| (cores / task_cores.max(1)).max(1))
    }
}
