//! Rowsets: their columns, readers and partitioning.
//!
//! The data flow knows only the script. The caller adds stored layouts of the inputs and the columns
//! that user code in other files reads. A column that cannot be resolved counts as used.

mod columns;
mod partitioning;
pub mod user_code;
mod uses;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::Script;
use super::model::{Query, RowsetRef, RowsetSource, Statement, StatementKind};

/// Kind of partitioning, derived from the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PartitioningKind {
    #[default]
    Unknown,
    /// Rows with equal keys are together.
    Keys,
    /// All rows are together.
    Single,
}

/// Partitioning of an operator's output.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Partitioning {
    pub kind: PartitioningKind,
    /// Columns, by their names in the rowset that is partitioned.
    pub keys: Vec<String>,
}

/// A rowset: the output of one statement (or the input that `OUTPUT` writes).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rowset {
    pub statement: usize,
    pub name: Option<String>,
    /// Input rowsets, as indices into [`DataFlow::rowsets`].
    pub inputs: Vec<usize>,
    /// Tables, streams and other sources outside the script, as written.
    pub sources: Vec<String>,
    pub readers: Vec<usize>,
    /// Columns as the definition lists them; `None` if the script doesn't list them (`*` over a stream).
    pub columns: Option<Vec<String>>,
    /// Columns that a reader, or the job's output, needs in the end.
    pub used: Vec<String>,
    /// Columns without a reader.
    pub dropped: Vec<String>,
    pub leaves: Partitioning,
}

/// Rowsets and their connections.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataFlow {
    pub rowsets: Vec<Rowset>,
}

impl DataFlow {
    pub fn of_statement(&self, statement: usize) -> Option<&Rowset> {
        self.rowsets.iter().find(|r| r.statement == statement)
    }
}

/// Column names kept over all rowsets; beyond this limit, the columns of a rowset are unknown. Scripts of a
/// thousand statements have some ten thousand.
const MAX_NAMES: usize = 1_000_000;

/// Columns that a user-defined operator reads, by its class: `None` if it may read any.
pub type ReadColumns<'a> = dyn Fn(&str) -> Option<Vec<String>> + 'a;

impl Script {
    /// The data flow, using knowledge about user-defined operators: `reads` returns the columns
    /// that a class reads (see [`user_code::columns_read`]).
    pub fn flow_with(&self, reads: &ReadColumns<'_>) -> DataFlow {
        build(&self.statements, reads)
    }
}

/// The flow of a script, with its own C# blocks as the only known user code.
pub(super) fn of_script(script: &Script) -> DataFlow {
    let statements = script.statements.iter();
    let blocks = statements.filter(|s| s.kind == StatementKind::CsBlock);
    let code: Vec<&str> = blocks.map(|block| script.slice(&block.span)).collect();
    let code = code.join("\n");
    let known = RefCell::new(HashMap::new());
    let reads = |class: &str| {
        let mut known = known.borrow_mut();
        let found = known.entry(class.to_owned());
        let read = || user_code::columns_read(&code, class);
        found.or_insert_with(read).clone()
    };
    build(&script.statements, &reads)
}

fn build(statements: &[Statement], reads: &ReadColumns<'_>) -> DataFlow {
    let mut rowsets: Vec<Rowset> = Vec::new();
    let mut by_statement: HashMap<usize, usize> = HashMap::new();
    let mut names = MAX_NAMES;
    for statement in statements.iter().filter(|statement| is_node(statement)) {
        let made_by = |definition: usize| rowsets.get(*by_statement.get(&definition)?);
        let columns = columns::provided(&statement.query, &|definition| {
            made_by(definition)?.columns.clone()
        });
        let columns = columns.filter(|columns| columns.len() <= names);
        names -= columns.as_ref().map_or(0, Vec::len);
        let mut rowset = Rowset {
            statement: statement.index,
            name: statement.target.clone(),
            columns,
            ..Rowset::default()
        };
        let mut seen = HashSet::new();
        for input in leaves(&statement.query) {
            let definition = input.definition;
            match definition.and_then(|definition| by_statement.get(&definition)) {
                Some(&index) if seen.insert(index) => rowset.inputs.push(index),
                Some(_) => {}
                None => rowset.sources.push(input.name.clone()),
            }
        }
        rowset.leaves = partitioning::of_statement(statement, &|definition| {
            Some(made_by(definition)?.leaves.clone())
        });
        let index = rowsets.len();
        for &input in &rowset.inputs {
            rowsets[input].readers.push(index);
        }
        by_statement.insert(statement.index, index);
        rowsets.push(rowset);
    }
    uses::mark(statements, &mut rowsets, &by_statement, reads);
    DataFlow { rowsets }
}

fn is_node(statement: &Statement) -> bool {
    let writes = matches!(
        statement.kind,
        StatementKind::Output | StatementKind::Insert | StatementKind::Create
    );
    statement.makes_rowset() || writes && !statement.query.is_empty()
}

/// Rowsets that a query reads, including its sub-queries and branches.
fn leaves(query: &Query) -> Vec<&RowsetRef> {
    let mut found = Vec::new();
    for branch in &query.branches {
        found.extend(leaves(branch));
    }
    for input in &query.inputs {
        match &input.source {
            RowsetSource::Query(inner) => found.extend(leaves(inner)),
            RowsetSource::Apply(_) => {}
            _ => found.push(input),
        }
    }
    found
}
