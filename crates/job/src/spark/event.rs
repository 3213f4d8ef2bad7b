//! The events of a log as Spark writes them. A field that a version lacks is `None`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::lists::{Ids, List, Map, Rdds};

/// Text that is copied only if it contains escapes.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Str<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(""))
            }
        }
        from.deserialize_any(Text).map(Str)
    }
}

impl Str<'_> {
    pub(super) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.clone().into_owned())
    }
}

/// A number, or a text that is a number; `None` for any other value. Values of SQL metrics are text.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Number(pub(super) Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Option<f64>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_u64<E>(self, n: u64) -> Result<Self::Value, E> {
                Ok(Some(n as f64))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Self::Value, E> {
                Ok(Some(n as f64))
            }
            fn visit_f64<E>(self, n: f64) -> Result<Self::Value, E> {
                Ok(Some(n).filter(|n| n.is_finite()))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(text.parse().ok().filter(|n: &f64| n.is_finite()))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(None)
            }
        }
        from.deserialize_any(Any).map(Number)
    }
}

/// The beginning of the year 2100, in milliseconds since 1970.
const LATEST_MS: i64 = 4_102_444_800_000;

impl Number {
    /// As a count or a time; `None` if negative.
    pub(super) fn count(self) -> Option<u64> {
        self.0.filter(|n| *n >= 0.0).map(|n| n as u64)
    }

    pub(super) fn or_zero(self) -> u64 {
        self.count().unwrap_or(0)
    }

    /// Milliseconds since 1970; Spark writes 0 or -1 for "not yet".
    pub(super) fn time(self) -> Option<i64> {
        let time = self.0.filter(|n| *n > 0.0).map(|n| n as i64);
        time.filter(|ms| *ms < LATEST_MS)
    }

    /// An impossible time, later than any log.
    pub(super) fn impossible_time(self) -> Option<f64> {
        self.0.filter(|n| *n >= LATEST_MS as f64)
    }

    pub(super) fn id(self) -> u32 {
        self.or_zero().min(u64::from(u32::MAX)) as u32
    }
}

