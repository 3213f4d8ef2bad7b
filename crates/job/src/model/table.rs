//! Metadata of the inputs.

use std::collections::BTreeMap;

use report::Source;

#[derive(Debug, Clone, PartialEq)]
pub struct TopValue {
    pub value: String,
    pub rows: u64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnStatistics {
    pub name: String,
    /// Type as written, with `?` if nullable.
    pub type_name: Option<String>,
    /// Mean width in bytes.
    pub avg_width: Option<f64>,
    pub distinct: Option<u64>,
    /// Rows with a null in this column.
    pub nulls: Option<u64>,
    /// Most frequent values, most frequent first; null is not among them.
    pub top_values: Vec<TopValue>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Clustering {
    /// `hash`, `range`, `none`, …, as written, lower case.
    pub kind: String,
    pub keys: Vec<String>,
    /// Sort order within a partition.
    pub sorted_by: Vec<String>,
    pub partitions: Option<u32>,
}

impl Clustering {
    /// Whether the keys are known, or not needed.
    pub fn is_whole(&self) -> bool {
        !self.keys.is_empty() || !matches!(self.kind.as_str(), "hash" | "range")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StoredPartition {
    pub bytes: u64,
    pub rows: Option<u64>,
}

/// Metadata of one input, from every file that mentions it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    pub name: String,
    /// Path or U-SQL table name.
    pub path: Option<String>,
    /// Identifier in the job (`GetSStream_0`), where known.
    pub stream_id: Option<String>,
    /// `sstream`, `text`, `table`.
    pub kind: Option<String>,
    pub rows: Option<u64>,
    pub bytes: Option<u64>,
    pub file_count: Option<u64>,
    /// Compression (`gzip`).
    pub compressed: Option<String>,
    pub clustering: Option<Clustering>,
    pub columns: Vec<ColumnStatistics>,
    pub partitions: Vec<StoredPartition>,
    /// Sources of rows, bytes, columns, …, by the Rust field name.
    pub sources: BTreeMap<&'static str, Source>,
}
