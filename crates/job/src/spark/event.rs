//! The events of a log as Spark writes them. A field that a version lacks is `None`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

use super::lists::{Ids, List, Map, each};
pub(super) use super::values::{Number, Str};

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

/// Source RDDs and cached RDDs of a stage, each.
const MOST_RDDS: usize = 1_000;

/// Summary of the RDDs of a stage, with the cached ones.
#[derive(Debug, Default)]
pub(super) struct Rdds<'a> {
    /// Number and partitions of the last one.
    pub(super) last: Option<(u32, u32)>,
    pub(super) python: bool,
    pub(super) cogroups: bool,
    /// Whether it takes two RDDs partition by partition, as the joins of a plan do.
    pub(super) zips: bool,
    /// API method of the first shuffled RDD that names it.
    pub(super) shuffled_by: Option<String>,
    /// RDDs without parents.
    pub(super) sources: Vec<u32>,
    pub(super) cached: Vec<RddInfo<'a>>,
}

impl<'a> Rdds<'a> {
    fn add(&mut self, rdd: RddInfo<'a>) {
        let id = rdd.id.id();
        if self.last.is_none_or(|(last, _)| id >= last) {
            self.last = Some((id, rdd.partitions.id()));
        }
        self.python |= rdd.name.0 == "PythonRDD";
        self.cogroups |= rdd.name.0 == "CoGroupedRDD";
        self.zips |= rdd.name.0 == "ZippedPartitionsRDD2";
        if self.shuffled_by.is_none() && rdd.name.0.starts_with("Shuffled") {
            let scope = serde_json::from_str::<RddScope<'_>>(&rdd.scope.0).ok();
            self.shuffled_by = scope.and_then(|scope| scope.name.text());
        }
        if rdd.parents.0.is_empty() && self.sources.len() < MOST_RDDS {
            self.sources.push(id);
        }
        let is_cached = rdd.level.memory || rdd.level.disk;
        if is_cached && self.cached.len() < MOST_RDDS {
            self.cached.push(rdd);
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Rdds<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut rdds = Rdds::default();
        each(from, |rdd: RddInfo<'a>| {
            rdds.add(rdd);
            true
        })?;
        Ok(rdds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rdds_are_summed_up() {
        let text = r#"[{"RDD ID":4,"Name":"PythonRDD","Parent IDs":[3],"Number of Partitions":9},
            {"RDD ID":3,"Name":"ShuffledRDD","Scope":"{\"name\":\"join\"}","Parent IDs":[1]},
            {"RDD ID":1,"Name":"a","Storage Level":{"Use Memory":true},"Parent IDs":[]}]"#;
        let rdds: Rdds<'_> = serde_json::from_str(text).expect("RDDs");
        assert_eq!(rdds.last, Some((4, 9)));
        assert!(rdds.python && !rdds.cogroups);
        assert_eq!(rdds.shuffled_by.as_deref(), Some("join"));
        assert_eq!((rdds.sources, rdds.cached.len()), (vec![1], 1));
        let text = format!("[{}]", vec!["{}"; 50_000].join(","));
        let many: Rdds<'_> = serde_json::from_str(&text).expect("RDDs");
        assert_eq!(many.sources.len(), MOST_RDDS);
    }
}
