//! Runs: begun, finished, listed, shown, deleted.

use std::fs::{self, File, TryLockError};

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{OpenRun, Store, StoreError};
use crate::picture::Picture;
use crate::shape::JobShape;
use report::{Language, Report};

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Under way.
    Running,
    /// It has a report.
    Finished,
    /// It was stopped or killed; a stopped one may have a partial report.
    Interrupted,
    /// It ended with an error.
    Failed,
}

impl RunStatus {
    fn code(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Finished => "finished",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Failed => "failed",
        }
    }

    fn from_code(code: &str) -> RunStatus {
        match code {
            "running" => RunStatus::Running,
            "finished" => RunStatus::Finished,
            "failed" => RunStatus::Failed,
            _ => RunStatus::Interrupted,
        }
    }
}

/// One line of the list of runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunRow {
    /// Identifier.
    pub run_id: String,
    /// Job folder as given.
    pub job: String,
    /// Name of the job, where its files tell.
    pub job_name: Option<String>,
    /// What was asked.
    pub question: Option<String>,
    /// How far it got.
    pub status: RunStatus,
    /// Verdict; `None` before the end.
    pub verdict: Option<String>,
    /// Class of the top finding.
    pub problem_type: Option<String>,
    /// Cause of the top finding.
    pub top_cause: Option<String>,
    /// Number of findings.
    pub findings: u32,
    /// `offline` or `llm`.
    pub reasoner: Option<String>,
    /// Model of the LLM.
    pub model: Option<String>,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub finished_at: Option<String>,
    /// Why it failed.
    pub failure: Option<String>,
}

/// Which runs to list.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only runs of job folders or names that contain this.
    pub job: Option<String>,
    /// At most so many, the newest first; `None` for all.
    pub limit: Option<usize>,
}

const SELECT: &str = "SELECT run_id, job, job_name, question, status, verdict, problem_type, reasoner, model, created_at, finished_at, failure,
    (SELECT count(*) FROM findings f WHERE f.run_id = runs.run_id),
    (SELECT cause FROM findings f WHERE f.run_id = runs.run_id ORDER BY CAST(substr(id, 2) AS INTEGER) LIMIT 1)
    FROM runs";

