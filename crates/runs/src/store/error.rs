//! Why the store failed, with a remedy that fits the cause.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use report::interface;
use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{}", report::say!("无法写入 `{path}`", "`{path}` cannot be written", path = .path.display().to_string()))]
    Folder { path: PathBuf, source: io::Error },
    #[error("{}", report::say!("运行库 `{path}` 出错", "the run store `{path}` failed", path = .path.display().to_string()))]
    Database {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("{}", report::say!("运行库 `{path}` 只能读取", "the run store `{path}` can only be read", path = .path.display().to_string()))]
    ReadOnly {
        path: PathBuf,
        /// Why it is not open for writing.
        source: Arc<StoreError>,
    },
    #[error("{}", report::say!("运行库 `{path}` 的版本是 {found}，本程序最高支持 {known}", "the run store `{path}` has version {found}; this program knows versions up to {known}", path = .path.display().to_string()))]
    TooNew {
        path: PathBuf,
        found: u32,
        known: u32,
    },
    #[error("{}", report::say!("没有运行 `{run}`", "there is no run `{run}`", run = .0.asked))]
    UnknownRun(UnknownRun),
    #[error("{}", report::say!("有 {count} 次运行以 `{prefix}` 开头", "`{prefix}` matches {count} runs"))]
    AmbiguousRun { prefix: String, count: usize },
    #[error("{}", report::say!("运行 `{run}` 没有建议 `{suggestion}`；有：{known}", "run `{run}` has no suggestion `{suggestion}`; it has {known}"))]
    UnknownSuggestion {
        run: String,
        suggestion: String,
        known: String,
    },
    #[error("{}", report::say!("无法读取运行 `{run}` 的报告", "the report of run `{run}` cannot be read"))]
    Report {
        run: String,
        source: serde_json::Error,
    },
}

/// A name that no run has.
#[derive(Debug)]
pub struct UnknownRun {
    asked: String,
    /// The nearest name of a run.
    near: Option<String>,
}

impl From<&str> for UnknownRun {
    fn from(asked: &str) -> UnknownRun {
        UnknownRun {
            asked: asked.to_owned(),
            near: None,
        }
    }
}

impl UnknownRun {
    /// With the nearest of the names that it could be.
    pub(super) fn among<'n>(asked: &str, names: impl IntoIterator<Item = &'n str>) -> UnknownRun {
        UnknownRun {
            near: report::nearest(asked, names).map(str::to_owned),
            ..UnknownRun::from(asked)
        }
    }
}

/// Problem with the files of the store.
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
    /// Whether its hint names a run.
    pub fn has_near(&self) -> bool {
        matches!(self, StoreError::UnknownRun(unknown) if unknown.near.is_some())
    }

    pub fn hint(&self) -> String {
        if let StoreError::UnknownRun(UnknownRun {
            near: Some(near), ..
        }) = self
        {
            return report::say!("是不是 `{near}`？", "did you mean `{near}`?");
        }
        self.fixed_hint().to_owned()
    }

    fn fixed_hint(&self) -> &'static str {
        let (zh, en) = match self {
            StoreError::ReadOnly { source, .. } => return source.fixed_hint(),
            StoreError::TooNew { .. } => TOO_NEW,
            StoreError::UnknownRun(_) | StoreError::AmbiguousRun { .. } => LIST_RUNS,
            StoreError::UnknownSuggestion { .. } => SHOW_RUN,
            StoreError::Report { .. } => DELETE_RUN,
            StoreError::Folder { .. } | StoreError::Database { .. } => match self.trouble() {
                Some(Trouble::NoSpace) => NO_SPACE,
                Some(Trouble::InUse) => IN_USE,
                Some(Trouble::NotAllowed) => NOT_ALLOWED,
                Some(Trouble::Damaged) | None => DAMAGED,
            },
        };
        interface().select(zh, en)
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

macro_rules! remedies {
    ($($name:ident $zh:literal, $en:literal;)*) => {
        $(const $name: (&str, &str) = ($zh, $en);)*
    };
}

remedies! {
    TOO_NEW "请使用较新的程序，或另选数据目录", "use the newer program, or another data folder";
    LIST_RUNS "`scopeagent runs list` 列出所有运行", "`scopeagent runs list` lists all runs";
    SHOW_RUN "`scopeagent runs show RUN` 显示它的建议", "`scopeagent runs show RUN` shows its suggestions";
    DELETE_RUN "用 `scopeagent runs delete RUN` 删除这次运行", "delete the run with `scopeagent runs delete RUN`";
    NO_SPACE "请腾出磁盘空间，或另选数据目录（配置中的 `data`）", "free some space on the disk, or choose another data folder (`data` in the configuration)";
    IN_USE "等另一个进程结束后再试", "try again when the other process has finished";
    NOT_ALLOWED "请另选数据目录（配置中的 `data`），或修正其权限", "choose another data folder (`data` in the configuration), or fix its permissions";
    DAMAGED "文件已损坏：请移走，下次运行会新建", "the file is damaged: move it away, and the next run creates a new one";
}
