//! Edges between stages, from the exchanges of the plans, the lineage of stages, and the sequence of the
//! driver's jobs.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::collect::Collector;
use super::stages::Index;
use crate::facts::{Derived, Measured, Spread};
use crate::model::{Channel, Edge, Exchange, ExchangeKind, Job, Operator, OperatorKind, Stage};

/// Maximum number of edges. A union reads some hundred stages; more than this only occurs if almost every stage reads all before it.
const MOST_EDGES: usize = 200_000;

/// An exchange and its partitioning.
pub(super) struct Link {
    /// Position in [`Application::exchanges`](crate::model::Application::exchanges).
    pub(super) exchange: usize,
    /// Number of its node and of its channel.
    pub(super) uid: u32,
    pub(super) channel: String,
    pub(super) kind: ExchangeKind,
    pub(super) keys: Vec<String>,
    pub(super) partitions: Option<u32>,
}

/// Adds the edges of the exchanges, then the edges that only the lineage shows. Of too many edges, each stage keeps the ones
/// from the stages that completed last, since it had to wait for these. Returns whether some were left out.
pub(super) fn add_edges(log: &Collector, index: &Index, links: &[Link], job: &mut Job) -> bool {
    let mut edges: Vec<Edge> = Vec::new();
    let mut left_out = false;
    for link in links {
        let exchange = &log.app.exchanges[link.exchange];
        let readers = exchange.readers.iter();
        let ends = readers.flat_map(|to| exchange.writers.iter().map(move |from| (*from, *to)));
        for (from, to) in ends.filter(|(from, to)| from < to) {
            if edges.len() == MOST_EDGES {
                left_out = true;
                break;
            }
            edges.push(edge(job, link, exchange, from, to));
        }
    }
    let planned: HashSet<(usize, usize)> = edges.iter().map(|e| (e.from, e.to)).collect();
    let reads_planned: HashSet<usize> = edges.iter().map(|e| e.to).collect();
    let written: usize = log.stages.values().map(|s| s.parents.len()).sum();
    let most = match written <= MOST_EDGES {
        true => usize::MAX,
        false => (MOST_EDGES / index.keys.len().max(1)).max(1),
    };
    for (to, key) in index.keys.iter().enumerate() {
        let mut parents = index.parents(*key, &log.stages);
        if parents.len() > most {
            left_out = true;
            parents.sort_by_key(|p| (Reverse(log.app.stages[*p].completed_ms), *p));
            parents.truncate(most);
            parents.sort_unstable();
        }
        let several = parents.len() > 1;
        for from in parents {
            if from < to && !planned.contains(&(from, to)) {
                let shuffle = log.stages.get(key).map(|s| {
                    let written_at = &log.app.stages[from].call_site;
                    s.lineage.shuffle(written_at, several)
                });
                // a plan names the exchanges that it reads, except those below an existing RDD
                let shuffle = shuffle.filter(|_| !reads_planned.contains(&to));
                edges.push(lineage(job, from, to, shuffle));
            }
        }
    }
    job.edges = edges;
    left_out
}

fn edge(job: &Job, link: &Link, exchange: &Exchange, from: usize, to: usize) -> Edge {
    let fact = |stage: usize| {
        let facts = job.stages[stage].facts.as_deref()?;
        facts.by_uid(Some(exchange.uid))
    };
    let value = |m: Option<&Measured>| m.map(|m| m.value);
    let (written, read) = (fact(from), fact(to));
    let broadcast = link.kind == ExchangeKind::Broadcast;
    let (rows, bytes) = match broadcast {
        true => (exchange.rows, exchange.data_bytes),
        false => (
            value(written.and_then(|w| w.rows.as_ref())),
            value(written.and_then(|w| w.bytes.as_ref())),
        ),
    };
    Edge {
        channel: link.channel.clone(),
        uid: Some(exchange.uid),
        from,
        to,
        exchange: link.kind,
        keys: link.keys.clone(),
        partitions: link.partitions,
        schema: Vec::new(),
        partitioner: Some(link.channel.clone()),
        rows_written: rows,
        bytes_written: bytes,
        rows_read: value(read.and_then(|r| r.rows.as_ref())).filter(|_| !broadcast),
        bytes_read: value(read.and_then(|r| r.bytes.as_ref())).filter(|_| !broadcast),
    }
}