impl Store {
    /// Notes that a run begins.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn begin(
        &self,
        run_id: &str,
        job: &str,
        question: Option<&str>,
        language: Language,
    ) -> Result<OpenRun, StoreError> {
        let lock_path = self.lock_path(run_id);
        let folder = |source| StoreError::Folder {
            path: lock_path.clone(),
            source,
        };
        let lock = File::create(&lock_path).map_err(folder)?;
        lock.lock().map_err(folder)?;
        self.connection
            .execute(
                "INSERT INTO runs (run_id, job, question, language, status, created_at) VALUES (?1, ?2, ?3, ?4, 'running', ?5)",
                params![run_id, job, question, language.code(), now()],
            )
            .map_err(|e| self.database(e))?;
        Ok(OpenRun {
            run_id: run_id.to_owned(),
            lock,
            lock_path,
        })
    }

    /// Stores the report of a run, what can be drawn of its job, and what it is compared by; a
    /// partial report leaves the run `interrupted`.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn finish(
        &mut self,
        run: OpenRun,
        report: &Report,
        picture: &Picture,
        shape: &JobShape,
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        let stored = store_report(&mut self.connection, &run.run_id, report, picture, shape);
        stored.map_err(|source| StoreError::Database { path, source })?;
        run.close();
        Ok(())
    }

    /// Notes that a run ended with an error.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn fail(&self, run: OpenRun, reason: &str) -> Result<(), StoreError> {
        self.connection
            .execute(
                "UPDATE runs SET status = 'failed', failure = ?2, finished_at = ?3 WHERE run_id = ?1",
                params![run.run_id, reason, now()],
            )
            .map_err(|e| self.database(e))?;
        run.close();
        Ok(())
    }

    /// Runs, the newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let sql = format!(
            "{SELECT} WHERE ?1 IS NULL OR instr(job, ?1) > 0 OR instr(coalesce(job_name, ''), ?1) > 0
             ORDER BY created_at DESC, run_id DESC LIMIT ?2"
        );
        let limit = filter
            .limit
            .map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
        let mut statement = self
            .connection
            .prepare(&sql)
            .map_err(|e| self.database(e))?;
        let rows = statement
            .query_map(params![filter.job, limit], run_row)
            .map_err(|e| self.database(e))?;
        rows.collect::<rusqlite::Result<_>>()
            .map_err(|e| self.database(e))
    }

    /// The run whose identifier is, or begins with, `prefix`. `last` is the newest one, `last~1`
    /// the one before it.
    ///
    /// # Errors
    /// If there is none, or several begin so.
    pub fn run(&self, prefix: &str) -> Result<RunRow, StoreError> {
        if let Some(back) = counted_from_last(prefix) {
            return self.nth_newest(back, prefix);
        }
        let wanted = prefix.to_ascii_uppercase();
        let sql =
            format!("{SELECT} WHERE substr(run_id, 1, length(?1)) = ?1 ORDER BY run_id LIMIT 100");
        let mut statement = self
            .connection
            .prepare(&sql)
            .map_err(|e| self.database(e))?;
        let rows = statement
            .query_map(params![wanted], run_row)
            .map_err(|e| self.database(e))?;
        let mut rows: Vec<RunRow> = rows
            .collect::<rusqlite::Result<_>>()
            .map_err(|e| self.database(e))?;
        match rows.len() {
            0 => Err(StoreError::UnknownRun(prefix.to_owned())),
            1 => Ok(rows.remove(0)),
            count => match rows.iter().position(|r| r.run_id == wanted) {
                Some(at) => Ok(rows.remove(at)),
                None => Err(StoreError::AmbiguousRun {
                    prefix: prefix.to_owned(),
                    count,
                }),
            },
        }
    }

    fn nth_newest(&self, back: usize, asked: &str) -> Result<RunRow, StoreError> {
        let newest = self.runs(&RunFilter {
            job: None,
            limit: Some(back.saturating_add(1)),
        })?;
        let found = newest.into_iter().nth(back);
        found.ok_or_else(|| StoreError::UnknownRun(asked.to_owned()))
    }

    /// The stored report of a run; `None` if it has none.
    ///
    /// # Errors
    /// If there is no such run, or its report cannot be read.
    pub fn report(&self, prefix: &str) -> Result<Option<Report>, StoreError> {
        self.stored(prefix, "SELECT report FROM runs WHERE run_id = ?1")
    }

    /// What can be drawn of the job of a run; `None` if it has no report.
    ///
    /// # Errors
    /// If there is no such run, or what is stored cannot be read.
    pub fn picture(&self, prefix: &str) -> Result<Option<Picture>, StoreError> {
        self.stored(prefix, "SELECT picture FROM runs WHERE run_id = ?1")
    }

    /// What a run is compared by; `None` if it has no report, or an older program kept it.
    ///
    /// # Errors
    /// If there is no such run, or what is stored cannot be read.
    pub fn shape(&self, prefix: &str) -> Result<Option<JobShape>, StoreError> {
        self.stored(prefix, "SELECT shape FROM runs WHERE run_id = ?1")
    }

    fn stored<T: DeserializeOwned>(
        &self,
        prefix: &str,
        sql: &str,
    ) -> Result<Option<T>, StoreError> {
        let run_id = self.run(prefix)?.run_id;
        let text: Option<String> = self
            .connection
            .query_row(sql, [&run_id], |row| row.get(0))
            .optional()
            .map_err(|e| self.database(e))?
            .flatten();
        text.map(|text| {
            serde_json::from_str(&text).map_err(|source| StoreError::Report {
                run: run_id,
                source,
            })
        })
        .transpose()
    }

    /// Deletes a run with all that hangs on it.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn delete(&self, prefix: &str) -> Result<RunRow, StoreError> {
        let row = self.run(prefix)?;
        self.connection
            .execute("DELETE FROM runs WHERE run_id = ?1", [&row.run_id])
            .map_err(|e| self.database(e))?;
        // The lock file of an interrupted run has served.
        let _ = fs::remove_file(self.lock_path(&row.run_id));
        Ok(row)
    }

    /// Marks runs as interrupted whose process is gone.
    pub(super) fn mark_interrupted(&self) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare("SELECT run_id FROM runs WHERE status = 'running'")
            .map_err(|e| self.database(e))?;
        let running: Vec<String> = statement
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(|e| self.database(e))?;
        for run_id in running.iter().filter(|id| !self.is_held(id)) {
            self.connection
                .execute(
                    "UPDATE runs SET status = 'interrupted', finished_at = ?2 WHERE run_id = ?1 AND status = 'running'",
                    params![run_id, now()],
                )
                .map_err(|e| self.database(e))?;
            let _ = fs::remove_file(self.lock_path(run_id));
        }
        Ok(())
    }

    /// Whether a process still holds the lock of a run.
    fn is_held(&self, run_id: &str) -> bool {
        match File::open(self.lock_path(run_id)) {
            Ok(file) => matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
            Err(_) => false,
        }
    }
}

