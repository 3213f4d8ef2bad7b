//! Errors for users: the cause chain, a remedy, and the party that must act.

use std::fmt;

use agent::AnalyzeError;
use indexer::{BuildError, Mismatch, OpenError, SearchError};
use llm::ConnectError;
use report::{Language, interface, say};
use runs::store::StoreError;
use serde::{Deserialize, Serialize};

pub type Result<T> = std::result::Result<T, Error>;

/// Kind of error; the program has an exit status for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// Any other error, e.g. the disk is full.
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

    /// Adds an error of the system as its cause.
    pub fn because(mut self, cause: &std::io::Error) -> Error {
        self.causes.push(cause.to_string());
        self
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

/// Makes an [`Error`] of a kind from a sentence in both languages, and a remedy behind a semicolon.
#[macro_export]
macro_rules! error {
    ($kind:ident: $zh:literal, $en:literal $(, $name:ident = $value:expr)* $(; $($hint:tt)+)?) => {
        $crate::Error::new($crate::ErrorKind::$kind, ::report::say!($zh, $en $(, $name = $value)*))
            $(.hint(::report::say!($($hint)+)))?
    };
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

/// Labels of an error, its causes and its remedy, in English and in Chinese.
pub const LABELS: [[&str; 3]; 2] = [
    ["error: ", "caused by: ", "hint: "],
    ["错误：", "原因：", "办法："],
];

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [error, caused_by, hint_is] = LABELS[usize::from(interface() == Language::Zh)];
        writeln!(f, "{error}{}", self.message)?;
        for cause in &self.causes {
            writeln!(f, "  {caused_by}{cause}")?;
        }
        match &self.hint {
            Some(hint) => writeln!(f, "{hint_is}{hint}"),
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
            SearchError::Embed(_) => shown.hint(embedder_hint()),
            SearchError::Lexical { .. } => shown.hint(damaged_hint()),
        }
    }
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Error {
        Error::from_source(ErrorKind::Usage, &error).hint(say!(
            "配置写在 `[llm.profiles.NAME]` 中；`scopeagent doctor` 可以测试",
            "profiles are `[llm.profiles.NAME]` in the configuration; `scopeagent doctor` tries one"
        ))
    }
}

impl From<AnalyzeError> for Error {
    fn from(error: AnalyzeError) -> Error {
        match error {
            AnalyzeError::Job(error) => error.into(),
            AnalyzeError::Reasoner { ref source, .. } => {
                Error::from_source(ErrorKind::Llm, &error).hint(source.hint())
            }
        }
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Error {
        let shown = Error::from_source(ErrorKind::Input, &error);
        match error {
            OpenError::Missing { .. } => shown.hint(say!(
                "`scopeagent index` 由知识库目录构建索引",
                "`scopeagent index` builds the index from the knowledge folder"
            )),
            OpenError::Damaged { .. } => shown.hint(damaged_hint()),
            OpenError::Mismatch(mismatch) => shown.hint(mismatch_hint(&mismatch)),
            OpenError::Embed(_) => shown.hint(embedder_hint()),
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Error {
        let shown = Error::from_source(ErrorKind::Input, &error);
        match error {
            BuildError::Mismatch(mismatch) => shown.hint(mismatch_hint(&mismatch)),
            BuildError::Embed(_) => shown.hint(embedder_hint()),
            BuildError::Open(error) => error.into(),
            BuildError::Write { source, .. } if is_full(&source) => Error {
                kind: ErrorKind::Other,
                ..shown.hint(say!(
                    "请腾出磁盘空间，或用 --index 另选目录",
                    "free some space on the disk, or choose another folder with --index"
                ))
            },
            BuildError::Write { .. } => shown.hint(say!(
                "请用 --index 另选目录，或修正其权限",
                "choose another folder with --index, or fix its permissions"
            )),
            BuildError::Lexical { .. } => shown.hint(damaged_hint()),
            _ => shown,
        }
    }
}

fn damaged_hint() -> String {
    say!(
        "`scopeagent index --full` 可重建索引",
        "`scopeagent index --full` rebuilds it"
    )
}

fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

fn embedder_hint() -> String {
    say!(
        "由配置中的 `[embedder]` 选择（`scopeagent config show`）；设置方法见 docs/models.md",
        "`[embedder]` in the configuration selects it (`scopeagent config show`); docs/models.md explains how to set up each one"
    )
}

fn mismatch_hint(mismatch: &Mismatch) -> String {
    let update = say!(
        "`scopeagent index {remedy}` 可更新索引",
        "`scopeagent index {remedy}` brings the index up to date",
        remedy = mismatch.remedy
    );
    match mismatch.what {
        "embedder" => say!(
            "{update}；要保留索引的向量模型，请修改配置中的 `[embedder]`",
            "{update}; to keep the index's embedder, change `[embedder]` in the configuration"
        ),
        _ => update,
    }
}