/// Adds an edge that only the lineage shows, and its reading operator to the stage.
fn lineage(
    job: &mut Job,
    from: usize,
    to: usize,
    shuffle: Option<(ExchangeKind, OperatorKind)>,
) -> Edge {
    let channel = format!("shuffle of {}", job.stages[from].name);
    if let Some((_, kind)) = shuffle {
        read_by(&mut job.stages[to], kind, &channel);
    }
    let facts = |stage: usize| job.stages[stage].facts.as_deref();
    let written = facts(from).map(|f| &f.per_vertex);
    let total = |d: Option<&Derived<Spread>>| d.map(|d| d.value.total);
    Edge {
        channel,
        uid: None,
        from,
        to,
        exchange: shuffle.map_or(ExchangeKind::Unknown, |(kind, _)| kind),
        keys: Vec::new(),
        partitions: None,
        schema: Vec::new(),
        partitioner: None,
        rows_written: total(written.and_then(|w| w.exchange_rows_written.as_ref())),
        bytes_written: total(written.and_then(|w| w.exchange_bytes_written.as_ref())),
        rows_read: None,
        bytes_read: None,
    }
}

/// Adds a shuffle to the operator of a stage that reads shuffles of RDDs.
fn read_by(stage: &mut Stage, kind: OperatorKind, channel: &str) {
    let input = Channel::named(channel.to_owned(), None);
    stage.operators.reserve_exact(1);
    let own = stage.operators.iter_mut();
    if let Some(known) = own.last().filter(|o| o.uid.is_none()) {
        known.inputs.push(input);
        return;
    }
    let id = format!("{kind:?}_of_RDDs");
    stage.operators.push(Operator {
        inputs: vec![input],
        ..Operator::new(id, None, kind, "RDD")
    });
}

/// Pairs of stages that the driver ran one after the other: the last stages of the jobs that had ended
/// before a submission, without jobs that are already followed by another job in between.
pub(super) fn order(log: &Collector) -> Vec<(usize, usize)> {
    let jobs = &log.app.jobs;
    // a job's end is logged a little after the end of its last stage
    let end_of = |j: usize| {
        let stages = jobs[j]
            .stages
            .iter()
            .filter_map(|s| log.app.stages[*s].completed_ms);
        stages
            .max()
            .min(jobs[j].ended_ms)
            .or(jobs[j].ended_ms)
            .unwrap_or(i64::MAX)
    };
    let ends: Vec<i64> = (0..jobs.len()).map(end_of).collect();
    let end = |j: usize| ends[j];
    let mut ended: Vec<usize> = (0..jobs.len()).filter(|j| end(*j) < i64::MAX).collect();
    ended.sort_by_key(|j| end(*j));
    // the latest submission of the jobs that had ended by the end of each
    let latest: Vec<i64> = ended
        .iter()
        .scan(i64::MIN, |latest, j| {
            *latest = jobs[*j].submitted_ms.max(*latest);
            Some(*latest)
        })
        .collect();
    let mut pairs = Vec::new();
    for job in jobs.iter().filter(|j| !j.stages.is_empty()) {
        let before = ended.partition_point(|j| end(*j) <= job.submitted_ms);
        let latest = before.checked_sub(1).map(|last| latest[last]);
        let direct = ended[..before].iter().rev();
        let direct = direct.take_while(|j| latest.is_none_or(|start| end(**j) > start));
        let roots = roots(log, &job.stages);
        for before in direct {
            let last = jobs[*before].stages.iter().copied();
            let last = last.max_by_key(|s| log.app.stages[*s].completed_ms);
            pairs.extend(
                last.into_iter()
                    .flat_map(|last| roots.iter().map(move |r| (last, *r))),
            );
        }
    }
    // Spark before 1.4 logs no parents of stages
    if log.stages.values().all(|s| s.parents.is_empty()) {
        pairs.extend(jobs.iter().flat_map(|job| sequence(log, &job.stages)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Each stage of a job with the stage that had ended last at its submission.
fn sequence(log: &Collector, stages: &[usize]) -> Vec<(usize, usize)> {
    let record = |s: &usize| &log.app.stages[*s];
    let mut ended: Vec<usize> = stages.to_vec();
    ended.retain(|s| record(s).completed_ms.is_some());
    ended.sort_by_key(|s| record(s).completed_ms);
    let before = |stage: &usize| {
        let submitted = record(stage).submitted_ms?;
        let earlier = ended.partition_point(|s| record(s).completed_ms <= Some(submitted));
        Some((ended[earlier.checked_sub(1)?], *stage))
    };
    stages.iter().filter_map(before).collect()
}

/// The first submitted stages of a job.
fn roots(log: &Collector, stages: &[usize]) -> Vec<usize> {
    let submitted = |s: &usize| log.app.stages[*s].submitted_ms.unwrap_or(i64::MAX);
    let ends: Vec<i64> = stages
        .iter()
        .filter_map(|s| log.app.stages[*s].completed_ms)
        .collect();
    let first_end = ends.into_iter().min().unwrap_or(i64::MAX);
    let mut roots: Vec<usize> = stages.to_vec();
    roots.retain(|s| submitted(s) < first_end);
    roots
}
