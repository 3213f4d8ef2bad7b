//! Uneven input of a stage.

use job::model::Source;

use crate::impact::Saved;
use report::Cause;

/// The value that a hot vertex holds.
#[derive(Debug, Clone, PartialEq)]
pub struct HotValue {
    pub column: String,
    /// Value; `None` for null.
    pub value: Option<String>,
    pub rows: u64,
    pub share: f64,
    /// Table with the statistics that count it; `None` for the nulls of an outer join, which no
    /// value of a table explains.
    pub table: Option<String>,
    /// Source of the statistics, else of the join.
    pub source: Option<Source>,
}

/// A stage with very different amounts of data per vertex.
#[derive(Debug, Clone)]
pub struct Uneven {
    pub stage: usize,
    /// The uneven exchange, as an index into the job's edges; `None` for stored data.
    pub edge: Option<usize>,
    /// Index in the stage of the join that makes the rows uneven: its input is even, its output is not.
    pub join: Option<usize>,
    /// Largest over mean.
    pub ratio: f64,
    /// Whether the ratio is one of rows; else of bytes.
    pub of_rows: bool,
    pub largest_share: f64,
    pub vertices: u64,
    /// Vertices without rows, if known.
    pub empty: u64,
    /// Distinct values of the key, from statistics.
    pub distinct: Option<u64>,
    pub hot: Option<HotValue>,
    pub cause: Cause,
    /// Saving with even input; `None` if it may or may not be relevant.
    pub saved: Option<Saved>,
    /// Largest possible saving as a share of the run, 0..1.
    pub at_most: f64,
    /// Whether the saving is relevant (always true in a failed job).
    pub matters: bool,
}
