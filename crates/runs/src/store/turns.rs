//! Questions about saved runs, with their answers.

use report::{Evidence, ReasonerKind};
use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Store, StoreError};

/// One question about a run with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub question: String,
    pub text: String,
    /// Evidence that the text cites.
    pub evidence: Vec<Evidence>,
    /// `offline` or `llm`.
    pub reasoner: ReasonerKind,
    /// RFC 3339, UTC.
    pub created_at: String,
}

impl Store {
    /// The conversation about a run, oldest question first.
    ///
    /// # Errors
    /// If there is no such run, or a turn cannot be read.
    pub fn turns(&self, prefix: &str) -> Result<Vec<Turn>, StoreError> {
        let run = self.run(prefix)?.run_id;
        let sql = "SELECT turn FROM turns WHERE run_id = ?1 ORDER BY id";
        let texts: Vec<String> = self.select(sql, [&run], |row| row.get(0))?;
        let parsed = texts.iter().map(|text| serde_json::from_str(text));
        let parsed: Result<Vec<Turn>, _> = parsed.collect();
        parsed.map_err(|source| StoreError::Report { run, source })
    }

    /// Saves a question about a run with its answer.
    ///
    /// # Errors
    /// If there is no such run, or the store cannot be written.
    pub fn add_turn(&self, prefix: &str, turn: &Turn) -> Result<(), StoreError> {
        let run = self.run(prefix)?.run_id;
        let text = serde_json::to_string(turn).map_err(|source| StoreError::Report {
            run: run.clone(),
            source,
        })?;
        self.execute(
            "INSERT INTO turns (run_id, turn) VALUES (?1, ?2)",
            params![run, text],
        )
    }
}
