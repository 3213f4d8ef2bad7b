//! Small jobs for tests of rules: two stages with an exchange between them, which each test
//! modifies.

use job::Job;
use job::counters::{CounterNode, CounterTree};
use job::model::{
    Channel, Clustering, Column, Edge, ExchangeKind, JobInfo, JobState, Operator, OperatorKind,
    Stage, StageSummary, Table,
};
use job::runs::{Distribution, RunState, StageRuns, VertexRun};

use report::Source;

/// Rows that the exchange of [`aggregation`] carries.
pub const ROWS: f64 = 100e6;

/// Vertices of its reading stage.
pub const VERTICES: f64 = 20.0;

pub fn node(
    name: &str,
    op_id: Option<u32>,
    parent: Option<usize>,
    values: &[(&str, f64)],
) -> CounterNode {
    CounterNode {
        name: name.into(),
        op_id,
        values: values.iter().map(|(n, v)| ((*n).into(), *v)).collect(),
        parent,
        ..CounterNode::default()
    }
}

pub fn columns(names: &str) -> Vec<Column> {
    let column = |name: &str| Column {
        name: name.to_owned(),
        type_name: "long".to_owned(),
        nullable: false,
    };
    names.split(',').map(column).collect()
}

pub fn operator(
    id: &str,
    uid: u32,
    kind: OperatorKind,
    class: &str,
    input: &str,
    output: &str,
) -> Operator {
    let channel = |id: &str| Channel {
        id: id.to_owned(),
        uid: None,
        schema: columns("Key,Value"),
        count: None,
        is_final: false,
    };
    Operator {
        id: id.to_owned(),
        uid: Some(uid),
        kind,
        class_name: class.to_owned(),
        args: String::new(),
        keys: vec!["Key".to_owned()],
        right_keys: Vec::new(),
        partition_count: None,
        signature: None,
        file: None,
        line: None,
        inputs: vec![channel(input)],
        outputs: vec![channel(output)],
    }
}

pub fn summary(name: &str, vertices: f64, bytes: f64, seconds: f64) -> StageSummary {
    let values = [
        ("totalCount", vertices),
        ("succeededCount", vertices),
        ("failedCount", 0.0),
        ("dataRead", bytes),
        ("maxVertexDataRead", bytes / vertices),
    ];
    let mut summary = StageSummary {
        file: "JobStatistics.json".to_owned(),
        pointer: format!("/stages/{name}"),
        ..StageSummary::default()
    };
    summary
        .values
        .extend(values.iter().map(|(n, v)| ((*n).to_owned(), *v)));
    summary
        .values
        .insert("totalSucceededTime".to_owned(), seconds * 1000.0);
    summary
}

pub fn tree(stage: &str, nodes: Vec<CounterNode>) -> CounterTree {
    CounterTree {
        stage: stage.to_owned(),
        file: "__ScopeRuntimeStatistics__.xml".to_owned(),
        nodes,
        ..CounterTree::default()
    }
}

