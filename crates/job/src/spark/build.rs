//! What a log says as a job: stages, operators, edges, facts, times and errors.

use std::collections::HashMap;

use super::collect::Collector;
use super::expression::{bare, keys, origin, partitioning};
use super::facts::{Counting, StageSource, rest};
use super::failure::{exit_code, is_lost};
use super::plan::{Metrics, Pieces, is_exchange, is_wrapper, kind};
use super::stages::{self, Index};
use super::tasks::Accumulated;
use crate::facts::OperatorFacts;
use crate::model::{
    Channel, Edge, Exchange, ExchangeKind, Executor, Job, Operator, OperatorKind, Source, Stage,
    Table,
};
use crate::problem::Problem;

/// Turns what was collected into the job.
pub(super) fn build(mut log: Collector, job: &mut Job) {
    log.app.file = log.parts.first().cloned().unwrap_or_default();
    log.app.task_cores = task_cores(&log);
    log.app.interactive |= is_interactive(&log);
    let ended = log.ended.map(|(at, _)| at);
    for executor in &mut log.app.executors {
        executor.exit_code = executor.reason.as_deref().and_then(exit_code);
        executor.lost = is_lost(executor, ended);
    }
    sort_executors(&mut log);
    let index = Index::of(&log.stages);
    add_stages(&mut log, &index, job);
    add_jobs(&mut log, &index);
    let links = add_plans(&mut log, &index, job);
    add_edges(&log, &index, &links, job);
    job.order = order(&log);
    super::info::fill(&log, job);
    super::info::errors(&log, &index, job);
    note(&log, job);
    job.spark = Some(Box::new(log.app));
}

/// Puts the executors into the order in which they came, whatever the order of the events.
fn sort_executors(log: &mut Collector) {
    let key = |e: &Executor| {
        let number: u64 = e.id.parse().unwrap_or(u64::MAX);
        (e.added_ms.unwrap_or(i64::MAX), number, e.id.clone())
    };
    let mut order: Vec<usize> = (0..log.app.executors.len()).collect();
    order.sort_by_cached_key(|at| key(&log.app.executors[*at]));
    let mut place = vec![0_u32; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new as u32;
    }
    log.app.executors.sort_by_cached_key(key);
    let tasks = log.stages.values_mut().flat_map(|s| &mut s.tasks.kept);
    for (_, task) in tasks {
        if let Some(place) = place.get(task.executor as usize) {
            task.executor = *place;
        }
    }
}

fn task_cores(log: &Collector) -> u32 {
    let stated = log.app.configuration.get("spark.task.cpus");
    let stated = stated.and_then(|n| n.trim().parse().ok());
    stated.unwrap_or(log.app.task_cores).max(1)
}

/// Shells and notebooks by what they leave in the configuration.
fn is_interactive(log: &Collector) -> bool {
    let set = |name: &str| log.app.configuration.contains_key(name);
    let named = [
        "PySparkShell",
        "Spark shell",
        "SparkR",
        "Zeppelin",
        "livy-session",
        "Databricks Shell",
    ];
    let name = log.name.as_deref().unwrap_or_default();
    set("spark.repl.class.uri")
        || set("spark.repl.class.outputDir")
        || named.iter().any(|n| name.starts_with(n))
}

fn add_stages(log: &mut Collector, index: &Index, job: &mut Job) {
    for key in index.keys.clone() {
        let others = index.attempts(key.0).count() > 1;
        let Some((record, runs)) = stages::attempt(log, key, others) else {
            continue;
        };
        if record.lost_events {
            let problem = Problem::EventsLost {
                stage: stages::name(key.0, key.1),
                ended: runs.completed,
                expected: u64::from(record.tasks),
            };
            job.note(&runs.file, Some(format!("line {}", record.line)), &problem);
        }
        job.stages.push(Stage {
            name: stages::name(key.0, key.1),
            call_site: Some(record.call_site.clone()).filter(|s| !s.is_empty()),
            defined_in: Some(runs.file.clone()),
            runs: Some(runs),
            ..Stage::default()
        });
        log.app.stages.push(record);
    }
    for (rdd, stage) in &log.cached_by {
        if let Some(cached) = log.cached.get_mut(rdd) {
            cached.stages.extend(index.attempts(*stage));
        }
    }
    let cached = std::mem::take(&mut log.cached).into_values();
    log.app.cached = cached.filter(|c| c.partitions > 0).collect();
}

