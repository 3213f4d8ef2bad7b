//! Why the store failed, with a remedy that fits the cause.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("`{}` cannot be written", .path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("the run store `{}` failed", .path.display())]
    Database {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("the run store `{}` can only be read", .path.display())]
    ReadOnly {
        path: PathBuf,
        /// Why it is not open for writing.
        source: Arc<StoreError>,
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

/// What is wrong with the files of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    NoSpace,
    InUse,
    NotAllowed,
    Damaged,
}

impl Trouble {
    fn of_file(error: &io::Error) -> Trouble {
        use io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Trouble::NoSpace
            }
            ErrorKind::WouldBlock => Trouble::InUse,
            _ => Trouble::NotAllowed,
        }
    }

    fn of_database(error: &rusqlite::Error) -> Trouble {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::TooBig) => {
                Trouble::NoSpace
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Trouble::InUse,
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Trouble::NotAllowed
            }
            _ => Trouble::Damaged,
        }
    }
}

impl StoreError {
    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::ReadOnly { source, .. } => return source.hint(),
            StoreError::TooNew { .. } => return "use the newer program, or another data folder",
            StoreError::UnknownRun(_) | StoreError::AmbiguousRun { .. } => {
                return "`scopeagent runs list` lists all runs";
            }
            StoreError::UnknownSuggestion { .. } => {
                return "`scopeagent runs show RUN` shows its suggestions";
            }
            StoreError::Report { .. } => {
                return "delete the run with `scopeagent runs delete RUN`";
            }
            StoreError::Folder { .. } | StoreError::Database { .. } => {}
        }
        match self.trouble() {
            Some(Trouble::NoSpace) => {
                "free some space on the disk, or choose another data folder (`data` in the configuration)"
            }
            Some(Trouble::InUse) => "try again when the other process has finished",
            Some(Trouble::NotAllowed) => {
                "choose another data folder (`data` in the configuration), or fix its permissions"
            }
            Some(Trouble::Damaged) | None => {
                "the file is damaged: move it away, and the next run creates a new one"
            }
        }
    }

    /// Whether the disk is full, rather than anything being wrong with the store.
    pub fn is_full(&self) -> bool {
        self.trouble() == Some(Trouble::NoSpace)
    }

    /// Whether the store can't be written, but perhaps read.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.trouble(), Some(Trouble::NotAllowed | Trouble::NoSpace))
    }

    fn trouble(&self) -> Option<Trouble> {
        match self {
            StoreError::Folder { source, .. } => Some(Trouble::of_file(source)),
            StoreError::Database { source, .. } => Some(Trouble::of_database(source)),
            StoreError::ReadOnly { source, .. } => source.trouble(),
            _ => None,
        }
    }
}
