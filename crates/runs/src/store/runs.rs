//! Runs: started, finished, listed, shown, deleted.

use std::fs;

use report::{Language, Report};
use rusqlite::{Connection, Row, TransactionBehavior, params};
use schemars::JsonSchema;
use serde::Serialize;

use super::{OpenRun, Store, StoreError, lock, old};
use crate::{RunSummary, code};

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Running,
    /// It has a report.
    Finished,
    /// It was stopped or killed; a stopped one may have a partial report.
    Interrupted,
    Failed,
}

impl RunStatus {
    fn from_code(code: &str) -> RunStatus {
        match code {
            "running" => RunStatus::Running,
            "finished" => RunStatus::Finished,
            "failed" => RunStatus::Failed,
            _ => RunStatus::Interrupted,
        }
    }
}

/// One line of the list of runs. MCP clients see what is said about each field.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunRow {
    /// Identifier of the run.
    pub run_id: String,
    /// Job folder as given.
    pub job: String,
    /// Name of the job, if its files have one.
    pub job_name: Option<String>,
    /// The question asked about the job.
    pub question: Option<String>,
    /// How far the run got.
    pub status: RunStatus,
    /// Verdict; absent before the end.
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

#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only runs whose job folder or name contains this.
    pub job: Option<String>,
    /// At most this many, the newest first; `None` for all.
    pub limit: Option<usize>,
}

const SELECT: &str = "SELECT run_id, job, job_name, question, status, verdict, problem_type, reasoner, model, created_at, finished_at, failure,
    (SELECT count(*) FROM findings f WHERE f.run_id = runs.run_id),
    (SELECT cause FROM findings f WHERE f.run_id = runs.run_id ORDER BY CAST(substr(id, 2) AS INTEGER) LIMIT 1)
    FROM runs";