fn add_jobs(log: &mut Collector, index: &Index) {
    let at: HashMap<u32, usize> = log.executions.keys().copied().zip(0..).collect();
    let mut jobs: Vec<_> = log
        .jobs
        .values()
        .filter(|s| s.job.submitted_ms > 0)
        .collect();
    jobs.sort_by_key(|s| (s.job.submitted_ms, s.job.id));
    let mut done = Vec::with_capacity(jobs.len());
    for state in jobs {
        let mut job = state.job.clone();
        job.execution = state.execution.and_then(|id| at.get(&id).copied());
        for id in &state.stages {
            let own: Vec<usize> = index.attempts(*id).collect();
            if own.is_empty() {
                job.reused.extend(index.writers(*id, &log.stages));
            }
            for stage in own {
                let record = &mut log.app.stages[stage];
                // stages that several jobs wait for run for the first
                if record.job.is_none() {
                    record.job = Some(done.len());
                    record.execution = job.execution;
                    job.stages.push(stage);
                }
            }
        }
        job.stages.sort_unstable();
        job.reused.sort_unstable();
        job.reused.dedup();
        done.push(job);
    }
    log.app.jobs = done;
}

/// An exchange with how it distributes rows.
pub(super) struct Link {
    /// Position in [`Application::exchanges`](crate::model::Application::exchanges).
    exchange: usize,
    channel: String,
    kind: ExchangeKind,
    keys: Vec<String>,
    partitions: Option<u32>,
}

/// Adds executions, and the operators and facts of the stages.
fn add_plans(log: &mut Collector, index: &Index, job: &mut Job) -> Vec<Link> {
    let states: Vec<_> = index
        .keys
        .iter()
        .filter_map(|key| log.stages.get(key))
        .collect();
    // where ends of tasks are lost, the totals of the stage are still there
    let whole: Vec<Option<HashMap<u64, Accumulated>>> = states
        .iter()
        .zip(&log.app.stages)
        .map(|(state, record)| {
            let all = state.accumulators.iter();
            let all = all.map(|(id, sum)| {
                (
                    *id,
                    Accumulated {
                        sum: *sum,
                        max: 0.0,
                    },
                )
            });
            record.lost_events.then(|| all.collect())
        })
        .collect();
    let of_stage = states.iter().zip(&whole);
    let of_stage = of_stage.map(|(s, whole)| whole.as_ref().unwrap_or(&s.tasks.accumulators));
    let metrics = Metrics::new(of_stage.collect(), &log.driver_metrics);
    let (mut links, mut uid) = (Vec::new(), 1);
    let mut facts: Vec<Vec<OperatorFacts>> = vec![Vec::new(); states.len()];
    let mut executions = Vec::new();
    for (position, state) in log.executions.values().enumerate() {
        let mut execution = state.execution.clone();
        let pieces = Pieces::of(state.nodes.clone(), uid, &metrics);
        uid += pieces.nodes.len() as u32;
        execution.is_final = !state
            .nodes
            .iter()
            .any(|n| n.text.contains("isFinalPlan=false"));
        execution.adaptive = state
            .nodes
            .iter()
            .any(|n| n.name.starts_with("AdaptiveSparkPlan"));
        let first_link = links.len();
        for (node, raw) in pieces.raw.iter().enumerate() {
            if is_exchange(&raw.name) {
                links.push(link(&pieces, node, &metrics, log.app.exchanges.len()));
                log.app
                    .exchanges
                    .push(exchange(&pieces, node, position, &metrics));
            }
        }
        for (piece, own) in pieces.stages.iter().enumerate() {
            for stage in own {
                add_operators(
                    &pieces,
                    piece,
                    &links[first_link..],
                    &mut job.stages[*stage],
                );
                let record = &mut log.app.stages[*stage];
                let python = |n: usize| {
                    kind(&pieces.raw[n].name, "") == OperatorKind::Process
                        && is_python(&pieces.raw[n].name)
                };
                record.python |=
                    (0..pieces.raw.len()).any(|n| pieces.piece[n] == piece && python(n));
                record.execution = record.execution.or(Some(position));
            }
        }
        for (piece, own) in pieces.stages.iter().enumerate() {
            for stage in own {
                let source = source(log, &states, job, *stage);
                let counting = Counting {
                    source: &source,
                    metrics: &metrics,
                    stage: *stage,
                };
                counting.piece(&pieces, piece, &mut facts[*stage]);
            }
        }
        job.tables
            .extend(tables(&pieces, &log.app.at_line(execution.line)));
        execution.plan = pieces.nodes;
        executions.push(execution);
    }
    for (stage, operators) in facts.into_iter().enumerate() {
        let source = source(log, &states, job, stage);
        let mut known = source.facts();
        known.operators = operators;
        rest(&source, &mut known);
        let of_operator = job.stages[stage].operators.iter();
        known.of_operator = of_operator.map(|o| known.position(o.uid)).collect();
        job.stages[stage].facts = Some(Box::new(known));
    }
    log.app.executions = executions;
    links
}

