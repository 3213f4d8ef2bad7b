//! What people thought of suggestions.

use rusqlite::{Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Store, StoreError, runs::now};

/// What somebody did with a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It was taken.
    Accept,
    /// It was not.
    Ignore,
}

impl Action {
    fn code(self) -> &'static str {
        match self {
            Action::Accept => "accept",
            Action::Ignore => "ignore",
        }
    }
}

/// One opinion to store.
#[derive(Debug, Clone, PartialEq)]
pub struct Feedback {
    /// What was done.
    pub action: Action,
    /// Id of the suggestion: `S1`.
    pub suggestion: String,
    /// Why, in the user's words.
    pub note: Option<String>,
    /// Seconds that it really saved.
    pub saved_seconds: Option<f64>,
}

/// One stored opinion with what it was about.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FeedbackRow {
    /// The run.
    pub run_id: String,
    /// Id of the suggestion in it.
    pub suggestion: String,
    /// What was done.
    pub action: Action,
    /// Cause that the suggestion was to mend.
    pub cause: Option<String>,
    /// Kind of the suggestion.
    pub kind: String,
    /// Chunks that supported it.
    pub sources: Vec<String>,
    /// Why, in the user's words.
    pub note: Option<String>,
    /// Seconds that it really saved.
    pub saved_seconds: Option<f64>,
    /// RFC 3339, UTC.
    pub created_at: String,
}

impl Store {
    /// Stores an opinion; a later one about the same suggestion replaces it.
    ///
    /// # Errors
    /// If there is no such run or suggestion.
    pub fn give_feedback(
        &mut self,
        prefix: &str,
        feedback: &Feedback,
    ) -> Result<FeedbackRow, StoreError> {
        let run_id = self.run(prefix)?.run_id;
        self.require_suggestion(&run_id, &feedback.suggestion)?;
        let path = self.path.clone();
        let stored = (|| {
            let transaction = self.connection.transaction()?;
            transaction.execute(
                "DELETE FROM feedback WHERE run_id = ?1 AND suggestion = ?2",
                params![run_id, feedback.suggestion],
            )?;
            transaction.execute(
                "INSERT INTO feedback (run_id, suggestion, action, note, saved_seconds, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![run_id, feedback.suggestion, feedback.action.code(), feedback.note, feedback.saved_seconds, now()],
            )?;
            transaction.commit()
        })();
        stored.map_err(|source| StoreError::Database { path, source })?;
        let mut rows = self.select_feedback(
            "WHERE f.run_id = ?1 AND f.suggestion = ?2",
            &[&run_id, &feedback.suggestion],
        )?;
        rows.pop().ok_or(StoreError::UnknownRun(run_id))
    }

    /// Every opinion, the oldest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn feedback(&self) -> Result<Vec<FeedbackRow>, StoreError> {
        self.select_feedback("", &[])
    }

    /// The opinions about one run.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn feedback_of(&self, prefix: &str) -> Result<Vec<FeedbackRow>, StoreError> {
        let run_id = self.run(prefix)?.run_id;
        self.select_feedback("WHERE f.run_id = ?1", &[&run_id])
    }

    fn require_suggestion(&self, run_id: &str, suggestion: &str) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare("SELECT id FROM suggestions WHERE run_id = ?1 ORDER BY CAST(substr(id, 2) AS INTEGER)")
            .map_err(|e| self.database(e))?;
        let known: Vec<String> = statement
            .query_map([run_id], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(|e| self.database(e))?;
        if known.iter().any(|id| id == suggestion) {
            return Ok(());
        }
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        Err(StoreError::UnknownSuggestion {
            run: run_id.to_owned(),
            suggestion: suggestion.to_owned(),
            known,
        })
    }

    fn select_feedback(
        &self,
        condition: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<FeedbackRow>, StoreError> {
        let sql = format!(
            "SELECT f.run_id, f.suggestion, f.action, s.cause, s.kind, s.sources, f.note, f.saved_seconds, f.created_at
             FROM feedback f JOIN suggestions s ON s.run_id = f.run_id AND s.id = f.suggestion {condition} ORDER BY f.id"
        );
        let mut statement = self
            .connection
            .prepare(&sql)
            .map_err(|e| self.database(e))?;
        let rows = statement
            .query_map(values, feedback_row)
            .map_err(|e| self.database(e))?;
        rows.collect::<rusqlite::Result<_>>()
            .map_err(|e| self.database(e))
    }
}

fn feedback_row(row: &Row<'_>) -> rusqlite::Result<FeedbackRow> {
    let action = match row.get::<_, String>(2)?.as_str() {
        "accept" => Action::Accept,
        _ => Action::Ignore,
    };
    Ok(FeedbackRow {
        run_id: row.get(0)?,
        suggestion: row.get(1)?,
        action,
        cause: row.get(3)?,
        kind: row.get(4)?,
        sources: row
            .get::<_, String>(5)?
            .lines()
            .map(str::to_owned)
            .collect(),
        note: row.get(6)?,
        saved_seconds: row.get(7)?,
        created_at: row.get(8)?,
    })
}
