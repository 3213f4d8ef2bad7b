//! Errors with what users need: the cause chain, a remedy, and whose turn it is to act.

use std::fmt;

use agent::AnalyzeError;
use indexer::{BuildError, Mismatch, OpenError, SearchError};
use llm::ConnectError;
use runs::store::StoreError;
use serde::{Deserialize, Serialize};

pub type Result<T> = std::result::Result<T, Error>;

/// What kind of error it is; the program has an exit status for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// None of the others, e.g. the disk is full.
    Other,
    /// A wrong argument or configuration value.
    Usage,
    /// A job, run, knowledge folder or index that cannot be read.
    Input,
    /// The LLM failed.
    Llm,
}

/// An error with its causes and a remedy.
#[derive(Debug, Serialize, Deserialize)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
    /// The chain of causes, nearest first.
    pub causes: Vec<String>,
    pub hint: Option<String>,
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            causes: Vec::new(),
            hint: None,
        }
    }

    /// Takes the message and the chain of causes from an error.
    pub fn from_source(kind: ErrorKind, error: &dyn std::error::Error) -> Error {
        let causes = std::iter::successors(error.source(), |cause| cause.source());
        Error {
            causes: causes.map(ToString::to_string).collect(),
            ..Error::new(kind, error.to_string())
        }
    }

    /// Adds what the user can do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// The message and its causes in one line.
    pub fn one_line(&self) -> String {
        [std::slice::from_ref(&self.message), &self.causes]
            .concat()
            .join(": ")
    }
}

/// Gives an error its kind and a remedy.
pub trait Explain<T> {
    fn explain(self, kind: ErrorKind, hint: impl fmt::Display) -> Result<T>;
}

impl<T, E: std::error::Error> Explain<T> for std::result::Result<T, E> {
    fn explain(self, kind: ErrorKind, hint: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Error::from_source(kind, &error).hint(hint.to_string()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        for cause in &self.causes {
            writeln!(f, "  caused by: {cause}")?;
        }
        match &self.hint {
            Some(hint) => writeln!(f, "hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        let kind = match error.is_full() {
            true => ErrorKind::Other,
            false => ErrorKind::Input,
        };
        Error::from_source(kind, &error).hint(error.hint())
    }
}

impl From<job::OpenError> for Error {
    fn from(error: job::OpenError) -> Error {
        Error::from_source(ErrorKind::Input, &error).hint(error.hint())
    }
}

impl From<SearchError> for Error {
    fn from(error: SearchError) -> Error {
        let shown = Error::from_source(ErrorKind::Input, &error);
        match error {
            SearchError::Embed(_) => shown.hint(EMBEDDER_HINT),
            SearchError::Lexical { .. } | SearchError::Chunk { .. } => shown.hint(DAMAGED_HINT),
        }
    }
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Error {
        Error::from_source(ErrorKind::Usage, &error).hint(
            "profiles are `[llm.profiles.NAME]` in the configuration; `scopeagent doctor` tries one",
        )
    }
}

impl From<AnalyzeError> for Error {
    fn from(error: AnalyzeError) -> Error {
        match error {
            AnalyzeError::Job(error) => error.into(),
            AnalyzeError::Reasoner { ref source, .. } => {
                Error::from_source(ErrorKind::Llm, &error).hint(source.hint())
            }
            AnalyzeError::Prompt { .. } => Error::from_source(ErrorKind::Usage, &error)
                .hint("fix the template in the prompts folder, or remove it"),
        }
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Error {
        let shown = Error::from_source(ErrorKind::Input, &error);
        match error {
            OpenError::Missing { .. } => {
                shown.hint("`scopeagent index` builds the index from the knowledge folder")
            }
            OpenError::Damaged { .. } => shown.hint(DAMAGED_HINT),
            OpenError::Mismatch(mismatch) => shown.hint(mismatch_hint(&mismatch)),
            OpenError::Embed(_) => shown.hint(EMBEDDER_HINT),
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Error {
        let shown = Error::from_source(ErrorKind::Input, &error);
        match error {
            BuildError::Mismatch(mismatch) => shown.hint(mismatch_hint(&mismatch)),
            BuildError::Embed(_) => shown.hint(EMBEDDER_HINT),
            BuildError::Open(error) => error.into(),
            BuildError::Write { source, .. } if is_full(&source) => Error {
                kind: ErrorKind::Other,
                ..shown.hint("free some space on the disk, or choose another folder with --index")
            },
            BuildError::Write { .. } => {
                shown.hint("choose another folder with --index, or fix its permissions")
            }
            BuildError::Lexical { .. } => shown.hint(DAMAGED_HINT),
            _ => shown,
        }
    }
}

const DAMAGED_HINT: &str = "`scopeagent index --full` rebuilds it";

fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

const EMBEDDER_HINT: &str = "`[embedder]` in the configuration selects it (`scopeagent config show`); docs/models.md explains how to set up each one";

fn mismatch_hint(mismatch: &Mismatch) -> String {
    let update = format!(
        "`scopeagent index {}` brings the index up to date",
        mismatch.remedy
    );
    match mismatch.what {
        "embedder" => format!(
            "{update}; to keep the index's embedder, change `[embedder]` in the configuration"
        ),
        _ => update,
    }
}
