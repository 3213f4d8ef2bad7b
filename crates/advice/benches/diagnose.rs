//! Diagnosis of jobs of 20,000 and 40,000 vertices, after reading: the cost grows with the vertices.

use advice::diagnose;
use diagnosis::Settings;
use divan::counter::ItemsCount;
use job::model::{Edge, ExchangeKind, JobInfo, JobState, Operator, OperatorKind, Stage};
use job::runs::{Distribution, RunState, StageRuns, VertexRun};
use job::{Catalogue, Job};
use report::Language;

fn main() {
    divan::main();
}

/// Stages in a chain, each of as many vertices, the last with a hot one.
fn job(stages: u32, vertices: u32) -> Job {
    let mut job = Job {
        info: JobInfo {
            state: JobState::Succeeded,
            tokens: Some(200),
            queued_seconds: Some(5.0),
            ..JobInfo::default()
        },
        ..Job::default()
    };
    for s in 0..stages {
        job.stages.push(Stage {
            name: format!("SV{}_Aggregate_Split", s + 1),
            operators: vec![operator(s)],
            runs: Some(runs(vertices, s + 1 == stages)),
            ..Stage::default()
        });
        if s > 0 {
            job.edges.push(edge(s));
        }
    }
    job
}

fn operator(stage: u32) -> Operator {
    let channel = |id: String| job::model::Channel {
        id,
        uid: None,
        schema: Vec::new(),
        count: None,
        is_final: false,
    };
    Operator {
        id: format!("Aggregate_{stage}"),
        uid: Some(stage),
        kind: OperatorKind::Aggregate,
        class_name: "SqlGrouper_1".to_owned(),
        args: String::new(),
        keys: vec!["Key".to_owned()],
        right_keys: Vec::new(),
        partition_count: None,
        signature: None,
        file: None,
        line: None,
        inputs: vec![channel(format!("c{stage}"))],
        outputs: vec![channel(format!("c{}", stage + 1))],
    }
}

fn edge(to: u32) -> Edge {
    Edge {
        channel: format!("c{to}"),
        uid: None,
        from: to as usize - 1,
        to: to as usize,
        exchange: ExchangeKind::Hash,
        keys: vec!["Key".to_owned()],
        partitions: None,
        schema: Vec::new(),
        partitioner: None,
        rows_written: None,
        bytes_written: Some(1e9),
        rows_read: None,
        bytes_read: Some(1e9),
    }
}

fn runs(vertices: u32, skewed: bool) -> StageRuns {
    let run = |index: u32| {
        let heavy = if skewed && index == 7 { 400 } else { 1 };
        VertexRun {
            index,
            state: RunState::Completed,
            machine: index % 500,
            created_ms: 0,
            queued_ms: 10,
            started_ms: 200,
            running_ms: 1_800,
            ended_ms: 1_800 + i64::from(20_000 + index % 97 * 50) * heavy,
            bytes_read: 200_000_000 * heavy as u64,
            bytes_written: 100_000_000,
            line: u64::from(index),
        }
    };
    StageRuns {
        file: "profile".to_owned(),
        runs: (0..vertices).map(run).collect(),
        completed: u64::from(vertices),
        run_ms: Distribution {
            count: u64::from(vertices),
            ..Distribution::default()
        },
        ..StageRuns::default()
    }
}

#[divan::bench(args = [5_000, 10_000, 20_000, 40_000])]
fn vertices(bencher: divan::Bencher<'_, '_>, n: u32) {
    let (job, catalogue, settings) = (job(10, n / 10), Catalogue::builtin(), Settings::default());
    bencher
        .counter(ItemsCount::new(n))
        .bench(|| diagnose(&job, &catalogue, &settings, Language::En));
}
