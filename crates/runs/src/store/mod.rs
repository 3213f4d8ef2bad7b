//! The run store: one SQLite file with every run, what it found, what was shown, and what people
//! thought of it.
//!
//! Several processes may use it at once (WAL). A run holds a lock file while it is under way; a run
//! that is `running` without a held lock was killed and is marked `interrupted` by whoever looks
//! next. Knows nothing of how reports come about or look.

mod feedback;
mod runs;
mod schema;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

pub use feedback::{Action, Feedback, FeedbackRow};
pub use runs::{RunFilter, RunRow, RunStatus};

/// Name of the file in the data folder.
pub const FILE_NAME: &str = "runs.sqlite";

/// How long a writer waits for another. Writes take milliseconds; a minute of waiting means a stuck process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder cannot be made or written.
    #[error("`{}` cannot be written", .path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// SQLite refuses.
    #[error("the run store `{}` failed", .path.display())]
    Database {
        /// The store's file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A newer program made the store.
    #[error("the run store `{}` has version {found}; this program knows versions up to {known}", .path.display())]
    TooNew {
        /// The store's file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The last version known here.
        known: u32,
    },
    /// No such run.
    #[error("there is no run `{0}`")]
    UnknownRun(String),
    /// Several runs begin so.
    #[error("`{prefix}` is the beginning of {count} runs")]
    AmbiguousRun {
        /// What was given.
        prefix: String,
        /// How many runs begin so.
        count: usize,
    },
    /// The run has no such suggestion.
    #[error("run `{run}` has no suggestion `{suggestion}`; it has {known}")]
    UnknownSuggestion {
        /// The run.
        run: String,
        /// What was given.
        suggestion: String,
        /// Those it has.
        known: String,
    },
    /// A stored report cannot be read.
    #[error("the report of run `{run}` cannot be read")]
    Report {
        /// The run.
        run: String,
        /// What is wrong.
        source: serde_json::Error,
    },
}

impl StoreError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::Folder { .. } => {
                "choose another data folder (`data` in the configuration), or mend its permissions"
            }
            StoreError::Database { .. } => {
                "if the file is damaged, move it away; the next run starts a new one"
            }
            StoreError::TooNew { .. } => "use the newer program, or another data folder",
            StoreError::UnknownRun(_) | StoreError::AmbiguousRun { .. } => {
                "`scopeagent runs list` shows every run"
            }
            StoreError::UnknownSuggestion { .. } => {
                "`scopeagent runs show RUN` shows its suggestions"
            }
            StoreError::Report { .. } => "delete the run with `scopeagent runs delete RUN`",
        }
    }
}

/// An open run store.
pub struct Store {
    connection: Connection,
    path: PathBuf,
    locks: PathBuf,
}

/// A run under way. Dropping it without finishing leaves the run to be marked `interrupted`.
#[derive(Debug)]
pub struct OpenRun {
    /// Its identifier.
    pub run_id: String,
    lock: File,
    lock_path: PathBuf,
}

impl OpenRun {
    /// Gives the lock up once the run's end is stored.
    fn close(self) {
        drop(self.lock);
        // A lock file that stays behind is taken away with its run.
        let _ = fs::remove_file(&self.lock_path);
    }
}

impl Store {
    /// Opens the store in a data folder; makes folder and file if there are none, and brings an
    /// older file up to date.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(data: &Path) -> Result<Store, StoreError> {
        let locks = data.join("running");
        fs::create_dir_all(&locks).map_err(|source| StoreError::Folder {
            path: locks.clone(),
            source,
        })?;
        let path = data.join(FILE_NAME);
        let connection = Connection::open(&path).map_err(|source| StoreError::Database {
            path: path.clone(),
            source,
        })?;
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
        let path = self.path.clone();
        let fail = |source| StoreError::Database {
            path: path.clone(),
            source,
        };
        self.connection.busy_timeout(BUSY_TIMEOUT).map_err(fail)?;
        self.connection
            .pragma_update(None, "journal_mode", "WAL")
            .map_err(fail)?;
        self.connection
            .pragma_update(None, "synchronous", "NORMAL")
            .map_err(fail)?;
        self.connection
            .pragma_update(None, "foreign_keys", "ON")
            .map_err(fail)?;
        let found = schema::migrate(&mut self.connection).map_err(fail)?;
        if found > schema::VERSION {
            return Err(StoreError::TooNew {
                path: self.path.clone(),
                found,
                known: schema::VERSION,
            });
        }
        Ok(())
    }

    fn database(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Database {
            path: self.path.clone(),
            source,
        }
    }

    fn lock_path(&self, run_id: &str) -> PathBuf {
        self.locks.join(format!("{run_id}.lock"))
    }
}

#[cfg(test)]
mod tests;