/// Declares events: every field is optional and has the name in the log.
macro_rules! events {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? {
        $($(#[$attribute:meta])* $field:ident: $type:ty = $key:literal,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        pub(super) struct $name $(<$life>)? {
            $($(#[$attribute])* #[serde(rename = $key)] pub(super) $field: $type,)*
        }
    )*};
}

events! {
    LogStart<'a> {
        #[serde(borrow)] version: Str<'a> = "Spark Version",
    }
    ApplicationStart<'a> {
        #[serde(borrow)] name: Str<'a> = "App Name",
        #[serde(borrow)] id: Str<'a> = "App ID",
        #[serde(borrow)] user: Str<'a> = "User",
        time: Number = "Timestamp",
        attempt: Number = "App Attempt ID",
    }
    ApplicationEnd {
        time: Number = "Timestamp",
    }
    EnvironmentUpdate<'a> {
        #[serde(borrow)] properties: Map<Str<'a>, Str<'a>> = "Spark Properties",
    }
    ResourceProfileAdded {
        id: Number = "Resource Profile Id",
        executor: Map<String, Resource> = "Executor Resource Requests",
        task: Map<String, Resource> = "Task Resource Requests",
    }
    Resource {
        amount: Number = "Amount",
    }
    ExecutorAdded<'a> {
        time: Number = "Timestamp",
        #[serde(borrow)] id: Str<'a> = "Executor ID",
        #[serde(borrow)] info: ExecutorInfo<'a> = "Executor Info",
    }
    ExecutorInfo<'a> {
        #[serde(borrow)] host: Str<'a> = "Host",
        cores: Number = "Total Cores",
    }
    ExecutorRemoved<'a> {
        time: Number = "Timestamp",
        #[serde(borrow)] id: Str<'a> = "Executor ID",
        #[serde(borrow)] reason: Str<'a> = "Removed Reason",
    }
    JobStart<'a> {
        id: Number = "Job ID",
        time: Number = "Submission Time",
        #[serde(borrow)] stages: List<StageInfo<'a>> = "Stage Infos",
        #[serde(borrow)] properties: JobProperties<'a> = "Properties",
    }
    /// Properties of a job that identify its origin.
    JobProperties<'a> {
        execution: Number = "spark.sql.execution.id",
        #[serde(borrow)] description: Str<'a> = "spark.job.description",
        #[serde(borrow)] call_site: Str<'a> = "callSite.short",
        #[serde(borrow)] notebook: Str<'a> = "spark.databricks.notebook.path",
    }
    JobEnd<'a> {
        id: Number = "Job ID",
        time: Number = "Completion Time",
        #[serde(borrow)] result: JobResult<'a> = "Job Result",
    }
    JobResult<'a> {
        #[serde(borrow)] result: Str<'a> = "Result",
        #[serde(borrow)] exception: Failure<'a> = "Exception",
    }
    Failure<'a> {
        #[serde(borrow)] message: Str<'a> = "Message",
    }
    /// The start or the end of a streaming query.
    QueryEvent<'a> {
        #[serde(borrow)] id: Str<'a> = "id",
        #[serde(borrow)] run: Str<'a> = "runId",
        #[serde(borrow)] exception: Str<'a> = "exception",
    }
    /// Progress report of a streaming query after a micro-batch.
    QueryProgress<'a> {
        #[serde(borrow)] progress: Progress<'a> = "progress",
    }
    Progress<'a> {
        #[serde(borrow)] query: Str<'a> = "id",
        #[serde(borrow)] time: Str<'a> = "timestamp",
        #[serde(borrow)] event_time: EventTime<'a> = "eventTime",
        batch: Number = "batchId",
        spent: Spent = "durationMs",
        sources: List<StreamSource> = "sources",
        states: List<StreamState> = "stateOperators",
    }
    Spent {
        all: Number = "triggerExecution",
        work: Number = "addBatch",
    }
    StreamSource {
        rows: Number = "numInputRows",
    }
    EventTime<'a> {
        #[serde(borrow)] watermark: Str<'a> = "watermark",
    }
    StreamState {
        rows: Number = "numRowsTotal",
        bytes: Number = "memoryUsedBytes",
    }
    StageEvent<'a> {
        #[serde(borrow)] info: StageInfo<'a> = "Stage Info",
    }
    StageInfo<'a> {
        id: Number = "Stage ID",
        attempt: Number = "Stage Attempt ID",
        #[serde(borrow)] name: Str<'a> = "Stage Name",
        #[serde(borrow)] details: Str<'a> = "Details",
        tasks: Number = "Number of Tasks",
        #[serde(borrow)] rdds: Rdds<'a> = "RDD Info",
        parents: Ids = "Parent IDs",
        submitted: Number = "Submission Time",
        completed: Number = "Completion Time",
        #[serde(borrow)] failure: Str<'a> = "Failure Reason",
        #[serde(borrow)] accumulables: List<Accumulable<'a>> = "Accumulables",
    }
    RddInfo<'a> {
        id: Number = "RDD ID",
        #[serde(borrow)] name: Str<'a> = "Name",
        #[serde(borrow)] scope: Str<'a> = "Scope",
        level: StorageLevel = "Storage Level",
        parents: Ids = "Parent IDs",
        partitions: Number = "Number of Partitions",
        cached: Number = "Number of Cached Partitions",
        memory: Number = "Memory Size",
        disk: Number = "Disk Size",
    }
    /// The API method that created an RDD; the log has it as JSON in text.
    RddScope<'a> {
        #[serde(borrow)] name: Str<'a> = "name",
    }
    StorageLevel {
        disk: bool = "Use Disk",
        memory: bool = "Use Memory",
    }
    Accumulable<'a> {
        id: Number = "ID",
        #[serde(borrow)] name: Str<'a> = "Name",
        update: Number = "Update",
        value: Number = "Value",
    }
    TaskEnd<'a> {
        stage: Number = "Stage ID",
        attempt: Number = "Stage Attempt ID",
        #[serde(borrow)] reason: EndReason<'a> = "Task End Reason",
        #[serde(borrow)] info: TaskInfo<'a> = "Task Info",
        metrics: Option<TaskMetrics> = "Task Metrics",
        executor: ExecutorMetrics = "Task Executor Metrics",
    }
    EndReason<'a> {
        #[serde(borrow)] reason: Str<'a> = "Reason",
        #[serde(borrow)] class: Str<'a> = "Class Name",
        #[serde(borrow)] description: Str<'a> = "Description",
        #[serde(borrow)] stack: Str<'a> = "Full Stack Trace",
        #[serde(borrow)] message: Str<'a> = "Message",
        #[serde(borrow)] loss: Str<'a> = "Loss Reason",
        #[serde(borrow)] killed: Str<'a> = "Kill Reason",
    }
    TaskInfo<'a> {
        id: Number = "Task ID",
        index: Number = "Index",
        attempt: Number = "Attempt",
        launched: Number = "Launch Time",
        #[serde(borrow)] executor: Str<'a> = "Executor ID",
        #[serde(borrow)] host: Str<'a> = "Host",
        #[serde(borrow)] locality: Str<'a> = "Locality",
        speculative: bool = "Speculative",
        fetching: Number = "Getting Result Time",
        finished: Number = "Finish Time",
        #[serde(borrow)] accumulables: List<Accumulable<'a>> = "Accumulables",
    }
    TaskMetrics {
        deserialize: Number = "Executor Deserialize Time",
        run: Number = "Executor Run Time",
        cpu_ns: Number = "Executor CPU Time",
        gc: Number = "JVM GC Time",
        serialize: Number = "Result Serialization Time",
        result_bytes: Number = "Result Size",
        peak_memory: Number = "Peak Execution Memory",
        memory_spilled: Number = "Memory Bytes Spilled",
        disk_spilled: Number = "Disk Bytes Spilled",
        input: Option<Input> = "Input Metrics",
        output: Option<Output> = "Output Metrics",
        read: Option<ShuffleRead> = "Shuffle Read Metrics",
        write: Option<ShuffleWrite> = "Shuffle Write Metrics",
    }
    Input {
        bytes: Number = "Bytes Read",
        rows: Number = "Records Read",
    }
    Output {
        bytes: Number = "Bytes Written",
        rows: Number = "Records Written",
    }
    ShuffleRead {
        wait: Number = "Fetch Wait Time",
        remote: Number = "Remote Bytes Read",
        local: Number = "Local Bytes Read",
        rows: Number = "Total Records Read",
    }
    ShuffleWrite {
        bytes: Number = "Shuffle Bytes Written",
        time_ns: Number = "Shuffle Write Time",
        rows: Number = "Shuffle Records Written",
    }
    ExecutorMetrics {
        heap: Number = "JVMHeapMemory",
    }
    ExecutionStart<'a> {
        id: Number = "executionId",
        root: Number = "rootExecutionId",
        #[serde(borrow)] description: Str<'a> = "description",
        #[serde(borrow)] details: Str<'a> = "details",
        time: Number = "time",
        #[serde(borrow)] configuration: Map<Str<'a>, Str<'a>> = "modifiedConfigs",
    }
    /// The start of an execution, or a new plan for it; the plan is parsed separately.
    PlanUpdate {
        id: Number = "executionId",
    }
    DriverUpdates {
        id: Number = "executionId",
        updates: List<(Number, Number)> = "accumUpdates",
    }
    ExecutionEnd<'a> {
        id: Number = "executionId",
        time: Number = "time",
        #[serde(borrow)] error: Str<'a> = "errorMessage",
    }
    BlockManagerAdded<'a> {
        #[serde(borrow)] manager: BlockManager<'a> = "Block Manager ID",
        memory: Number = "Maximum Memory",
    }
    BlockManager<'a> {
        #[serde(borrow)] executor: Str<'a> = "Executor ID",
    }
    Metric<'a> {
        #[serde(borrow)] name: Str<'a> = "name",
        id: Number = "accumulatorId",
        #[serde(borrow)] kind: Str<'a> = "metricType",
    }
}

