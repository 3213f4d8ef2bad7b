//! Event logs of Spark applications, built for tests.

use job::model::FileKind;
use job::{Job, Options};
use serde_json::{Value, json};

/// A task: seconds from and to, executor, bytes and rows that it reads from a shuffle.
pub(crate) type Task = (f64, f64, u32, u64, u64);

/// An event log, written event by event. Times are seconds after the start.
pub(crate) struct Log {
    pub(crate) lines: Vec<Value>,
    stages: u32,
    /// CPU share of the next tasks' run time.
    cpu: f64,
    /// Metrics that the next tasks report, as pairs of number and value.
    metrics: Vec<(u32, u64)>,
    /// Whether the first metric grows with the time of a task, from the shortest one on.
    rows_by_time: bool,
    execution: Option<u32>,
    /// The number of the RDD that the next stages start from, and whether it is cached.
    source: Option<(u32, bool)>,
}

const START_MS: f64 = 1.7e12;

pub(crate) fn ms(seconds: f64) -> i64 {
    (START_MS + seconds * 1000.0) as i64
}

impl Log {
    /// An application with executors of the given cores, all registered at the start.
    pub(crate) fn new(executors: &[u32]) -> Log {
        let mut lines = vec![
            json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"}),
            json!({"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "app-1", "Timestamp": ms(0.0), "User": "u"}),
            json!({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.app.submitTime": ms(0.0).to_string()}}),
        ];
        lines.extend(executors.iter().enumerate().map(|(id, cores)| {
            json!({"Event": "SparkListenerExecutorAdded", "Timestamp": ms(0.5), "Executor ID": id.to_string(),
                "Executor Info": {"Host": "h", "Total Cores": cores}})
        }));
        Log {
            lines,
            stages: 0,
            cpu: 0.9,
            metrics: Vec::new(),
            rows_by_time: false,
            execution: None,
            source: None,
        }
    }

    pub(crate) fn source(mut self, rdd: u32, cached: bool) -> Log {
        self.source = Some((rdd, cached));
        self
    }

    pub(crate) fn rows_by_time(mut self, by_time: bool) -> Log {
        self.rows_by_time = by_time;
        self
    }

    pub(crate) fn cpu(mut self, share: f64) -> Log {
        self.cpu = share;
        self
    }

    /// An execution, to which the next stage belongs: names and texts of its nodes, the last one first run.
    /// The metric with a node's position counts its output rows.
    pub(crate) fn plan(mut self, nodes: &[(&str, &str)], rows: u64) -> Log {
        let node = |children: Vec<Value>, (at, (name, text)): (usize, &(&str, &str))| {
            let metric =
                json!({"name": "number of output rows", "accumulatorId": at, "metricType": "sum"});
            vec![
                json!({"nodeName": name, "simpleString": text, "children": children, "metadata": {}, "metrics": [metric]}),
            ]
        };
        let plan = nodes.iter().enumerate().rev().fold(Vec::new(), node);
        self.metrics = (0..nodes.len() as u32).map(|id| (id, rows)).collect();
        self.execution(&plan[0])
    }

    /// An execution that only scans files row by row, to which the next stage belongs.
    pub(crate) fn scan(mut self, files: u64, bytes: u64) -> Log {
        let metrics = [
            (0, "number of output rows"),
            (1, "number of files read"),
            (2, "size of files read"),
        ];
        let metrics = metrics
            .map(|(id, name)| json!({"name": name, "accumulatorId": id, "metricType": "sum"}));
        let plan = json!({"nodeName": "Scan json ", "simpleString": "FileScan json [a#1]", "children": [], "metadata": {}, "metrics": metrics});
        self.metrics = vec![(0, 1000)];
        self.execution(&plan).event(
            json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates",
            "executionId": 7, "accumUpdates": [[1, files], [2, bytes]]}),
        )
    }

    fn execution(mut self, plan: &Value) -> Log {
        self.execution = Some(7);
        self.event(json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": 7,
            "description": "d", "details": "", "physicalPlanDescription": "", "sparkPlanInfo": plan, "time": ms(0.9)}))
    }

