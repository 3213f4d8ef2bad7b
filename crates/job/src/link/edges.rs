//! The stage DAG: which stage reads which, how the rows cross, and how many.

use std::collections::HashMap;

use crate::model::{Channel, Edge, ExchangeKind, Job, Operator, OperatorKind, Stage};

/// An end of a channel: stage, and operator if operators are known.
type End = (usize, Option<usize>);

impl Job {
    /// Rebuilds the edges from what is known now.
    pub(super) fn link_edges(&mut self) {
        let mut edges = self.edges_by_name();
        if edges.is_empty() {
            edges = self.edges_by_uid();
        }
        for edge in &mut edges {
            self.fill_counts(edge);
        }
        self.edges = edges;
    }

    /// Edges by the names of channels, from the operators or from the algebra.
    fn edges_by_name(&self) -> Vec<Edge> {
        let mut writers: HashMap<&str, End> = HashMap::new();
        for (at, stage) in self.stages.iter().enumerate() {
            for (op, operator) in stage.operators.iter().enumerate() {
                let outputs = operator.outputs.iter();
                writers.extend(outputs.map(|o| (bare(&o.id), (at, Some(op)))));
            }
            for channel in &stage.writes {
                writers.entry(bare(channel)).or_insert((at, None));
            }
        }
        let mut edges = Vec::new();
        for (to, stage) in self.stages.iter().enumerate() {
            let by_operator = stage.operators.iter().flat_map(|o| &o.inputs);
            let known: Vec<(&str, Option<&Channel>)> =
                by_operator.map(|c| (bare(&c.id), Some(c))).collect();
            let by_algebra = stage.reads.iter().map(|name| (bare(name), None));
            let unknown = by_algebra.filter(|(name, _)| !known.iter().any(|(n, _)| n == name));
            for (name, reader) in known.iter().copied().chain(unknown) {
                match writers.get(name) {
                    Some(writer) if writer.0 != to => {
                        edges.push(self.edge(name, *writer, to, reader));
                    }
                    _ => {}
                }
            }
        }
        edges
    }

    fn edge(&self, name: &str, (from, op): End, to: usize, reader: Option<&Channel>) -> Edge {
        let writer = op.and_then(|op| self.stages[from].operators.get(op));
        let output = writer.and_then(|o| o.outputs.iter().find(|c| bare(&c.id) == name));
        let partitioner = writer.filter(|o| is_partitioner(o.kind));
        let pieces = output.and_then(|o| o.count);
        let uid = output.and_then(|o| o.uid);
        let schema = output.or(reader).map(|c| c.schema.clone());
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
        for (to, stage) in self.stages.iter().enumerate() {
            let counters = stage.counters.iter();
            let readers = counters.flat_map(|c| c.nodes_named("Extractor"));
            for uid in readers.filter_map(|node| node.op_id) {
                let known = edges.iter().any(|e| e.uid == Some(uid) && e.to == to);
                match writers.get(&uid) {
                    Some(from) if *from != to && !known => edges.push(Edge {
                        uid: Some(uid),
                        ..self.edge(&format!("#{uid}"), (*from, None), to, None)
                    }),
                    _ => {}
                }
            }
        }
        edges
    }

    fn fill_counts(&self, edge: &mut Edge) {
        let Some(uid) = edge.uid else { return };
        (edge.rows_written, edge.bytes_written) =
            channel_counts(&self.stages[edge.from], "Output", uid);
        (edge.rows_read, edge.bytes_read) = channel_counts(&self.stages[edge.to], "Extractor", uid);
    }
}

/// Rows and bytes of a channel on one side. A stage may read the same channel more than once.
fn channel_counts(stage: &Stage, node: &str, uid: u32) -> (Option<f64>, Option<f64>) {
    let nodes = || {
        let all = stage.counters.iter().flat_map(|c| c.nodes_named(node));
        all.filter(|n| n.op_id == Some(uid))
    };
    let sum = |name: &str| nodes().filter_map(|n| n.value(name)).reduce(|a, b| a + b);
    (sum("rowCount"), sum("bytes"))
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

/// How rows cross: what the partitioner says, else how many pieces are written and read.
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
