//! Runs: started, finished, listed, shown, deleted.

use std::fs;

use report::{JobEngine, Language, Report};
use rusqlite::{Connection, Row, ToSql, TransactionBehavior, params};
use schemars::JsonSchema;
use serde::Serialize;

use super::error::UnknownRun;
use super::filter::{RunFilter, RunOrder};
use super::schema::LIST;
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

/// One line of the list of runs. MCP clients see the comment of each field.
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
    /// Who submitted the job.
    pub owner: Option<String>,
    /// File of the job's script.
    pub script: Option<String>,
    /// ISO week of submission, otherwise of analysis: `2026-W07`.
    pub week: Option<String>,
    /// Seconds from submission to end, or else of the run.
    pub elapsed_seconds: Option<f64>,
    /// Seconds that fixing all findings would save.
    pub avoidable_seconds: Option<f64>,
    /// Engine of the job; absent before the end.
    pub engine: Option<JobEngine>,
}

/// Possible filters of runs, with the number of runs of each, most runs first (weeks: newest first).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunFacets {
    pub causes: Vec<(String, u32)>,
    pub owners: Vec<(String, u32)>,
    pub weeks: Vec<(String, u32)>,
    pub scripts: Vec<(String, u32)>,
    /// The engine of all runs, if it is the same.
    pub engine: Option<JobEngine>,
}

/// Maximum values of a facet; a longer list would be unreadable.
const FACETS: usize = 200;

/// Newest runs among which a misspelled id is looked for.
const LOOKED_AT: usize = 200;