fn is_python(name: &str) -> bool {
    name.contains("Python") || name.contains("InPandas") || name.contains("InArrow")
}

fn source<'a>(
    log: &'a Collector,
    states: &[&'a super::collect::StageState],
    job: &'a Job,
    stage: usize,
) -> StageSource<'a> {
    let runs = job.stages[stage].runs.as_ref();
    StageSource {
        file: runs.map_or("", |r| &r.file),
        stage: &job.stages[stage].name,
        record: &log.app.stages[stage],
        runs,
        tasks: &states[stage].tasks,
    }
}

/// Adds the operators of a piece to a stage that runs it, inputs first.
fn add_operators(pieces: &Pieces, piece: usize, links: &[Link], stage: &mut Stage) {
    let channel_of = |node: usize| match pieces.exchange(node) {
        Some(exchange) => {
            let uid = pieces.nodes[exchange].uid;
            channel(format!("Exchange_{uid}"), uid)
        }
        None => {
            let uid = pieces.nodes[node].uid;
            channel(format!("rows_{uid}"), uid)
        }
    };
    let own = |node: usize| pieces.piece[node] == piece && !is_wrapper(&pieces.raw[node].name);
    let mut inputs: HashMap<usize, Vec<Channel>> = HashMap::new();
    for node in (0..pieces.nodes.len()).filter(|n| own(*n)) {
        if let Some(consumer) = pieces.consumer(node) {
            inputs.entry(consumer).or_default().push(channel_of(node));
        }
    }
    let operators = (0..pieces.nodes.len()).rev();
    let operators = operators.filter(|n| own(*n) && pieces.exchange(*n).is_none());
    for node in operators.chain(pieces.written_by[piece]) {
        let raw = &pieces.raw[node];
        let uid = pieces.nodes[node].uid;
        let link = links.iter().find(|l| l.channel == channel_of(node).id);
        let name = raw.name.trim();
        let (own_keys, right_keys) = keys(name, &raw.text);
        stage.operators.push(Operator {
            id: format!("{}_{uid}", name.replace(' ', "_")),
            uid: Some(uid),
            kind: link.map_or_else(|| kind(&raw.name, &raw.text), |l| partitioner(l.kind)),
            class_name: name.to_owned(),
            args: bare(raw.text.strip_prefix(name).unwrap_or(&raw.text))
                .trim()
                .to_owned(),
            keys: link.map_or(own_keys, |l| l.keys.clone()),
            right_keys,
            partition_count: link.and_then(|l| l.partitions),
            signature: None,
            file: None,
            line: None,
            inputs: inputs.remove(&node).unwrap_or_default(),
            outputs: vec![channel_of(node)],
        });
    }
}

