//! What can go wrong with a store or a source.

use std::path::PathBuf;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{place}` is no place that this program can reach")]
    Address {
        place: String,
        #[source]
        source: Option<object_store::Error>,
    },
    #[error("`{place}` failed")]
    Objects {
        /// The object or prefix.
        place: String,
        source: object_store::Error,
    },
    #[error("`{}` cannot be used", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("`{place}`, line {line} was not written by `batch plan`")]
    Manifest {
        place: String,
        line: usize,
        source: serde_json::Error,
    },
    #[error("`{place}` is not a result of a batch")]
    Unreadable {
        place: String,
        source: serde_json::Error,
    },
    #[error("`{place}` has version {found}; this program knows version {known}")]
    Version {
        place: String,
        found: u32,
        known: u32,
    },
    /// An archive or a prefix that exceeds a bound or cannot be unpacked.
    #[error("`{place}` cannot be unpacked: {reason}")]
    Archive { place: String, reason: String },
    #[error("`{place}` contains {jobs} jobs; one was expected")]
    SeveralJobs { place: String, jobs: usize },
    #[error("{doing} failed at queue `{queue}`")]
    Queue {
        queue: String,
        doing: &'static str,
        source: async_nats::Error,
    },
    #[error("there is no queue `{queue}`")]
    NoQueue {
        queue: String,
        source: async_nats::Error,
    },
    #[error("queue `{queue}` was filled for another version or configuration of the program")]
    OtherProgram { queue: String },
    #[error("`{store}` has no manifest")]
    NoManifest { store: String },
}

impl Error {
    /// Whether another attempt may succeed where nothing but the network changed.
    pub fn is_transient(&self) -> bool {
        let Error::Objects { source, .. } = self else {
            return false;
        };
        matches!(source, object_store::Error::Generic { .. })
    }

    /// The message and its causes in one line.
    pub fn one_line(&self) -> String {
        let mut line = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            line = format!("{line}: {error}");
            cause = error.source();
        }
        line
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Error::Address { .. } => {
                "give a local path or az://, abfss://, s3://, gs:// or file://; credentials come from the environment (AWS_…, AZURE_…, GOOGLE_…)"
            }
            Error::Objects { .. } => {
                "check the address, the network and the credentials (AWS_…, AZURE_…, GOOGLE_…), then repeat the call: it resumes"
            }
            Error::File { .. } => "check that the path exists and that you may use it",
            Error::Manifest { .. } | Error::Unreadable { .. } => {
                "delete the object, or give another STORE; then repeat the call"
            }
            Error::Version { .. } => {
                "use the version of the program that wrote it, or another STORE"
            }
            Error::Archive { .. } => "unpack it yourself, and give the folder of the job",
            Error::SeveralJobs { .. } => {
                "unpack it and give one of the jobs; `scopeagent batch run` takes folders of jobs"
            }
            Error::Queue { .. } => {
                "check the address, the servers and JetStream, then repeat the call; results are safe in the store"
            }
            Error::NoQueue { .. } => {
                "`scopeagent batch enqueue STORE --nats URL` fills it, again if it was lost"
            }
            Error::OtherProgram { .. } => {
                "use the version, options and knowledge that `batch enqueue` was called with, or enqueue again with these"
            }
            Error::NoManifest { .. } => {
                "`scopeagent batch plan SOURCE… --out STORE` writes one; `batch run SOURCE… --out STORE` does both"
            }
        }
    }
}
