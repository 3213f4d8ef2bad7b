//! Reasons why a folder or one of its files is unavailable.

use std::path::{Path, PathBuf};

use report::say;

/// Reason why a folder could not be opened as a job.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{}", report::say!("{path} 不存在", "{path} does not exist", path = .0.display().to_string()))]
    Missing(PathBuf),
    /// A file that is not an event log.
    #[error("{}", report::say!("{path} 既不是目录，也不是 Spark 事件日志", "{path} is neither a folder nor a Spark event log", path = .0.display().to_string()))]
    NotAFolder(PathBuf),
    /// Event logs of several applications.
    #[error("{}", report::say!("{path} 中有 {n} 个应用的事件日志", "{path} has event logs of {n} applications", path = .path.display().to_string(), n = .logs.len().to_string()))]
    SeveralApplications {
        path: PathBuf,
        /// Their names, sorted.
        logs: Vec<String>,
    },
    /// A compressed log.
    #[error("{}", report::say!("{path} 是压缩的日志，在第一个事件之前被截断", "{path} is a compressed log that is cut off before its first event", path = .0.display().to_string()))]
    CutOff(PathBuf),
    #[error("{}", report::say!("{path} 是空的", "{path} is empty", path = .0.display().to_string()))]
    Empty(PathBuf),
    /// The folder has no file of a job.
    #[error("{}", report::say!("{path} 中没有 SCOPE、U-SQL 或 Spark 作业的文件", "{path} has no file of a SCOPE, U-SQL or Spark job", path = .path.display().to_string()))]
    NoKnownFile {
        path: PathBuf,
        /// A subfolder with such a file.
        inside: Option<String>,
    },
    /// Too many files for the folder of one job; missing files could not be determined.
    #[error("{}", report::say!("{path} 中的文件超过 {most} 个", "{path} has more than {most} files", path = .path.display().to_string()))]
    TooManyFiles { path: PathBuf, most: usize },
    #[error("{}", report::say!("无法读取 {path}", "{path} cannot be read", path = .path.display().to_string()))]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl OpenError {
    /// The path with the nearest name, where the folder of a missing path exists.
    pub fn near(path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?.to_str()?;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(folder).ok()?.take(LOOKED_AT).flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let names: Vec<String> = names.collect();
        let near = report::nearest(name, names.iter().map(String::as_str))?;
        Some(path.with_file_name(near))
    }

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            OpenError::Missing(path) => {
                if let Some(near) = OpenError::near(path) {
                    return say!(
                        "是不是 {near}？",
                        "did you mean {near}?",
                        near = near.display().to_string()
                    );
                }
                say!(
                    "请检查路径；给出作业文件所在的目录",
                    "check the path; give the folder that holds the job's files"
                )
            }
            OpenError::NotAFolder(path) => {
                match path.parent().filter(|p| !p.as_os_str().is_empty()) {
                    Some(folder) => say!(
                        "请给出 Spark 事件日志或作业目录：{folder}",
                        "give a Spark event log or the folder of a job: {folder}",
                        folder = folder.display().to_string()
                    ),
                    None => say!(
                        "请给出该文件所在的目录",
                        "give the folder that holds the file"
                    ),
                }
            }
            OpenError::SeveralApplications { path, logs } => {
                let one = path.join(logs.first().map_or("", String::as_str));
                say!(
                    "请给出其中一个日志，如 `{one}`；`batch` 会读取全部",
                    "give one log, e.g. `{one}`; `batch` reads them all",
                    one = one.display().to_string()
                )
            }
            OpenError::Empty(path) if path.is_file() => say!(
                "日志还没有写入，或没有下载完整",
                "the log is not written yet, or its download failed"
            ),
            OpenError::Empty(_) => say!(
                "请先把作业的文件下载到其中",
                "download the job's files into it first"
            ),
            OpenError::NoKnownFile {
                inside: Some(inside),
                ..
            } => {
                say!(
                    "其中的目录 `{inside}` 像是一个作业",
                    "a folder inside looks like a job: `{inside}`"
                )
            }
            OpenError::NoKnownFile { .. } => {
                say!(
                    "作业目录含有脚本、`ScopeVertexDef.xml` 或 `__ScopeRuntimeStatistics__.xml` 等，或 Spark 事件日志",
                    "a job folder holds the script, `ScopeVertexDef.xml` or `__ScopeRuntimeStatistics__.xml`, among others, or a Spark event log"
                )
            }
            OpenError::TooManyFiles { .. } => say!(
                "请给出单个作业的目录，或移走不属于该作业的文件",
                "give the folder of a single job, or move the other files away"
            ),
            OpenError::CutOff(_) => say!("请重新获取该日志", "fetch the log again"),
            OpenError::Unreadable { source, .. } => match source.kind() {
                std::io::ErrorKind::NotFound => say!("请检查路径", "check the path"),
                std::io::ErrorKind::PermissionDenied => {
                    say!("请检查权限", "check the permissions")
                }
                _ => say!("请给出目录或普通文件", "give a folder or a regular file"),
            },
        }
    }
}

/// Reason why a raw excerpt is refused.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The name leads out of the folder.
    #[error("{}", report::say!("`{name}` 指向作业目录之外", "`{name}` leads out of the job folder", name = .0))]
    Outside(String),
    #[error("{}", report::say!("作业目录中没有文件 `{name}`", "the job folder has no file `{name}`", name = .0))]
    Unknown(String),
    #[error("{}", report::say!("`{name}` 不是文本文件", "`{name}` is not a text file", name = .0))]
    NoText(String),
    /// The file can't be read, for example because a link has replaced it.
    #[error("{}", report::say!("无法读取 `{name}`", "`{name}` cannot be read"))]
    Unreadable {
        name: String,
        source: std::io::Error,
    },
}

/// Entries of a folder that are looked through for a misspelled name.
const LOOKED_AT: usize = 10_000;
