//! The executions of an application: their plans as operators, facts and inputs of the stages.

use std::collections::HashMap;
use std::sync::Arc;

use super::collect::{Collector, StageState};
use super::edges::Link;
use super::expression::{bare, keys, origin, partitioning};
use super::facts::{Counting, StageSource, rest};
use super::plan::{Metrics, Pieces, is_exchange, is_read_side, is_wrapper, kind};
use super::plan_text::RawNode;
use super::stages::Index;
use super::tasks::Accumulated;
use crate::facts::{OperatorFacts, Place, Role};
use crate::model::{
    Application, Channel, Exchange, ExchangeKind, Job, Operator, OperatorKind, Source, Stage,
    StageAttempt, Table,
};

/// Totals of a stage with lost ends of tasks: the totals are complete.
fn totals(state: &StageState, record: &StageAttempt) -> Option<HashMap<u64, Accumulated>> {
    let all = state.accumulators.iter().map(|(id, sum)| {
        let total = Accumulated {
            sum: *sum,
            max: 0.0,
        };
        (*id, total)
    });
    record.lost_events.then(|| all.collect())
}

/// Adds its exchanges to each stage.
fn add_exchanges(app: &mut Application) {
    for (at, exchange) in app.exchanges.iter().enumerate() {
        for stage in &exchange.writers {
            app.stages[*stage].writes.push(at);
        }
        for stage in &exchange.readers {
            app.stages[*stage].reads.push(at);
        }
    }
}

