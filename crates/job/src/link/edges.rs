//! The stage DAG: readers and writers, the kind of exchange, and the number of rows.

use std::collections::{HashMap, HashSet};

use crate::bounds::Quota;
use crate::model::{Channel, Edge, ExchangeKind, Job, Neighbors, Operator, OperatorKind};

/// An end of a channel: the stage, and the operator with the position of its output if operators are known.
type End = (usize, Option<(usize, usize)>);

/// Limit on the columns in the schemas of all edges: many edges may read the same wide channel.
const MAX_COLUMNS: usize = 2_000_000;

/// Rows and bytes by stage, whether it writes the channel, and the channel's number.
type Counts = HashMap<(usize, bool, u32), (Option<f64>, Option<f64>)>;

impl Job {
    /// Rebuilds the edges from all files read so far.
    pub(super) fn link_edges(&mut self) {
        let mut edges = self.edges_by_name();
        if edges.is_empty() {
            edges = self.edges_by_uid();
        }
        let defined = self.stages.iter().find_map(|s| s.defined_in.clone());
        self.empties(Quota::Edges);
        self.shorten(Quota::Edges, &mut edges, &defined.unwrap_or_default());
        let counts = self.channel_counts();
        for edge in &mut edges {
            let Some(uid) = edge.uid else { continue };
            let of = |stage, writes| {
                counts
                    .get(&(stage, writes, uid))
                    .copied()
                    .unwrap_or_default()
            };
            (edge.rows_written, edge.bytes_written) = of(edge.from, true);
            (edge.rows_read, edge.bytes_read) = of(edge.to, false);
        }
        self.edges = edges;
        self.neighbors = Neighbors::default();
    }

    /// Edges by the names of channels, from the operators or from the algebra.
    fn edges_by_name(&self) -> Vec<Edge> {
        let mut writers: HashMap<&str, End> = HashMap::new();
        for (at, stage) in self.stages.iter().enumerate() {
            for (op, operator) in stage.operators.iter().enumerate() {
                let outputs = operator.outputs.iter().enumerate();
                writers.extend(outputs.map(|(n, o)| (bare(&o.id), (at, Some((op, n))))));
            }
            for channel in &stage.writes {
                writers.entry(bare(channel)).or_insert((at, None));
            }
        }
        let mut edges = Vec::new();
        let mut columns = MAX_COLUMNS;
        for (to, stage) in self.stages.iter().enumerate() {
            let by_operator = stage.operators.iter().flat_map(|o| &o.inputs);
            let known: Vec<(&str, Option<&Channel>)> =
                by_operator.map(|c| (bare(&c.id), Some(c))).collect();
            let names: HashSet<&str> = known.iter().map(|(name, _)| *name).collect();
            let by_algebra = stage.reads.iter().map(|name| (bare(name), None));
            let unknown = by_algebra.filter(|(name, _)| !names.contains(name));
            for (name, reader) in known.iter().copied().chain(unknown) {
                match writers.get(name) {
                    Some(writer) if writer.0 != to => {
                        let edge = self.edge(name, *writer, (to, reader), columns);
                        columns -= edge.schema.len();
                        edges.push(edge);
                    }
                    _ => {}
                }
            }
        }
        edges
    }

    /// An edge with at most `columns` columns. A longer schema is left out.
    fn edge(
        &self,
        name: &str,
        (from, op): End,
        (to, reader): (usize, Option<&Channel>),
        columns: usize,
    ) -> Edge {
        let writer = op.and_then(|(op, _)| self.stages[from].operators.get(op));
        let output = writer.zip(op).and_then(|(o, (_, n))| o.outputs.get(n));
        let partitioner = writer.filter(|o| is_partitioner(o.kind));
        let pieces = output.and_then(|o| o.count);
        let uid = output.and_then(|o| o.uid);
        let schema = output.or(reader).filter(|c| c.schema.len() <= columns);
        let schema = schema.map(|c| c.schema.clone());
        Edge {
            channel: name.to_owned(),
            uid: uid.or_else(|| reader.and_then(|r| r.uid)),
            from,
            to,
            exchange: exchange(partitioner, output, reader),
            keys: partitioner.map(|o| o.keys.clone()).unwrap_or_default(),
            partitions: partitioner.and_then(|o| o.partition_count).or(pieces),
            schema: schema.unwrap_or_default(),
            partitioner: partitioner.map(|o| o.id.clone()),
            rows_written: None,
            bytes_written: None,
            rows_read: None,
            bytes_read: None,
        }
    }

