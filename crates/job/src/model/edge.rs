//! Edges of the stage DAG.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::Serialize;

use super::Job;
use super::operator::Column;

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
    /// Rows go to the readers in turn.
    RoundRobin,
    /// Vertex i feeds vertex i: nothing is shuffled.
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
    /// Rows read, total (less than written where a reader stopped early; more where broadcast).
    pub rows_read: Option<f64>,
    pub bytes_read: Option<f64>,
}

/// Positions of the edges into and out of each stage, found when somebody first asks.
#[derive(Debug, Default)]
pub struct Neighbors(OnceLock<[Vec<Vec<usize>>; 2]>);

impl Job {
    /// Edges into a stage, in the order of [`Job::edges`].
    pub fn edges_into(&self, stage: usize) -> impl Iterator<Item = &Edge> {
        self.edges_at(0, stage)
    }

    /// Edges out of a stage, in the order of [`Job::edges`].
    pub fn edges_out_of(&self, stage: usize) -> impl Iterator<Item = &Edge> {
        self.edges_at(1, stage)
    }

    fn edges_at(&self, end: usize, stage: usize) -> impl Iterator<Item = &Edge> {
        let ends = self.neighbors.0.get_or_init(|| {
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
        let edges = ends[end].get(stage).into_iter().flatten();
        edges.filter_map(|at| self.edges.get(*at))
    }
}
