//! Feedback: users' decisions on suggestions.

use rusqlite::{Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Store, StoreError, runs::now};
use crate::code;

/// A user's decision on a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Accept,
    Ignore,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Feedback {
    pub action: Action,
    /// Id of the suggestion: `S1`.
    pub suggestion: String,
    /// Why, in the user's words.
    pub note: Option<String>,
    /// Seconds that it really saved.
    pub saved_seconds: Option<f64>,
}

/// Saved feedback with its suggestion. MCP clients see the comment of each field.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FeedbackRow {
    /// Identifier of the run.
    pub run_id: String,
    /// Id of the suggestion in the run: `S1`.
    pub suggestion: String,
    /// Whether it was accepted or ignored.
    pub action: Action,
    /// Cause that the suggestion addresses.
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
    /// Saves feedback; it replaces earlier feedback on the same suggestion.
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
        self.write(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute(
                "DELETE FROM feedback WHERE run_id = ?1 AND suggestion = ?2",
                params![run_id, feedback.suggestion],
            )?;
            transaction.execute(
                "INSERT INTO feedback (run_id, suggestion, action, note, saved_seconds, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![run_id, feedback.suggestion, code(&feedback.action), feedback.note, feedback.saved_seconds, now()],
            )?;
            transaction.commit()
        })?;
        let mut rows = self.select_feedback(
            "WHERE f.run_id = ?1 AND f.suggestion = ?2",
            &[&run_id, &feedback.suggestion],
        )?;
        rows.pop()
            .ok_or(StoreError::UnknownRun(run_id.as_str().into()))
    }

    /// Takes feedback on a suggestion back.
    ///
    /// # Errors
    /// If there is no such run or suggestion.
    pub fn undo_feedback(&mut self, prefix: &str, suggestion: &str) -> Result<(), StoreError> {
        let run_id = self.run(prefix)?.run_id;
        self.require_suggestion(&run_id, suggestion)?;
        self.execute(
            "DELETE FROM feedback WHERE run_id = ?1 AND suggestion = ?2",
            params![run_id, suggestion],
        )
    }

    /// All feedback, the oldest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn feedback(&self) -> Result<Vec<FeedbackRow>, StoreError> {
        self.select_feedback("", &[])
    }

    /// The feedback on one run.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn feedback_of(&self, prefix: &str) -> Result<Vec<FeedbackRow>, StoreError> {
        let run_id = self.run(prefix)?.run_id;
        self.select_feedback("WHERE f.run_id = ?1", &[&run_id])
    }

    fn require_suggestion(&self, run_id: &str, suggestion: &str) -> Result<(), StoreError> {
        let sql =
            "SELECT id FROM suggestions WHERE run_id = ?1 ORDER BY CAST(substr(id, 2) AS INTEGER)";
        let known: Vec<String> = self.select(sql, [run_id], |row| row.get(0))?;
        if known.iter().any(|id| id == suggestion) {
            return Ok(());
        }
        Err(StoreError::UnknownSuggestion {
            run: run_id.to_owned(),
            suggestion: suggestion.to_owned(),
            known: match known.as_slice() {
                [] => report::say!("无", "none"),
                ids => ids.join(", "),
            },
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
        self.select(&sql, values, feedback_row)
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
