//! The run store: one SQLite file with every run, its findings and suggestions, and the feedback on
//! them.
//!
//! Several processes may use it concurrently (WAL). A run holds a lock file while it is in progress;
//! a run that is `running` without a held lock was killed, and the next process that opens the store
//! marks it `interrupted`.

mod feedback;
mod old;
mod runs;
mod schema;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Params, Row};

pub use feedback::{Action, Feedback, FeedbackRow};
pub use runs::{RunFilter, RunRow, RunStatus};

/// Name of the file in the data folder.
pub const FILE_NAME: &str = "runs.sqlite";

/// How long a writer waits for another. Writes take milliseconds; after a minute the other process is stuck.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("`{}` cannot be written", .path.display())]
    Folder {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the run store `{}` failed", .path.display())]
    Database {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("the run store `{}` has version {found}; this program knows versions up to {known}", .path.display())]
    TooNew {
        path: PathBuf,
        found: u32,
        known: u32,
    },
    #[error("there is no run `{0}`")]
    UnknownRun(String),
    #[error("`{prefix}` matches {count} runs")]
    AmbiguousRun { prefix: String, count: usize },
    #[error("run `{run}` has no suggestion `{suggestion}`; it has {known}")]
    UnknownSuggestion {
        run: String,
        suggestion: String,
        known: String,
    },
    #[error("the report of run `{run}` cannot be read")]
    Report {
        run: String,
        source: serde_json::Error,
    },
}

impl StoreError {
    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::Folder { .. } => {
                "choose another data folder (`data` in the configuration), or fix its permissions"
            }
            StoreError::Database { .. } => {
                "if the file is damaged, move it away; the next run creates a new one"
            }
            StoreError::TooNew { .. } => "use the newer program, or another data folder",
            StoreError::UnknownRun(_) | StoreError::AmbiguousRun { .. } => {
                "`scopeagent runs list` lists all runs"
            }
            StoreError::UnknownSuggestion { .. } => {
                "`scopeagent runs show RUN` shows its suggestions"
            }
            StoreError::Report { .. } => "delete the run with `scopeagent runs delete RUN`",
        }
    }
}

pub struct Store {
    connection: Connection,
    path: PathBuf,
    locks: PathBuf,
}

/// A run in progress. If it is dropped unfinished, the run is later marked `interrupted`.
#[derive(Debug)]
pub struct OpenRun {
    pub run_id: String,
    lock: File,
    lock_path: PathBuf,
}

impl OpenRun {
    fn close(self) {
        drop(self.lock);
        // A lock file that cannot be removed now is removed with its run.
        let _ = fs::remove_file(&self.lock_path);
    }
}

impl Store {
    /// Opens the store in a data folder. Creates what is missing, and migrates an older file.
    ///
    /// # Errors
    /// If folder or file cannot be written, or a newer program wrote the file.
    pub fn open(data: &Path) -> Result<Store, StoreError> {
        let locks = data.join("running");
        let path = data.join(FILE_NAME);
        fs::create_dir_all(&locks).map_err(|source| StoreError::Folder {
            path: locks.clone(),
            source,
        })?;
        let connection = Connection::open(&path).map_err(|e| database(&path, e))?;
        let mut store = Store {
            connection,
            path,
            locks,
        };
        store.prepare()?;
        store.mark_interrupted()?;
        Ok(store)
    }

    /// Switches to WAL and migrates, one process at a time: SQLite does not wait for another
    /// process that switches at the same moment, whatever the busy timeout.
    fn prepare(&mut self) -> Result<(), StoreError> {
        let gate = self.locks.join("open.lock");
        let held = File::create(&gate).and_then(|file| file.lock().map(|()| file));
        let _held = held.map_err(|source| StoreError::Folder { path: gate, source })?;
        let found = self.write(|connection| {
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "foreign_keys", "ON")?;
            schema::migrate(connection)
        })?;
        if found > schema::VERSION {
            return Err(StoreError::TooNew {
                path: self.path.clone(),
                found,
                known: schema::VERSION,
            });
        }
        Ok(())
    }

    fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(&mut self.connection).map_err(|source| database(&self.path, source))
    }

    fn execute(&self, sql: &str, values: impl Params) -> Result<(), StoreError> {
        let done = self.connection.execute(sql, values);
        done.map(drop).map_err(|e| database(&self.path, e))
    }

    fn select<T>(
        &self,
        sql: &str,
        values: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || {
            let mut statement = self.connection.prepare(sql)?;
            statement
                .query_map(values, row)?
                .collect::<rusqlite::Result<_>>()
        };
        rows().map_err(|e| database(&self.path, e))
    }

    fn lock_path(&self, run_id: &str) -> PathBuf {
        self.locks.join(format!("{run_id}.lock"))
    }
}

fn database(path: &Path, source: rusqlite::Error) -> StoreError {
    StoreError::Database {
        path: path.to_owned(),
        source,
    }
}
