//! Jobs with reports outside of the store, listed with the same filters as runs.

use report::JobEngine;
use rusqlite::{Connection, Row, ToSql, params};

use super::runs::{SELECT, engine, run_row};
use super::{RunFilter, RunRow, Store, StoreError, database, schema};
use crate::code;

/// A job and what it is listed by. Its row's `run_id` is the key under which its report is kept.
#[derive(Debug, Clone)]
pub struct Listed {
    pub row: RunRow,
    pub findings: Vec<ListedFinding>,
}

#[derive(Debug, Clone)]
pub struct ListedFinding {
    pub cause: &'static str,
    pub severity: report::Severity,
    pub confidence: f64,
    /// Role of its stage, the same in all jobs with this script.
    pub role: Option<String>,
    /// Its part of the job's avoidable seconds.
    pub seconds: Option<f64>,
    /// Title of the best suggestion that fixes it.
    pub advice: Option<String>,
}

/// Findings that one change would fix: the same cause, in the same script, in stages that do the same.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterRow {
    pub cause: String,
    pub script: Option<String>,
    pub role: Option<String>,
    pub jobs: u32,
    /// Sum of the parts of avoidable seconds.
    pub seconds: Option<f64>,
    /// Key of the job with the costliest finding.
    pub costliest: String,
    /// Name of that job.
    pub name: String,
    /// What to do about its finding.
    pub advice: Option<String>,
    /// Engine of that job.
    pub engine: Option<JobEngine>,
}

impl Store {
    /// An empty store that is deleted when it is dropped; data beyond the memory limit is in a
    /// temporary file.
    ///
    /// # Errors
    /// If the system allows no temporary file.
    pub fn temporary() -> Result<Store, StoreError> {
        let path = std::env::temp_dir();
        let opened = Connection::open("").and_then(|mut connection| {
            schema::migrate(&mut connection)?;
            // Foreign keys have findings leave with a job that is listed anew.
            connection.execute_batch(
                "PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;
                 CREATE UNIQUE INDEX listed_once ON runs (job);",
            )?;
            Ok(connection)
        });
        Ok(Store {
            connection: opened.map_err(|e| database(&path, e))?,
            locks: path.clone(),
            path,
            refusal: None,
        })
    }

    /// Lists jobs; the row of a job that is listed already is replaced.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn list(&mut self, jobs: &[Listed]) -> Result<(), StoreError> {
        self.write(|connection| {
            let transaction = connection.transaction()?;
            for job in jobs {
                insert(&transaction, job)?;
            }
            transaction.commit()
        })
    }

    /// The row of a listed job.
    ///
    /// # Errors
    /// If it is not listed.
    pub fn listed(&self, key: &str) -> Result<RunRow, StoreError> {
        let sql = format!("{SELECT} WHERE run_id = ?1");
        let found = self.select(&sql, [key], run_row)?.pop();
        found.ok_or_else(|| StoreError::UnknownRun(key.into()))
    }

    /// The clusters of the jobs that a filter selects, most seconds first, in the part of the list that it names.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn clusters(&self, filter: &RunFilter) -> Result<Vec<ClusterRow>, StoreError> {
        let (condition, mut values) = filter.condition();
        let mut chosen = format!("f.run_id IN (SELECT run_id FROM runs{condition})");
        if let Some(cause) = &filter.cause {
            // Its jobs may have findings of other causes too.
            chosen += " AND f.cause = ?";
            values.push(cause);
        }
        let (limit, skip) = filter.part();
        values.extend([&limit as &dyn ToSql, &skip]);
        // Columns without an aggregate come from the row with the most seconds.
        let sql = format!(
            "SELECT f.cause, r.script, f.stage, count(DISTINCT f.run_id), sum(f.seconds_saved), f.run_id, coalesce(r.job_name, r.job),
                (SELECT title FROM suggestions s WHERE s.run_id = f.run_id AND s.finding = f.id LIMIT 1), r.engine, max(coalesce(f.seconds_saved, -1))
             FROM findings f JOIN runs r ON r.run_id = f.run_id WHERE {chosen}
             GROUP BY f.cause, r.script, f.stage ORDER BY 5 DESC, 4 DESC, 1, 2, 3 LIMIT ? OFFSET ?"
        );
        self.select(&sql, values.as_slice(), cluster_row)
    }
}

fn cluster_row(row: &Row<'_>) -> rusqlite::Result<ClusterRow> {
    Ok(ClusterRow {
        cause: row.get(0)?,
        script: row.get(1)?,
        role: row.get(2)?,
        jobs: row.get(3)?,
        seconds: row.get(4)?,
        costliest: row.get(5)?,
        name: row.get(6)?,
        advice: row.get(7)?,
        engine: engine(row.get(8)?),
    })
}

fn insert(connection: &Connection, job: &Listed) -> rusqlite::Result<()> {
    let row = &job.row;
    let sql = "INSERT OR REPLACE INTO runs (run_id, job, job_name, language, status, verdict, problem_type, created_at, failure, findings,
        top_cause, owner, script, week, elapsed_seconds, avoidable_seconds, engine)
        VALUES (?1, ?2, ?3, '', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
    connection.prepare_cached(sql)?.execute(params![
        row.run_id,
        row.job,
        row.job_name,
        code(&row.status),
        row.verdict,
        row.problem_type,
        row.created_at,
        row.failure,
        row.findings,
        row.top_cause,
        row.owner,
        row.script,
        row.week,
        row.elapsed_seconds,
        row.avoidable_seconds,
        code(&row.engine),
    ])?;
    let findings = "INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let suggestions = "INSERT INTO suggestions VALUES (?1, ?2, ?2, ?3, '', ?4, '')";
    for (at, f) in job.findings.iter().enumerate() {
        let id = format!("F{}", at + 1);
        let severity = code(&f.severity);
        let values = params![
            row.run_id,
            id,
            f.cause,
            f.role,
            severity,
            f.confidence,
            f.seconds
        ];
        connection.prepare_cached(findings)?.execute(values)?;
        if let Some(title) = &f.advice {
            let values = params![row.run_id, id, f.cause, title];
            connection.prepare_cached(suggestions)?.execute(values)?;
        }
    }
    Ok(())
}
