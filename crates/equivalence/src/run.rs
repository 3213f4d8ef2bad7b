//! Runs the SQL of a script over generated rows, in memory and within bounds.

use std::cell::Cell as Counter;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, params_from_iter};

use crate::Unknown;
use crate::data::{Cell, Table};
use crate::difference::Rows;
use crate::functions::{Coverage, register};
use crate::kind::Column;
use crate::sql::quoted;
use crate::translate::{Program, Step};

/// Steps of SQLite's virtual machine for one run; a join of three tables takes a tenth.
const STEPS: u64 = 10_000_000;
/// Steps for all runs of a comparison: seconds.
const ALL_STEPS: u64 = 100_000_000;
/// How often steps are counted.
const COUNTED: u64 = 1000;
/// Pages of 4 KiB that the tables of a run take: 64 MiB.
const PAGES: u32 = 16_384;
/// Bytes of a value, and of a row.
const LONGEST: i32 = 65_536;
/// Bytes of a statement.
const LONGEST_SQL: i32 = 1_000_000;

/// Remaining SQLite steps for all runs of a comparison.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<AtomicU64>);

impl Budget {
    pub(crate) fn new() -> Budget {
        Budget(Arc::new(AtomicU64::new(ALL_STEPS)))
    }

    fn take(&self, steps: u64) -> bool {
        let left = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(steps)
            });
        left.is_ok()
    }
}

/// Coverage of a run.
#[derive(Debug, Default)]
pub(crate) struct Exercised {
    /// By step: whether the step found or made rows.
    pub(crate) steps: Vec<bool>,
}

/// Outcome of one run.
#[derive(Debug)]
pub(crate) enum Ran {
    Rows(Vec<Rows>),
    /// The script would fail on such rows.
    Fails(String),
    /// Rows are tied where the first ones are taken.
    Tied,
}

/// Runs a program over tables of generated rows.
pub(crate) fn run(
    program: &Program,
    tables: &BTreeMap<&str, (&[Column], Table)>,
    met: &Coverage,
    exercised: &mut Exercised,
    budget: &Budget,
) -> Result<Ran, Unknown> {
    match attempt(program, tables, met, exercised, budget) {
        Ok(ran) => Ok(ran),
        Err(Stopped::Unknown(why)) => Err(why),
        Err(Stopped::Fails(why)) => Ok(Ran::Fails(why)),
    }
}

enum Stopped {
    Unknown(Unknown),
    Fails(String),
}

impl From<rusqlite::Error> for Stopped {
    fn from(error: rusqlite::Error) -> Stopped {
        match error.sqlite_error_code() {
            Some(
                ErrorCode::OperationInterrupted
                | ErrorCode::DiskFull
                | ErrorCode::TooBig
                | ErrorCode::OutOfMemory,
            ) => Stopped::Unknown(Unknown::TooLarge),
            _ => Stopped::Fails(match error {
                rusqlite::Error::SqliteFailure(_, Some(why)) => why,
                other => other.to_string(),
            }),
        }
    }
}

fn attempt(
    program: &Program,
    tables: &BTreeMap<&str, (&[Column], Table)>,
    met: &Coverage,
    exercised: &mut Exercised,
    budget: &Budget,
) -> Result<Ran, Stopped> {
    let db = open(met, budget)?;
    for name in program.sources.keys() {
        if let Some((columns, rows)) = tables.get(name.as_str()) {
            fill(&db, name, columns, rows)?;
        }
    }
    exercised.steps.resize(program.steps.len(), false);
    for (step, found) in program.steps.iter().zip(&mut exercised.steps) {
        match step {
            Step::Make {
                table, sql, line, ..
            } => {
                prepared(&db, sql, *line)?;
                db.execute_batch(&format!("CREATE TABLE {table} AS {sql}"))?;
                *found |= any(&db, &format!("SELECT 1 FROM {table} LIMIT 1"), *line)?;
            }
            Step::Tied { sql } if any(&db, sql, 0)? => return Ok(Ran::Tied),
            Step::Tied { .. } => {}
            Step::Matches { sql, line, .. } => *found |= any(&db, sql, *line)?,
        }
    }
    let outputs: Result<Vec<Rows>, Stopped> = program
        .outputs
        .iter()
        .map(|output| {
            Ok(Rows {
                name: output.name.clone(),
                columns: output
                    .columns
                    .iter()
                    .map(|column| column.name.clone())
                    .collect(),
                rows: read(&db, &output.sql)?,
                order: output.order.clone(),
            })
        })
        .collect();
    Ok(Ran::Rows(outputs?))
}

fn open(met: &Coverage, budget: &Budget) -> Result<Connection, Stopped> {
    let mut db = Connection::open_in_memory()?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LENGTH, LONGEST),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL),
    ] {
        db.set_limit(limit, most)?;
    }
    db.execute_batch(&format!(
        "PRAGMA max_page_count = {PAGES}; PRAGMA temp_store = MEMORY;"
    ))?;
    register(&db, met)?;
    let (budget, taken) = (budget.clone(), Counter::new(0u64));
    let handler = move || {
        taken.set(taken.get() + COUNTED);
        taken.get() > STEPS || !budget.take(COUNTED)
    };
    db.progress_handler(COUNTED as i32, Some(handler))?;
    Ok(db)
}

/// Prepares SQL. If SQLite rejects it, that part of the script counts as not executed.
fn prepared<'c>(
    db: &'c Connection,
    sql: &str,
    line: u32,
) -> Result<rusqlite::Statement<'c>, Stopped> {
    db.prepare(sql)
        .map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::TooBig) => Stopped::Unknown(Unknown::TooLarge),
            _ => Stopped::Unknown(Unknown::NotExecuted {
                line,
                code: crate::unknown::excerpt(&error.to_string()),
            }),
        })
}

fn fill(db: &Connection, name: &str, columns: &[Column], rows: &Table) -> Result<(), Stopped> {
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let table = quoted(name);
    db.execute_batch(&format!("CREATE TABLE {table} ({})", names.join(", ")))?;
    let marks = vec!["?"; columns.len()].join(", ");
    let mut insert = db.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?;
    for row in rows {
        let values = row.iter().map(|cell| match cell {
            Cell::Null => Value::Null,
            Cell::Whole(n) => Value::Integer(*n),
            Cell::Real(x) => Value::Real(*x),
            Cell::Text(text) => Value::Text(text.clone()),
        });
        insert.execute(params_from_iter(values))?;
    }
    Ok(())
}

fn any(db: &Connection, sql: &str, line: u32) -> Result<bool, Stopped> {
    let mut statement = prepared(db, sql, line)?;
    Ok(statement.query([])?.next()?.is_some())
}

fn read(db: &Connection, sql: &str) -> Result<Vec<Vec<String>>, Stopped> {
    let mut statement = prepared(db, sql, 0)?;
    let columns = statement.column_count();
    let mut cursor = statement.query([])?;
    let mut rows = Vec::new();
    while let Some(row) = cursor.next()? {
        let values: rusqlite::Result<Vec<String>> =
            (0..columns).map(|at| row.get_ref(at).map(shown)).collect();
        rows.push(values?);
    }
    Ok(rows)
}

/// A value as text. Sums are rounded, because sums in another sequence differ in their last digits.
fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(x) if x.fract() == 0.0 && x.abs() < 1e15 => format!("{x:.0}"),
        ValueRef::Real(x) => format!("{x:.9e}"),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            format!("{:?}", String::from_utf8_lossy(text))
        }
    }
}
