//! Runs the small subset of SCOPE and U-SQL that the simulator writes, over a few generated rows, by translating it to SQL
//! for SQLite: a rewrite of a script must give the rows that the script gave.
//!
//! Only the relational part is checked. User code is not run: in place of a reducer or processor there is a
//! function of the rows and columns that its C# reads, which exposes a rewrite that drops one of these columns
//! or splits a group. Order is not checked.

mod expression;
mod functions;
mod lexer;
mod rows;
mod translate;

use job::script::Script;
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;

pub use rows::{Sample, SampleColumn};

/// Why a script was not run.
#[derive(Debug, Error)]
pub enum ExecError {
    /// Something that this subset does not have.
    #[error("line {line}: not supported by the executor: {what}")]
    Unsupported {
        /// 1-based line.
        line: u32,
        what: String,
    },
    /// An input that is no table of the job.
    #[error("line {line}: no table is stored at `{path}`")]
    NoTable {
        /// 1-based line.
        line: u32,
        /// Path or name as resolved.
        path: String,
    },
    /// SQLite refused.
    #[error("line {line}: {source}; the SQL was: {sql}")]
    Sql {
        /// 1-based line.
        line: u32,
        /// The statement.
        sql: String,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// SQLite could not be set up, or a file could not be read.
    #[error("{0}")]
    Setup(String),
}

/// One output; its rows are sorted, since an output is a multiset here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Column names in order.
    pub columns: Vec<String>,
    /// Values as text, numbers rounded to nine digits.
    pub rows: Vec<Vec<String>>,
}

/// Outputs by the path they are written to.
pub type Outputs = BTreeMap<String, Output>;

/// What a script needs to run: input rows, and the columns that user code reads.
#[derive(Debug, Clone)]
pub struct World {
    pub(crate) samples: Vec<Sample>,
    pub(crate) reads: BTreeMap<String, Vec<String>>,
}

impl World {
    /// Rows for the tables of a job, from its `tables.json` and the C# that it brought.
    ///
    /// # Errors
    ///
    /// If `tables` is not the JSON of a job's tables.
    pub fn new(tables: &str, code: &str, seed: u64) -> Result<Self, ExecError> {
        let samples = rows::samples(tables, seed)
            .map_err(|e| ExecError::Setup(format!("tables.json: {e}")))?;
        Ok(Self {
            samples,
            reads: functions::reads_of(code),
        })
    }

    /// The same from a job folder.
    ///
    /// # Errors
    ///
    /// If `tables.json` is missing or malformed.
    pub fn of_folder(folder: &Path, seed: u64) -> Result<Self, ExecError> {
        let read = |name: &str| {
            std::fs::read_to_string(folder.join(name))
                .map(|t| t.trim_start_matches('\u{feff}').to_owned())
                .map_err(|e| ExecError::Setup(format!("{name}: {e}")))
        };
        Self::new(
            &read("tables.json")?,
            &read("__ScopeCodeGen__.dll.cs").unwrap_or_default(),
            seed,
        )
    }

    /// Runs a script.
    ///
    /// # Errors
    ///
    /// If it holds something outside the subset, or its SQL is refused (an unknown column, say).
    pub fn run(&self, script: &Script) -> Result<Outputs, ExecError> {
        translate::run(self, script)
    }

    /// Runs two versions of a script and returns their first difference.
    ///
    /// # Errors
    ///
    /// As [`World::run`].
    pub fn compare(&self, before: &Script, after: &Script) -> Result<Option<String>, ExecError> {
        Ok(difference(&self.run(before)?, &self.run(after)?))
    }
}

/// The first difference between two sets of outputs.
pub fn difference(before: &Outputs, after: &Outputs) -> Option<String> {
    let paths = |o: &Outputs| o.keys().cloned().collect::<Vec<_>>();
    if paths(before) != paths(after) {
        return Some(format!(
            "outputs {:?} became {:?}",
            paths(before),
            paths(after)
        ));
    }
    for (path, a) in before {
        let b = &after[path];
        if a.columns != b.columns {
            return Some(format!(
                "{path}: columns {:?} became {:?}",
                a.columns, b.columns
            ));
        }
        if a.rows.len() != b.rows.len() {
            return Some(format!(
                "{path}: {} rows became {}",
                a.rows.len(),
                b.rows.len()
            ));
        }
        if let Some((x, y)) = a.rows.iter().zip(&b.rows).find(|(x, y)| x != y) {
            return Some(format!("{path}: row {x:?} became {y:?}"));
        }
    }
    None
}
