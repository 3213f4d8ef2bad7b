//! Why a folder or one of its files is unavailable.

use std::path::PathBuf;

/// Why a folder could not be opened as a job.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// A file that is not an event log.
    #[error("{} is neither a folder nor a Spark event log", .0.display())]
    NotAFolder(PathBuf),
    /// Event logs of several applications.
    #[error("{} has event logs of {} applications", .path.display(), .logs.len())]
    SeveralApplications {
        path: PathBuf,
        /// Their names, sorted.
        logs: Vec<String>,
    },
    #[error("{} is empty", .0.display())]
    Empty(PathBuf),
    /// None of its files belongs to a job.
    #[error("{} has no file of a SCOPE, U-SQL or Spark job", .path.display())]
    NoKnownFile {
        path: PathBuf,
        /// A folder in it that has one.
        inside: Option<String>,
    },
    #[error("{} cannot be listed", .path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl OpenError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            OpenError::Missing(_) => {
                "check the path; give the folder that holds the job's files".into()
            }
            OpenError::NotAFolder(path) => {
                match path.parent().filter(|p| !p.as_os_str().is_empty()) {
                    Some(folder) => format!(
                        "give a Spark event log or the folder of a job: {}",
                        folder.display()
                    ),
                    None => "give the folder that holds the file".into(),
                }
            }
            OpenError::SeveralApplications { path, logs } => {
                let one = path.join(logs.first().map_or("", String::as_str));
                format!(
                    "give one log, e.g. `{}`; `batch` reads them all",
                    one.display()
                )
            }
            OpenError::Empty(_) => "download the job's files into it first".into(),
            OpenError::NoKnownFile {
                inside: Some(inside),
                ..
            } => {
                format!("a folder inside looks like a job: `{inside}`")
            }
            OpenError::NoKnownFile { .. } => {
                "a job folder holds the script, `ScopeVertexDef.xml` or \
                 `__ScopeRuntimeStatistics__.xml`, among others, or a Spark event log"
                    .into()
            }
            OpenError::Unreadable { .. } => "check the permissions of the folder".into(),
        }
    }
}

/// Why a raw excerpt is refused.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The name leads out of the folder.
    #[error("`{0}` leads out of the job folder")]
    Outside(String),
    #[error("the job folder has no file `{0}`")]
    Unknown(String),
    /// Among others because it has become a link since it was listed.
    #[error("`{name}` cannot be read")]
    Unreadable {
        name: String,
        source: std::io::Error,
    },
}