pub(super) const SELECT: &str = "SELECT run_id, job, job_name, question, status, verdict, problem_type, reasoner, model, created_at, finished_at, failure,
    findings, top_cause, owner, script, week, elapsed_seconds, avoidable_seconds, engine FROM runs";

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

    /// The runs that a filter selects.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let (condition, mut values) = filter.condition();
        let order = match filter.order {
            RunOrder::Newest => "created_at DESC",
            RunOrder::Avoidable => "avoidable_seconds DESC, created_at DESC",
        };
        let sql = format!("{SELECT}{condition} ORDER BY {order}, run_id DESC LIMIT ? OFFSET ?");
        let (limit, skip) = filter.part();
        values.extend([&limit as &dyn ToSql, &skip]);
        self.select(&sql, values.as_slice(), run_row)
    }

    /// Number of runs that a filter selects, without its limit.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count(&self, filter: &RunFilter) -> Result<u32, StoreError> {
        let (condition, values) = filter.condition();
        let sql = format!("SELECT count(*) FROM runs{condition}");
        let rows = self.select(&sql, values.as_slice(), |row| row.get(0))?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    /// Possible filters.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn facets(&self) -> Result<RunFacets, StoreError> {
        let facet = |sql: &str| {
            let sql = format!("{sql} LIMIT {FACETS}");
            self.select(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        };
        let of = |column: &str, order: &str| {
            facet(&format!(
                "SELECT {column}, count(*) FROM runs WHERE {column} IS NOT NULL GROUP BY {column} ORDER BY {order}"
            ))
        };
        let engines = "SELECT DISTINCT engine FROM runs WHERE engine IS NOT NULL LIMIT 2";
        let engines: Vec<Option<String>> = self.select(engines, [], |row| row.get(0))?;
        Ok(RunFacets {
            engine: match engines.as_slice() {
                [only] => engine(only.clone()),
                _ => None,
            },
            causes: facet(
                "SELECT cause, count(DISTINCT run_id) FROM findings GROUP BY cause ORDER BY 2 DESC, 1",
            )?,
            owners: of("owner", "2 DESC, 1")?,
            weeks: of("week", "1 DESC")?,
            scripts: of("script", "2 DESC, 1")?,
        })
    }

    /// The run with the identifier `prefix`, or with an identifier that starts with it. `last` is
    /// the newest finished run, `last~1` the one before it.
    ///
    /// # Errors
    /// If no run or several runs match.
    pub fn run(&self, prefix: &str) -> Result<RunRow, StoreError> {
        if let Some(back) = counted_from_last(prefix) {
            return self.nth_newest(back, prefix);
        }
        let wanted = prefix.to_ascii_uppercase();
        // No identifier has a character behind `~`.
        let sql =
            format!("{SELECT} WHERE run_id >= ?1 AND run_id < ?1 || '~' ORDER BY run_id LIMIT 100");
        let mut rows = self.select(&sql, params![wanted], run_row)?;
        match rows.len() {
            0 => Err(StoreError::UnknownRun(self.near(prefix)?)),
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

    /// A name that no run has, with the nearest id or beginning of an id.
    fn near(&self, asked: &str) -> Result<UnknownRun, StoreError> {
        let filter = RunFilter {
            limit: Some(LOOKED_AT),
            ..RunFilter::default()
        };
        let rows = self.runs(&filter)?;
        let ids = rows
            .iter()
            .map(|row| row.run_id.get(..asked.len()).unwrap_or(&row.run_id));
        Ok(UnknownRun::among(asked, ids.chain(["last"])))
    }

    fn nth_newest(&self, back: usize, asked: &str) -> Result<RunRow, StoreError> {
        // A run without a report counts only if no run has one.
        let nth = |condition| {
            let sql = format!(
                "{SELECT} {condition} ORDER BY created_at DESC, run_id DESC LIMIT 1 OFFSET ?1"
            );
            let back = i64::try_from(back).unwrap_or(i64::MAX);
            self.select(&sql, [back], run_row)
        };
        let mut newest = nth("WHERE status = 'finished'")?;
        if newest.is_empty() && back == 0 {
            newest = nth("")?;
        }
        let found = newest.into_iter().next();
        found.ok_or_else(|| StoreError::UnknownRun(asked.into()))
    }

    /// The report of a run; `None` if it has none.
    ///
    /// # Errors
    /// If there is no such run, or its report cannot be read.
    pub fn report(&self, prefix: &str) -> Result<Option<Report>, StoreError> {
        let run = self.run(prefix)?.run_id;
        let [report]: [_; 1] = self.texts("report", &run)?;
        let parsed = report.map(|text| serde_json::from_str(&text)).transpose();
        parsed.map_err(|source| StoreError::Report { run, source })
    }

    /// The summary of a run's job; `None` if the run has no report.
    ///
    /// # Errors
    /// If there is no such run, or its summary cannot be read.
    pub fn summary(&self, prefix: &str) -> Result<Option<RunSummary>, StoreError> {
        let run = self.run(prefix)?.run_id;
        let texts: [_; 3] = self.texts("summary, picture, shape", &run)?;
        let parsed = match texts {
            [Some(summary), ..] => serde_json::from_str(&summary).map(Some),
            [None, Some(picture), shape] => old::summary(&picture, shape.as_deref()).map(Some),
            [None, None, _] => Ok(None),
        };
        parsed.map_err(|source| StoreError::Report { run, source })
    }

    /// Columns of a run's documents; none has a text before the run has a report.
    fn texts<const N: usize>(
        &self,
        columns: &str,
        run_id: &str,
    ) -> Result<[Option<String>; N], StoreError> {
        let sql = format!("SELECT {columns} FROM documents WHERE run_id = ?1");
        let mut rows = self.select(&sql, [run_id], |row| {
            let mut texts = [const { None }; N];
            for (at, text) in texts.iter_mut().enumerate() {
                *text = row.get(at)?;
            }
            Ok(texts)
        })?;
        Ok(rows.pop().unwrap_or([const { None }; N]))
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

    /// Marks running runs as interrupted if their process is gone.
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
        "UPDATE runs SET status = ?2, finished_at = ?3, job_name = ?4, verdict = ?5, problem_type = ?6, reasoner = ?7, model = ?8, engine = ?9
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
            code(&report.job.engine)
        ],
    )?;
    transaction.execute(
        "INSERT OR REPLACE INTO documents (run_id, report, summary) VALUES (?1, ?2, ?3)",
        params![run_id, text, summary],
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
    let list = format!("{LIST} WHERE run_id = ?1");
    transaction.execute(&list, [run_id])?;
    transaction.commit()
}

/// The engine with a code.
pub(super) fn engine(code: Option<String>) -> Option<JobEngine> {
    serde_json::from_value(code?.into()).ok()
}

pub(super) fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
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
        owner: row.get(14)?,
        script: row.get(15)?,
        week: row.get(16)?,
        elapsed_seconds: row.get(17)?,
        avoidable_seconds: row.get(18)?,
        engine: engine(row.get(19)?),
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