impl Store {
    /// Records that a run starts.
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
        self.check_writable()?;
        let run = OpenRun::begin(&self.locks, run_id).map_err(|source| StoreError::Folder {
            path: self.locks.clone(),
            source,
        })?;
        let inserted = self.execute(
            "INSERT INTO runs (run_id, job, question, language, status, created_at) VALUES (?1, ?2, ?3, ?4, 'running', ?5)",
            params![run_id, job, question, language.code(), now()],
        );
        match inserted {
            Ok(()) => Ok(run),
            Err(error) => {
                run.close();
                Err(error)
            }
        }
    }

    /// Saves the report of a run and the summary of its job; a partial report leaves the run
    /// `interrupted`.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn finish(
        &mut self,
        run: OpenRun,
        report: &Report,
        summary: &RunSummary,
    ) -> Result<(), StoreError> {
        self.write(|connection| save(connection, &run.run_id, report, summary))?;
        run.close();
        Ok(())
    }

    /// Records that a run ended with an error.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn fail(&self, run: OpenRun, reason: &str) -> Result<(), StoreError> {
        self.execute(
            "UPDATE runs SET status = 'failed', failure = ?2, finished_at = ?3 WHERE run_id = ?1",
            params![run.run_id, reason, now()],
        )?;
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
        let limit = filter.limit.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let limit = limit.unwrap_or(-1);
        self.select(&sql, params![filter.job, limit], run_row)
    }

    /// The run whose identifier is `prefix` or starts with it. `last` is the newest run, `last~1`
    /// the one before it.
    ///
    /// # Errors
    /// If no run or several runs match.
    pub fn run(&self, prefix: &str) -> Result<RunRow, StoreError> {
        if let Some(back) = counted_from_last(prefix) {
            return self.nth_newest(back, prefix);
        }
        let wanted = prefix.to_ascii_uppercase();
        let sql =
            format!("{SELECT} WHERE substr(run_id, 1, length(?1)) = ?1 ORDER BY run_id LIMIT 100");
        let mut rows = self.select(&sql, params![wanted], run_row)?;
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

    /// The report of a run; `None` if it has none.
    ///
    /// # Errors
    /// If there is no such run, or its report cannot be read.
    pub fn report(&self, prefix: &str) -> Result<Option<Report>, StoreError> {
        let run = self.run(prefix)?.run_id;
        let [report]: [_; 1] = self.texts("SELECT report FROM runs WHERE run_id = ?1", &run)?;
        let parsed = report.map(|text| serde_json::from_str(&text)).transpose();
        parsed.map_err(|source| StoreError::Report { run, source })
    }

    /// The summary of a run's job; `None` if the run has no report.
    ///
    /// # Errors
    /// If there is no such run, or its summary cannot be read.
    pub fn summary(&self, prefix: &str) -> Result<Option<RunSummary>, StoreError> {
        let run = self.run(prefix)?.run_id;
        let columns = "SELECT summary, picture, shape FROM runs WHERE run_id = ?1";
        let texts: [_; 3] = self.texts(columns, &run)?;
        let parsed = match texts {
            [Some(summary), ..] => serde_json::from_str(&summary).map(Some),
            [None, Some(picture), shape] => old::summary(&picture, shape.as_deref()).map(Some),
            [None, None, _] => Ok(None),
        };
        parsed.map_err(|source| StoreError::Report { run, source })
    }

    /// The text columns of one run.
    fn texts<const N: usize>(
        &self,
        sql: &str,
        run_id: &str,
    ) -> Result<[Option<String>; N], StoreError> {
        let mut rows = self.select(sql, [run_id], |row| {
            let mut texts = [const { None }; N];
            for (at, text) in texts.iter_mut().enumerate() {
                *text = row.get(at)?;
            }
            Ok(texts)
        })?;
        let row = rows.pop();
        row.ok_or_else(|| StoreError::UnknownRun(run_id.to_owned()))
    }

    /// Deletes a run with its findings, suggestions and feedback.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn delete(&self, prefix: &str) -> Result<RunRow, StoreError> {
        let row = self.run(prefix)?;
        self.execute("DELETE FROM runs WHERE run_id = ?1", [&row.run_id])?;
        // An interrupted run may have left its lock file.
        let _ = fs::remove_file(lock::path(&self.locks, &row.run_id));
        Ok(row)
    }

    /// Marks runs whose process is gone as interrupted.
    pub(super) fn mark_interrupted(&self) -> Result<(), StoreError> {
        let sql = "SELECT run_id FROM runs WHERE status = 'running'";
        let running: Vec<String> = self.select(sql, [], |row| row.get(0))?;
        let lock_of = |run_id: &String| lock::path(&self.locks, run_id);
        for run_id in running.iter().filter(|id| !lock::is_held(&lock_of(id))) {
            self.execute(
                "UPDATE runs SET status = 'interrupted', finished_at = ?2 WHERE run_id = ?1 AND status = 'running'",
                params![run_id, now()],
            )?;
        }
        Ok(())
    }
}

fn save(
    connection: &mut Connection,
    run_id: &str,
    report: &Report,
    summary: &RunSummary,
) -> rusqlite::Result<()> {
    let status = match report.partial {
        true => RunStatus::Interrupted,
        false => RunStatus::Finished,
    };
    let unwritable = |e| rusqlite::Error::ToSqlConversionFailure(Box::new(e));
    let text = serde_json::to_string(report).map_err(unwritable)?;
    let summary = serde_json::to_string(summary).map_err(unwritable)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute(
        "UPDATE runs SET status = ?2, finished_at = ?3, job_name = ?4, verdict = ?5, problem_type = ?6, reasoner = ?7, model = ?8, report = ?9, summary = ?10
         WHERE run_id = ?1",
        params![
            run_id,
            code(&status),
            now(),
            report.job.name,
            code(&report.verdict),
            code(&report.problem_type),
            code(&report.engine.reasoner),
            report.engine.model,
            text,
            summary
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
        let mut findings = report.findings.iter();
        let finding = findings.find(|f| Some(&f.id) == s.finding.as_ref());
        let cause = finding.map(|f| f.cause.code());
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

pub(super) fn now() -> String {
    // Always six decimals, so that texts sort as times do.
    format!("{:.6}", jiff::Timestamp::now())
}
