//! Edges of the stage DAG.

use std::collections::HashMap;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::Serialize;

use super::Job;
use super::operator::{Channel, Column};
use super::stage::Stage;

/// How rows cross from one stage to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeKind {
    Hash,
    Range,
    /// Every reader gets all rows.
    Broadcast,
    /// One reader gets all rows.
    Gather,
    /// Rows go to the readers round robin.
    RoundRobin,
    /// Vertex i feeds vertex i, without a shuffle.
    OneToOne,
    Unknown,
}

impl ExchangeKind {
    /// Code in reports and kept runs.
    pub fn code(self) -> &'static str {
        match self {
            ExchangeKind::Hash => "hash",
            ExchangeKind::Range => "range",
            ExchangeKind::Broadcast => "broadcast",
            ExchangeKind::Gather => "gather",
            ExchangeKind::RoundRobin => "round_robin",
            ExchangeKind::OneToOne => "one_to_one",
            ExchangeKind::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    pub channel: String,
    /// Uid of the channel: `Output@opId` at the writer, `Extractor@opId` at the reader.
    pub uid: Option<u32>,
    /// Index into [`Job::stages`](super::Job::stages) of the writing stage.
    pub from: usize,
    /// Index into [`Job::stages`](super::Job::stages) of the reading stage.
    pub to: usize,
    pub exchange: ExchangeKind,
    pub keys: Vec<String>,
    pub partitions: Option<u32>,
    pub schema: Vec<Column>,
    /// Operator id of the partitioner in the writing stage.
    pub partitioner: Option<String>,
    pub rows_written: Option<f64>,
    pub bytes_written: Option<f64>,
    /// Total rows read: fewer than written if a reader stopped early, more for a broadcast.
    pub rows_read: Option<f64>,
    pub bytes_read: Option<f64>,
}

/// Lookup tables of the edges, built on first use.
#[derive(Debug, Default)]
pub struct Neighbors {
    /// Positions of the edges into and out of each stage.
    ends: OnceLock<[Vec<Vec<usize>>; 2]>,
    /// For each edge its first reader: the operator in its stage, and the operator's input.
    readers: OnceLock<Vec<Option<(usize, usize)>>>,
}

impl Job {
    /// Edges into a stage, in the order of [`Job::edges`].
    pub fn edges_into(&self, stage: usize) -> impl Iterator<Item = &Edge> {
        self.edges_at(0, stage)
    }

    /// Edges out of a stage, in the order of [`Job::edges`].
    pub fn edges_out_of(&self, stage: usize) -> impl Iterator<Item = &Edge> {
        self.edges_at(1, stage)
    }

    /// Edges out of a stage, each with the first input in the reading stage that has its channel.
    pub(crate) fn inputs_fed_by(&self, stage: usize) -> impl Iterator<Item = (&Stage, &Channel)> {
        let readers = self.neighbors.readers.get_or_init(|| self.first_readers());
        self.numbers_at(1, stage).iter().filter_map(|at| {
            let (operator, input) = (*readers.get(*at)?)?;
            let reader = self.stages.get(self.edges.get(*at)?.to)?;
            Some((reader, reader.operators.get(operator)?.inputs.get(input)?))
        })
    }

    fn first_readers(&self) -> Vec<Option<(usize, usize)>> {
        let mut readers = vec![None; self.edges.len()];
        for (to, stage) in self.stages.iter().enumerate() {
            let mut first: HashMap<&str, (usize, usize)> = HashMap::new();
            for (at, operator) in stage.operators.iter().enumerate() {
                for (input, channel) in operator.inputs.iter().enumerate() {
                    let bare = channel.id.split('[').next().unwrap_or_default();
                    first.entry(bare).or_insert((at, input));
                }
            }
            for at in self.numbers_at(0, to) {
                let channel = self.edges.get(*at).map(|edge| edge.channel.as_str());
                readers[*at] = channel.and_then(|channel| first.get(channel).copied());
            }
        }
        readers
    }

    fn edges_at(&self, end: usize, stage: usize) -> impl Iterator<Item = &Edge> {
        let edges = self.numbers_at(end, stage).iter();
        edges.filter_map(|at| self.edges.get(*at))
    }

    /// Positions of the edges into (0) or out of (1) a stage.
    fn numbers_at(&self, end: usize, stage: usize) -> &[usize] {
        let ends = self.neighbors.ends.get_or_init(|| {
            let mut ends = [(); 2].map(|()| vec![Vec::new(); self.stages.len()]);
            for (at, edge) in self.edges.iter().enumerate() {
                for (end, stage) in [edge.to, edge.from].into_iter().enumerate() {
                    if let Some(edges) = ends[end].get_mut(stage) {
                        edges.push(at);
                    }
                }
            }
            ends
        });
        ends[end].get(stage).map_or(&[], Vec::as_slice)
    }
}
