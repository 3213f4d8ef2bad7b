//! Rowsets, what columns they carry, who reads them and how they are partitioned.
//!
//! Knows the script only: stored layouts of the inputs are the reader's to add.

/// How rows are spread, as far as the script tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PartitioningKind {
    /// The script does not tell.
    #[default]
    Unknown,
    /// Rows with equal keys are together.
    Keys,
    /// All rows are together.
    Single,
}

/// Partitioning that an operator needs or leaves behind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Partitioning {
    /// How.
    pub kind: PartitioningKind,
    /// Columns, by their names in the rowset.
    pub keys: Vec<String>,
}

/// A rowset: what one statement produces (or, for `OUTPUT`, writes).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rowset {
    /// Statement that makes it.
    pub statement: usize,
    /// Name that it is bound to.
    pub name: Option<String>,
    /// Rowsets that it is made from, as indices into [`DataFlow::rowsets`].
    pub inputs: Vec<usize>,
    /// Tables, streams and other sources outside the script, as written.
    pub sources: Vec<String>,
    /// Rowsets made from it.
    pub readers: Vec<usize>,
    /// Columns that it provides, in order; `None` if the script does not tell (`*` over a stream).
    pub columns: Option<Vec<String>>,
    /// Those that some reader, or the job's output, needs in the end.
    pub used: Vec<String>,
    /// Those that nobody needs.
    pub dropped: Vec<String>,
    /// Keys by which the operator needs its inputs together: group, join, reduce keys; one entry
    /// an input.
    pub needs: Vec<Partitioning>,
    /// What the operator leaves behind.
    pub leaves: Partitioning,
}

/// Rowsets and how they feed each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataFlow {
    /// Rowsets in the order of their statements.
    pub rowsets: Vec<Rowset>,
}

impl DataFlow {
    /// The rowset that a statement makes.
    pub fn of_statement(&self, statement: usize) -> Option<&Rowset> {
        self.rowsets
            .iter()
            .find(|rowset| rowset.statement == statement)
    }
}

/// The flow of a script's statements.
pub(super) fn build(_text: &str, _statements: &[super::Statement]) -> DataFlow {
    DataFlow::default()
}
