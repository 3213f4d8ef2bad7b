//! Uneven input of a stage.

use job::model::Source;

use crate::impact::Saved;
use report::Cause;

/// The value that a hot vertex holds.
#[derive(Debug, Clone, PartialEq)]
pub struct HotValue {
    /// Column of the key.
    pub column: String,
    /// Value; `None` for null.
    pub value: Option<String>,
    /// Rows that have it.
    pub rows: u64,
    /// Their share of all rows.
    pub share: f64,
    /// Table with the statistics that count it; `None` for the nulls of an outer join, which no
    /// value of a table explains.
    pub table: Option<String>,
    /// Where the statistics, or else the join, are.
    pub source: Option<Source>,
}

/// A stage with very different amounts of data per vertex.
#[derive(Debug, Clone)]
pub struct Uneven {
    /// Index of the stage.
    pub stage: usize,
    /// Index into the job's edges of the exchange that is uneven; `None` for stored data.
    pub edge: Option<usize>,
    /// Index in the stage of the join that makes the rows uneven: its input is even, its output is not.
    pub join: Option<usize>,
    /// Largest over mean.
    pub ratio: f64,
    /// Share of the largest vertex.
    pub largest_share: f64,
    /// Vertices.
    pub vertices: u64,
    /// Vertices without rows, if known.
    pub empty: u64,
    /// Distinct values of the key, where statistics tell.
    pub distinct: Option<u64>,
    /// Value that makes it hot, where statistics tell.
    pub hot: Option<HotValue>,
    /// Kind.
    pub cause: Cause,
    /// Saving with even input; `None` if it may or may not be relevant.
    pub saved: Option<Saved>,
    /// Largest share of the run that it could save, 0..1.
    pub at_most: f64,
    /// Whether that is a share that matters (always, in a failed job).
    pub matters: bool,
}
