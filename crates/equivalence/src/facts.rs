//! Facts for judging a change, besides the scripts.

use job::model::Table;
use job::script::flow::ReadColumns;

/// Facts from outside the scripts.
pub struct Facts<'a> {
    /// Inputs of the job, for the names and types of their columns.
    pub tables: &'a [Table],
    /// Columns that a user-defined class reads.
    pub reads: &'a ReadColumns<'a>,
    /// The script as changed by each rewrite that is known to keep the result.
    pub rewrites: &'a [String],
}