/// A healthy aggregation: 40 vertices read 20 GB and write 5 GB by key, 20 vertices aggregate.
pub fn aggregation() -> Job {
    let read = Stage {
        name: "SV1_Extract_Split".to_owned(),
        operators: vec![
            operator(
                "GetSStream_0",
                1,
                OperatorKind::Extract,
                "SStreamExtractor",
                "GetSStream_0",
                "c0",
            ),
            operator(
                "Partition_1",
                2,
                OperatorKind::HashPartition,
                "ScopePartitioner_2",
                "c0",
                "c1",
            ),
        ],
        native_only: Some(true),
        counters: Some(tree(
            "SV1_Extract_Split",
            vec![
                node(
                    "Output",
                    Some(3),
                    None,
                    &[("rowCount", ROWS), ("bytes", 5e9), ("exclusiveTime", 300e3)],
                ),
                node(
                    "SStreamExtract",
                    Some(1),
                    Some(0),
                    &[("rowCount", ROWS), ("exclusiveTime", 1000e3)],
                ),
                node("Time", None, None, &[("elapsedTime", 1400e3)]),
            ],
        )),
        summary: Some(summary("0", 40.0, 20e9, 1400.0)),
        ..Stage::default()
    };
    let aggregate = Stage {
        name: "SV2_Aggregate".to_owned(),
        operators: vec![
            operator(
                "Process_2",
                4,
                OperatorKind::Sort,
                "ScopeSorter_4",
                "c1",
                "c2",
            ),
            operator(
                "Aggregate_3",
                5,
                OperatorKind::Aggregate,
                "SqlGrouper_5",
                "c2",
                "c3",
            ),
        ],
        native_only: Some(true),
        counters: Some(tree(
            "SV2_Aggregate",
            vec![
                node(
                    "StreamAggregate",
                    Some(5),
                    None,
                    &[("rowCount", 1e6), ("exclusiveTime", 20e3)],
                ),
                node(
                    "Sort",
                    Some(4),
                    Some(0),
                    &[
                        ("rowCount", ROWS),
                        ("maxSpillBucketCount", 0.0),
                        ("exclusiveTime", 86e3),
                    ],
                ),
                node(
                    "Extractor",
                    Some(3),
                    Some(1),
                    &[
                        ("rowCount", ROWS),
                        ("maxRowCount", ROWS / VERTICES),
                        ("bytes", 5e9),
                        ("exclusiveTime", 500e3),
                    ],
                ),
                node("Time", None, None, &[("elapsedTime", 650e3)]),
            ],
        )),
        summary: Some(summary("1", VERTICES, 5e9, 650.0)),
        ..Stage::default()
    };
    let state = Source {
        file: "JobInfo.xml".to_owned(),
        locator: Some("JobInfo/State".to_owned()),
    };
    Job {
        info: JobInfo {
            state: JobState::Succeeded,
            sources: [("state", state)].into(),
            tokens: Some(40),
            queued_seconds: Some(5.0),
            elapsed_seconds: Some(75.0),
            ..JobInfo::default()
        },
        stages: vec![read, aggregate],
        edges: vec![Edge {
            channel: "c1".to_owned(),
            uid: Some(3),
            from: 0,
            to: 1,
            exchange: ExchangeKind::Hash,
            keys: vec!["Key".to_owned()],
            partitions: Some(VERTICES as u32),
            schema: columns("Key,Value"),
            partitioner: Some("Partition_1".to_owned()),
            rows_written: Some(ROWS),
            bytes_written: Some(5e9),
            rows_read: Some(ROWS),
            bytes_read: Some(5e9),
        }],
        ..Job::default()
    }
}

/// The job with the events of its vertices, all alike and each on a different machine.
pub fn with_events(mut job: Job) -> Job {
    let mut start = 0;
    for stage in &mut job.stages {
        let values = stage.summary.as_ref().map(|s| s.values.clone());
        let of = |name: &str| values.as_ref().map_or(0.0, |v| v[name]);
        let n = of("totalCount");
        let (ms, bytes) = (of("totalSucceededTime") / n, of("dataRead") / n);
        let run = |index: u32| VertexRun {
            index,
            state: RunState::Completed,
            machine: index,
            created_ms: start,
            queued_ms: start,
            started_ms: start + 100,
            running_ms: start + 1100,
            ended_ms: start + 1100 + ms as i64,
            bytes_read: bytes as u64,
            bytes_written: 0,
            line: u64::from(index) + 1,
        };
        let even = |value: f64| Distribution {
            count: n as u64,
            total: value * n,
            min: value,
            p50: value,
            p95: value,
            max: value,
        };
        stage.runs = Some(StageRuns {
            file: "profile".to_owned(),
            runs: (0..n as u32).map(run).collect(),
            machines: (0..n as u32)
                .map(|m| format!("m{m}").as_str().into())
                .collect(),
            completed: n as u64,
            run_ms: even(ms),
            bytes_read: even(bytes),
            ..StageRuns::default()
        });
        start += 1500 + ms as i64;
    }
    job.info.elapsed_seconds = Some(start as f64 / 1000.0);
    job.tables.push(Table {
        name: "Log".to_owned(),
        stream_id: Some("GetSStream_0".to_owned()),
        clustering: Some(Clustering {
            kind: "none".to_owned(),
            ..Clustering::default()
        }),
        ..Table::default()
    });
    job
}

/// Sets a counter of the aggregating stage, adding it if it is not there.
pub fn set(job: &mut Job, stage: usize, node: &str, counter: &str, value: f64) {
    let tree = job.stages[stage]
        .counters
        .as_mut()
        .expect("the stage has counters");
    let found = tree
        .nodes
        .iter_mut()
        .find(|n| *n.name == *node)
        .expect("the node is there");
    found.values.set(counter, value);
}

/// Adds a node without an operator to a stage.
pub fn add(job: &mut Job, stage: usize, name: &str, op_id: Option<u32>, values: &[(&str, f64)]) {
    let tree = job.stages[stage]
        .counters
        .as_mut()
        .expect("the stage has counters");
    tree.nodes.push(node(name, op_id, None, values));
}