    /// A job of one stage that no plan runs. `rdds` are names and scopes of its RDDs, `partitions` those
    /// of the last; a stage reads the one before it if its first RDD is shuffled.
    pub(crate) fn stage(
        mut self,
        call_site: &str,
        rdds: &[(&str, &str)],
        partitions: usize,
        result: u64,
        tasks: &[Task],
    ) -> Log {
        let id = self.stages;
        self.stages += 1;
        let from = tasks.iter().map(|t| t.0).fold(f64::MAX, f64::min);
        let to = tasks.iter().map(|t| t.1).fold(0.0, f64::max);
        let parents: Vec<u32> = rdds
            .iter()
            .any(|r| r.0 == "ShuffledRDD")
            .then(|| id - 1)
            .into_iter()
            .collect();
        let first = self.source.map_or(id * 10 + 1, |(rdd, _)| rdd);
        let is_cached = self.source.is_some_and(|(_, cached)| cached);
        let rdds = rdds.iter().enumerate().map(|(at, (name, scope))| {
            let last = at + 1 == rdds.len();
            json!({"RDD ID": if last { first } else { first + id * 10 + at as u32 + 1 }, "Name": name, "Scope": json!({"id": "1", "name": scope}).to_string(),
                "Parent IDs": if last { vec![] } else { vec![first] }, "Number of Partitions": partitions, "Storage Level": {"Use Memory": is_cached && last}})
        });
        let info = json!({"Stage ID": id, "Stage Attempt ID": 0, "Stage Name": call_site, "Number of Tasks": tasks.len(),
            "RDD Info": rdds.collect::<Vec<_>>(), "Parent IDs": parents, "Submission Time": ms(from), "Completion Time": ms(to)});
        let job = json!({"Event": "SparkListenerJobStart", "Job ID": id, "Submission Time": ms(from), "Stage Infos": [info],
            "Stage IDs": [id], "Properties": {"spark.sql.execution.id": self.execution.map(|e| e.to_string())}});
        let shortest = tasks.iter().map(|t| t.1 - t.0).fold(f64::MAX, f64::min);
        let counted = |seconds: f64| -> Vec<Value> {
            self.metrics.iter().map(|(id, n)| {
                let n = match *id == 0 && self.rows_by_time {
                    true => (*n as f64 * (seconds / shortest)) as u64,
                    false => *n,
                };
                json!({"ID": id, "Name": "number of output rows", "Update": n.to_string(), "Value": n.to_string()})
            }).collect()
        };
        self.lines.push(job);
        self.lines
            .push(json!({"Event": "SparkListenerStageSubmitted", "Stage Info": info}));
        for (index, (from, to, executor, bytes, rows)) in tasks.iter().enumerate() {
            let run = ((to - from) * 1000.0) as i64;
            self.lines.push(json!({"Event": "SparkListenerTaskEnd", "Stage ID": id, "Stage Attempt ID": 0,
                "Task End Reason": {"Reason": "Success"},
                "Task Info": {"Task ID": id * 1000 + index as u32, "Index": index, "Attempt": 0, "Launch Time": ms(*from),
                    "Executor ID": executor.to_string(), "Host": "h", "Finish Time": ms(*to), "Accumulables": counted(to - from)},
                "Task Metrics": {"Executor Deserialize Time": 0, "Executor Run Time": run, "Executor CPU Time": run as f64 * self.cpu * 1e6,
                    "JVM GC Time": 0, "Result Size": result, "Memory Bytes Spilled": 0, "Disk Bytes Spilled": 0,
                    "Shuffle Read Metrics": {"Local Bytes Read": bytes, "Remote Bytes Read": 0, "Total Records Read": rows, "Fetch Wait Time": 0},
                    "Shuffle Write Metrics": {"Shuffle Bytes Written": bytes, "Shuffle Write Time": 0, "Shuffle Records Written": rows}}}));
        }
        self.lines
            .push(json!({"Event": "SparkListenerStageCompleted", "Stage Info": info}));
        self.lines.push(json!({"Event": "SparkListenerJobEnd", "Job ID": id, "Completion Time": ms(to), "Job Result": {"Result": "JobSucceeded"}}));
        self
    }

    pub(crate) fn event(mut self, event: Value) -> Log {
        self.lines.push(event);
        self
    }

    pub(crate) fn end(self, at: f64) -> Log {
        self.event(json!({"Event": "SparkListenerApplicationEnd", "Timestamp": ms(at)}))
    }

    pub(crate) fn read(&self) -> Job {
        self.read_with(None)
    }

    /// The application with its program.
    pub(crate) fn read_with(&self, program: Option<&str>) -> Job {
        let text: String = self.lines.iter().map(|l| format!("{l}\n")).collect();
        let log = ("log", FileKind::SparkEvents, text.as_bytes());
        let program = program.map(|text| ("job.py", FileKind::SparkScript, text.as_bytes()));
        let files: Vec<_> = std::iter::once(log).chain(program).collect();
        job::read_memory(&files, &Options::default())
    }
}

/// Tasks that run for these seconds at the same time, from a point in time on, each reading its share.
pub(crate) fn tasks(from: f64, seconds: &[f64], bytes: &[u64]) -> Vec<Task> {
    let all = seconds.iter().zip(bytes).enumerate();
    all.map(|(i, (s, b))| (from, from + s, (i % 2) as u32, *b, *b / 100))
        .collect()
}

/// Tasks that run one after another, as on one slot.
pub(crate) fn in_turn(count: usize, seconds: f64) -> Vec<Task> {
    let from = |n: usize| 1.5 + n as f64 * seconds;
    let turn = |n| (from(n), from(n) + seconds, 0, 1_000_000, 10_000);
    (0..count).map(turn).collect()
}
