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
    #[error("`{store}` has no manifest")]
    NoManifest { store: String },
}

impl Error {
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
            Error::NoManifest { .. } => {
                "`scopeagent batch plan SOURCE… --out STORE` writes one; `batch run SOURCE… --out STORE` does both"
            }
        }
    }
}