/// Adds executions, and the operators and facts of the stages.
pub(super) fn add_plans(log: &mut Collector, index: &Index, job: &mut Job) -> Vec<Link> {
    let keys = index.keys.iter();
    let states: Vec<_> = keys.filter_map(|key| log.stages.get(key)).collect();
    let whole = states.iter().zip(&log.app.stages);
    let whole: Vec<_> = whole.map(|(state, record)| totals(state, record)).collect();
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
        let has = |is: fn(&RawNode) -> bool| state.nodes.iter().any(is);
        execution.is_final = !has(|n| n.text.contains("isFinalPlan=false"));
        execution.adaptive = has(|n| n.name.starts_with("AdaptiveSparkPlan"));
        let first_link = links.len();
        for (node, raw) in pieces.raw.iter().enumerate() {
            if is_exchange(&raw.name) {
                links.push(link(&pieces, node, &metrics, log.app.exchanges.len()));
                log.app
                    .exchanges
                    .push(exchange(&pieces, node, position, &metrics));
            }
        }
        // an exchange and its channel have the same number
        let written: HashMap<u32, &Link> = links[first_link..].iter().map(|l| (l.uid, l)).collect();
        for (piece, own) in pieces.stages.iter().enumerate() {
            for stage in own {
                add_operators(&pieces, piece, &written, &mut job.stages[*stage]);
                let record = &mut log.app.stages[*stage];
                let python = |n: usize| {
                    kind(&pieces.raw[n].name, "") == OperatorKind::Process
                        && is_python(&pieces.raw[n].name)
                };
                record.python |= pieces.own[piece].iter().any(|n| python(*n));
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
    add_exchanges(&mut log.app);
    for (stage, operators) in facts.into_iter().enumerate() {
        let unplanned = unplanned_code(&log.app.stages[stage], &operators, &mut uid);
        let source = source(log, &states, job, stage);
        let mut known = source.facts();
        known.operators = operators;
        if let Some(code) = &unplanned {
            known.operators.push(source.unplanned_code(code));
        }
        rest(&source, &mut known);
        job.stages[stage].operators.extend(unplanned);
        // most stages of a large log have one of each, but a list reserves space for four
        known.operators.shrink_to_fit();
        job.stages[stage].operators.shrink_to_fit();
        let of_operator = job.stages[stage].operators.iter();
        known.of_operator = of_operator.map(|o| known.position(o.uid)).collect();
        job.stages[stage].facts = Some(Arc::new(known));
    }
    log.app.executions = executions;
    links
}

/// The Python functions of a stage without an operator in a plan.
fn unplanned_code(
    record: &StageAttempt,
    planned: &[OperatorFacts],
    next_uid: &mut u32,
) -> Option<Operator> {
    if !record.python || planned.iter().any(|o| o.role == Role::ManagedCode) {
        return None;
    }
    let uid = *next_uid;
    *next_uid += 1;
    let (id, kind) = (format!("Python_{uid}"), OperatorKind::Process);
    Some(Operator {
        args: record.call_site.clone(),
        ..Operator::new(id, Some(uid), kind, "Python")
    })
}

fn is_python(name: &str) -> bool {
    name.contains("Python") || name.contains("InPandas") || name.contains("InArrow")
}

fn source<'a>(
    log: &'a Collector,
    states: &[&'a StageState],
    job: &'a Job,
    stage: usize,
) -> StageSource<'a> {
    let runs = job.stages[stage].runs.as_ref();
    let (file, name) = (runs.map_or("", |r| &r.file), &job.stages[stage].name);
    let shared = Place::Log {
        file: file.into(),
        stage: name.as_str().into(),
        operator: None,
    };
    StageSource {
        file,
        stage: name,
        shared: Arc::new(shared),
        record: &log.app.stages[stage],
        runs,
        tasks: &states[stage].tasks,
    }
}

/// Adds the operators of a piece to a stage that runs it, inputs first.
fn add_operators(pieces: &Pieces, piece: usize, links: &HashMap<u32, &Link>, stage: &mut Stage) {
    let channel_of = |node: usize| {
        let (what, node) = match pieces.exchange(node) {
            Some(exchange) => ("Exchange", exchange),
            None => ("rows", node),
        };
        let uid = pieces.nodes[node].uid;
        Channel::named(format!("{what}_{uid}"), Some(uid))
    };
    let own = pieces.own[piece].iter().copied();
    let own = own.filter(|node| !is_wrapper(&pieces.raw[*node].name));
    let mut inputs: HashMap<usize, Vec<Channel>> = HashMap::new();
    for node in own.clone() {
        if let Some(consumer) = pieces.consumer(node) {
            inputs.entry(consumer).or_default().push(channel_of(node));
        }
    }
    let operators = own.rev().filter(|n| pieces.exchange(*n).is_none());
    for node in operators.chain(pieces.written_by[piece]) {
        let raw = &pieces.raw[node];
        let uid = pieces.nodes[node].uid;
        let link = links.get(&uid);
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
        uid: pieces.nodes[node].uid,
        channel: format!("Exchange_{}", pieces.nodes[node].uid),
        kind: parts.kind,
        keys: parts.keys,
        partitions: parts.partitions.or(counted.map(|n| *n as u32)),
    }
}

fn exchange(pieces: &Pieces, node: usize, execution: usize, metrics: &Metrics<'_>) -> Exchange {
    let own = &pieces.nodes[node];
    // the nodes above show how adaptive execution reads the exchange
    let above = |at: &usize| pieces.raw[*at].parent;
    let wrappers = std::iter::successors(above(&node), above);
    let mut wrappers = wrappers.take_while(|at| is_wrapper(&pieces.raw[*at].name));
    let reader = wrappers.find(|at| {
        let name = &pieces.raw[*at].name;
        name.ends_with("ShuffleRead") || name.ends_with("ShuffleReader")
    });
    let of_reader = |name: &str| reader.and_then(|r| pieces.nodes[r].metric(name));
    let read_side = pieces.raw[node].metrics.iter();
    let read_side: Vec<_> = read_side
        .filter(|(name, _, _)| is_read_side(name))
        .collect();
    let mut readers: Vec<usize> = read_side
        .iter()
        .flat_map(|(_, id, _)| metrics.stages.get(id).into_iter().flatten().copied())
        .collect();
    // before Spark 3.0, an exchange does not measure its reads
    if own.name.contains("Broadcast") || read_side.is_empty() {
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
            let sources = [
                ("bytes", "size of files read"),
                ("file_count", "number of files read"),
            ];
            let sources = sources.map(|(field, metric)| {
                let locator = format!("*/{}[{}]/{metric}", scan.name.trim(), scan.uid);
                let (file, locator) = (source.file.clone(), Some(locator));
                (field, Source { file, locator })
            });
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
