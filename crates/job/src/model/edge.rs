//! Edges of the stage DAG.

use schemars::JsonSchema;
use serde::Serialize;

use super::operator::Column;

/// How rows cross from one stage to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeKind {
    /// Repartitioned by hash on keys.
    Hash,
    /// Repartitioned by range on keys.
    Range,
    /// Every reader gets all rows.
    Broadcast,
    /// One reader gets all rows.
    Gather,
    /// Vertex i feeds vertex i: nothing is shuffled.
    OneToOne,
    /// No file tells.
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
            ExchangeKind::OneToOne => "one_to_one",
            ExchangeKind::Unknown => "unknown",
        }
    }
}

/// An edge of the stage DAG.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Edge {
    /// Name of the channel.
    pub channel: String,
    /// Uid of the channel: `Output@opId` at the writer, `Extractor@opId` at the reader.
    pub uid: Option<u32>,
    /// Index into [`Job::stages`](super::Job::stages) of the writing stage.
    pub from: usize,
    /// Index into [`Job::stages`](super::Job::stages) of the reading stage.
    pub to: usize,
    /// How rows cross.
    pub exchange: ExchangeKind,
    /// Keys that the rows are partitioned by.
    pub keys: Vec<String>,
    /// Partitions written.
    pub partitions: Option<u32>,
    /// Columns that cross.
    pub schema: Vec<Column>,
    /// Operator id of the partitioner in the writing stage.
    pub partitioner: Option<String>,
    /// Rows written, total.
    pub rows_written: Option<f64>,
    /// Bytes written, total.
    pub bytes_written: Option<f64>,
    /// Rows read, total (less than written where a reader stopped early; more where broadcast).
    pub rows_read: Option<f64>,
    /// Bytes read, total.
    pub bytes_read: Option<f64>,
}