fn store_report(
    connection: &mut Connection,
    run_id: &str,
    report: &Report,
    picture: &Picture,
    shape: &JobShape,
) -> rusqlite::Result<()> {
    let status = if report.partial {
        RunStatus::Interrupted
    } else {
        RunStatus::Finished
    };
    let unwritable = |e| rusqlite::Error::ToSqlConversionFailure(Box::new(e));
    let text = serde_json::to_string(report).map_err(unwritable)?;
    let drawn = serde_json::to_string(picture).map_err(unwritable)?;
    let shape = serde_json::to_string(shape).map_err(unwritable)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute(
        "UPDATE runs SET status = ?2, finished_at = ?3, job_name = ?4, verdict = ?5, problem_type = ?6, reasoner = ?7, model = ?8, report = ?9, picture = ?10, shape = ?11
         WHERE run_id = ?1",
        params![
            run_id,
            status.code(),
            now(),
            report.job.name,
            code(&report.verdict),
            code(&report.problem_type),
            code(&report.engine.reasoner),
            report.engine.model,
            text,
            drawn,
            shape
        ],
    )?;
    for f in &report.findings {
        transaction.execute(
            "INSERT OR REPLACE INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                run_id,
                f.id,
                f.cause.code(),
                f.stage,
                code(&f.severity),
                f.confidence,
                f.impact.as_ref().map(|i| i.seconds_saved)
            ],
        )?;
    }
    for s in &report.suggestions {
        let cause = s
            .finding
            .as_ref()
            .and_then(|id| report.findings.iter().find(|f| f.id == *id))
            .map(|f| f.cause.code());
        transaction.execute(
            "INSERT OR REPLACE INTO suggestions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                run_id,
                s.id,
                s.finding,
                cause,
                code(&s.kind),
                s.title,
                s.sources.join("\n")
            ],
        )?;
    }
    for e in &report.experiences {
        transaction.execute(
            "INSERT OR REPLACE INTO experiences VALUES (?1, ?2, ?3, ?4, ?5)",
            params![run_id, e.step, e.rank, e.chunk, e.score],
        )?;
    }
    for (position, step) in report.steps.iter().enumerate() {
        transaction.execute(
            "INSERT OR REPLACE INTO steps VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                run_id,
                number(position),
                step.id,
                step.text,
                step.conclusion.to_string(),
                number(step.tokens_in),
                number(step.tokens_out),
                step.elapsed_ms
            ],
        )?;
    }
    transaction.commit()
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        run_id: row.get(0)?,
        job: row.get(1)?,
        job_name: row.get(2)?,
        question: row.get(3)?,
        status: RunStatus::from_code(&row.get::<_, String>(4)?),
        verdict: row.get(5)?,
        problem_type: row.get(6)?,
        reasoner: row.get(7)?,
        model: row.get(8)?,
        created_at: row.get(9)?,
        finished_at: row.get(10)?,
        failure: row.get(11)?,
        findings: row.get(12)?,
        top_cause: row.get(13)?,
    })
}

/// How many runs back `last` and `last~N` point; `None` for identifiers, which hold no `l`.
fn counted_from_last(text: &str) -> Option<usize> {
    match text.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// A count as SQLite stores it.
fn number(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// The name under which an enum of the contract stands in reports.
fn code(value: &impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(code)) => Some(code),
        _ => None,
    }
}

pub(super) fn now() -> String {
    // Always six decimals, so that texts sort as times do.
    format!("{:.6}", jiff::Timestamp::now())
}