impl Accumulable<'_> {
    /// Whether it is a metric of a plan, rather than a general task metric.
    pub(super) fn is_of_plan(&self) -> bool {
        !self.name.0.starts_with("internal.")
    }
}

/// Last part of the name of an event (`SparkListenerTaskEnd` → `TaskEnd`); `None` if the line is not
/// an event.
pub(super) fn name(line: &[u8]) -> Option<Cow<'_, str>> {
    let usual = line.strip_prefix(b"{\"Event\":\"").and_then(|rest| {
        let end = memchr::memchr(b'"', rest).filter(|end| *end < 200)?;
        std::str::from_utf8(&rest[..end]).ok()
    });
    let full = match usual {
        Some(name) => Cow::Borrowed(name),
        None => {
            #[derive(Deserialize)]
            struct Tagged<'a> {
                #[serde(rename = "Event", borrow)]
                event: Str<'a>,
            }
            serde_json::from_slice::<Tagged<'_>>(line).ok()?.event.0
        }
    };
    let short = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        last.strip_prefix("SparkListener").unwrap_or(last).len()
    };
    Some(match full {
        Cow::Borrowed(name) => Cow::Borrowed(&name[name.len() - short(name)..]),
        Cow::Owned(name) => Cow::Owned(name[name.len() - short(&name)..].to_owned()),
    })
}

/// Whether text begins with an event of a log. Databricks begins with a different one.
pub(crate) fn begins_log(text: &str) -> bool {
    let rest = text.strip_prefix('{').map(str::trim_start);
    let rest = rest.and_then(|r| r.strip_prefix("\"Event\""));
    let rest = rest.and_then(|r| r.trim_start().strip_prefix(':'));
    let name = rest.and_then(|r| r.trim_start().strip_prefix('"'));
    name.is_some_and(|name| {
        let name = name.split('"').next().unwrap_or_default();
        name.starts_with("DBC") || name.contains("SparkListener") || name.contains("databricks")
    })
}