fn channel(id: String, uid: u32) -> Channel {
    Channel {
        id,
        uid: Some(uid),
        schema: Vec::new(),
        count: None,
        is_final: false,
    }
}

fn partitioner(kind: ExchangeKind) -> OperatorKind {
    match kind {
        ExchangeKind::Hash => OperatorKind::HashPartition,
        ExchangeKind::Range => OperatorKind::RangePartition,
        ExchangeKind::Broadcast => OperatorKind::Broadcast,
        ExchangeKind::Gather => OperatorKind::Gather,
        ExchangeKind::RoundRobin | ExchangeKind::OneToOne | ExchangeKind::Unknown => {
            OperatorKind::Partition
        }
    }
}

fn link(pieces: &Pieces, node: usize, metrics: &Metrics<'_>, exchange: usize) -> Link {
    let raw = &pieces.raw[node];
    let parts = partitioning(&raw.text);
    let ids = raw
        .metrics
        .iter()
        .find(|(name, _, _)| name == "number of partitions");
    let counted = ids.and_then(|(_, id, _)| metrics.of_driver.get(id));
    Link {
        exchange,
        channel: format!("Exchange_{}", pieces.nodes[node].uid),
        kind: parts.kind,
        keys: parts.keys,
        partitions: parts.partitions.or(counted.map(|n| *n as u32)),
    }
}

fn exchange(pieces: &Pieces, node: usize, execution: usize, metrics: &Metrics<'_>) -> Exchange {
    let own = &pieces.nodes[node];
    // what adaptive execution made of its reading is in the nodes above
    let above = |at: &usize| pieces.raw[*at].parent;
    let wrappers = std::iter::successors(above(&node), above);
    let mut wrappers = wrappers.take_while(|at| is_wrapper(&pieces.raw[*at].name));
    let reader = wrappers.find(|at| {
        let name = &pieces.raw[*at].name;
        name.ends_with("ShuffleRead") || name.ends_with("ShuffleReader")
    });
    let of_reader = |name: &str| reader.and_then(|r| pieces.nodes[r].metric(name));
    let mut readers: Vec<usize> = pieces.raw[node]
        .metrics
        .iter()
        .filter(|(name, _, _)| super::plan::is_read_side(name))
        .flat_map(|(_, id, _)| metrics.stages.get(id).into_iter().flatten().copied())
        .collect();
    if own.name.contains("Broadcast") {
        readers.extend(&pieces.stages[pieces.piece[node]]);
    }
    readers.sort_unstable();
    readers.dedup();
    Exchange {
        uid: own.uid,
        execution,
        origin: origin(&own.text),
        writers: own.stages.clone(),
        readers,
        read: reader.map(|r| {
            let raw = &pieces.raw[r];
            raw.text
                .strip_prefix(raw.name.as_str())
                .unwrap_or(&raw.text)
                .trim()
                .to_owned()
        }),
        skewed_partitions: of_reader("number of skewed partitions"),
        coalesced_partitions: of_reader("number of coalesced partitions"),
        collect_ms: own.metric("time to collect"),
        build_ms: own.metric("time to build"),
        broadcast_ms: own.metric("time to broadcast"),
        data_bytes: own.metric("data size"),
        rows: own
            .metric("shuffle records written")
            .or_else(|| own.metric("number of output rows")),
    }
}

/// Adds the edges: of the exchanges, then of stages that read others by their lineage alone.
fn add_edges(log: &Collector, index: &Index, links: &[Link], job: &mut Job) {
    let mut edges: Vec<Edge> = Vec::new();
    for link in links {
        let exchange = &log.app.exchanges[link.exchange];
        for (from, to) in exchange
            .writers
            .iter()
            .flat_map(|w| exchange.readers.iter().map(move |r| (*w, *r)))
        {
            if from < to {
                edges.push(edge(job, link, exchange, from, to));
            }
        }
    }
    for (to, key) in index.keys.iter().enumerate() {
        for from in index.parents(*key, &log.stages) {
            if from < to && !edges.iter().any(|e| e.from == from && e.to == to) {
                edges.push(lineage(job, from, to));
            }
        }
    }
    job.edges = edges;
}