    /// Edges by the numbers that writers and readers of a channel share in the counters.
    fn edges_by_uid(&self) -> Vec<Edge> {
        let mut writers: HashMap<u32, usize> = HashMap::new();
        for (at, stage) in self.stages.iter().enumerate() {
            let nodes = stage.counters.iter().flat_map(|c| c.nodes_named("Output"));
            writers.extend(nodes.filter_map(|n| Some((n.op_id?, at))));
        }
        let mut edges: Vec<Edge> = Vec::new();
        let mut known: HashSet<(usize, u32)> = HashSet::new();
        for (to, stage) in self.stages.iter().enumerate() {
            let counters = stage.counters.iter();
            let readers = counters.flat_map(|c| c.nodes_named("Extractor"));
            for uid in readers.filter_map(|node| node.op_id) {
                match writers.get(&uid) {
                    Some(from) if *from != to && known.insert((to, uid)) => edges.push(Edge {
                        uid: Some(uid),
                        ..self.edge(&format!("#{uid}"), (*from, None), (to, None), 0)
                    }),
                    _ => {}
                }
            }
        }
        edges
    }

    /// Rows and bytes of all channels on both sides. A stage may read the same channel more than once.
    fn channel_counts(&self) -> Counts {
        let mut counts = Counts::new();
        let add = |sum: &mut Option<f64>, more: Option<f64>| {
            *sum = match (*sum, more) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
        };
        for (stage, s) in self.stages.iter().enumerate() {
            for node in s.counters.iter().flat_map(|c| &c.nodes) {
                let writes = match &*node.name {
                    "Output" => true,
                    "Extractor" => false,
                    _ => continue,
                };
                let Some(uid) = node.op_id else { continue };
                let (rows, bytes) = counts.entry((stage, writes, uid)).or_default();
                add(rows, node.value("rowCount"));
                add(bytes, node.value("bytes"));
            }
        }
        counts
    }
}

/// A channel's name without the pieces in brackets: `SV1_Extract_out0[0,0,0]`.
pub(super) fn bare(id: &str) -> &str {
    id.split('[').next().unwrap_or(id)
}

fn is_partitioner(kind: OperatorKind) -> bool {
    use OperatorKind as K;
    matches!(
        kind,
        K::HashPartition | K::RangePartition | K::Broadcast | K::Gather | K::Partition
    )
}

/// How rows cross the edge: by the partitioner, else by the number of pieces written and read.
fn exchange(
    partitioner: Option<&Operator>,
    output: Option<&Channel>,
    reader: Option<&Channel>,
) -> ExchangeKind {
    match partitioner.map(|o| o.kind) {
        Some(OperatorKind::HashPartition) => return ExchangeKind::Hash,
        Some(OperatorKind::RangePartition) => return ExchangeKind::Range,
        Some(OperatorKind::Broadcast) => return ExchangeKind::Broadcast,
        Some(OperatorKind::Gather) => return ExchangeKind::Gather,
        Some(_) => return ExchangeKind::Unknown,
        None => {}
    }
    let written = output.and_then(|o| o.count);
    match (written, reader) {
        // every vertex writes one piece and every vertex reads one
        (Some(1), Some(reader)) if reader.count == Some(1) => ExchangeKind::OneToOne,
        _ => ExchangeKind::Unknown,
    }
}