fn edge(job: &Job, link: &Link, exchange: &Exchange, from: usize, to: usize) -> Edge {
    let fact = |stage: usize| {
        let facts = job.stages[stage].facts.as_deref()?;
        facts.by_uid(Some(exchange.uid))
    };
    let value = |m: Option<&crate::facts::Measured>| m.map(|m| m.value);
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

/// An edge that only the lineage shows.
fn lineage(job: &Job, from: usize, to: usize) -> Edge {
    let facts = |stage: usize| job.stages[stage].facts.as_deref();
    let written = facts(from).map(|f| &f.per_vertex);
    let total = |d: Option<&crate::facts::Derived<crate::facts::Spread>>| d.map(|d| d.value.total);
    Edge {
        channel: format!("shuffle of {}", job.stages[from].name),
        uid: None,
        from,
        to,
        exchange: ExchangeKind::Unknown,
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

/// The inputs that a plan scans.
fn tables(pieces: &Pieces, source: &Source) -> Vec<Table> {
    let scans = pieces.nodes.iter().filter(|n| {
        n.metadata.contains_key("Location") || n.metric("number of files read").is_some()
    });
    scans
        .map(|scan| {
            let location = scan
                .metadata
                .get("Location")
                .map(String::as_str)
                .unwrap_or_default();
            let path = location.split_once('[').map_or(location, |(_, rest)| rest);
            let path = path.split([',', ']']).next().unwrap_or_default();
            let count = |name: &str| scan.metric(name).map(|n| n as u64);
            let sources = ["bytes", "file_count"].map(|field| (field, source.clone()));
            Table {
                name: path
                    .trim_end_matches('/')
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                path: Some(path.to_owned()).filter(|p| !p.is_empty()),
                stream_id: Some(format!(
                    "{}_{}",
                    scan.name.trim().replace(' ', "_"),
                    scan.uid
                )),
                kind: scan.metadata.get("Format").map(|f| f.to_lowercase()),
                bytes: count("size of files read"),
                file_count: count("number of files read"),
                sources: sources.into(),
                ..Table::default()
            }
        })
        .collect()
}

/// Pairs of stages that the driver ran one after the other: the last stages of jobs that had ended
/// when it submitted the next, without those that another job in between follows already.
fn order(log: &Collector) -> Vec<(usize, usize)> {
    let jobs = &log.app.jobs;
    // the end of a job is noted a little after that of its last stage
    let end = |j: usize| {
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
    let mut ended: Vec<usize> = (0..jobs.len()).filter(|j| end(*j) < i64::MAX).collect();
    ended.sort_by_key(|j| end(*j));
    let mut pairs = Vec::new();
    for job in jobs.iter().filter(|j| !j.stages.is_empty()) {
        let before = ended.partition_point(|j| end(*j) <= job.submitted_ms);
        let latest = ended[..before].iter().map(|j| jobs[*j].submitted_ms).max();
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
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The stages of a job that were submitted first.
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

/// Notes what the log lacks.
fn note(log: &Collector, job: &mut Job) {
    let file = log.app.file.clone();
    if let Some((line, cut)) = log.first_unreadable {
        let place = Some(format!("line {line}"));
        let problem = match (cut, log.unreadable) {
            (true, 1) => Problem::CutEvent,
            (_, n) => Problem::UnreadableEvents(n),
        };
        job.note(&file, place, &problem);
    }
    if !log.unknown.is_empty() {
        let events = log.unknown.values().sum();
        let kinds = log
            .unknown
            .keys()
            .take(5)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        job.note(&file, None, &Problem::UnknownEvents { events, kinds });
    }
    if log.ended.is_none() {
        job.note(&file, None, &Problem::NoApplicationEnd);
    }
}
