//! Errors per operation, with file, place and remedy.

use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::embed::EmbedError;

/// Why an index could not be built or updated. The last good generation stays in place.
#[derive(Debug, Error)]
pub enum BuildError {
    #[error("{}", report::say!("无法读取 {path}：{source}", "cannot read {path}: {source}", path = .path.display().to_string()))]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}", report::say!("无法写入 {path}：{source}；原有索引仍在", "cannot write {path}: {source}; the previous index is still in place", path = .path.display().to_string()))]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}", report::say!("{owner} 正在写索引 {path}，请等它结束", "the index {path} is being written by {owner}; wait for it to end", path = .path.display().to_string()))]
    Locked { path: PathBuf, owner: String },
    /// A mistyped path must not empty an index.
    #[error("{}", report::say!("{path} 中没有文档（*.md、files.toml、glossary.toml），请检查路径", "{path} holds no document (*.md, files.toml, glossary.toml); check the path", path = .path.display().to_string()))]
    NoDocuments { path: PathBuf },
    #[error("{}", report::say!("没有可索引的文档；{document}:{line}：{reason}", "no document can be indexed; {document}:{line}: {reason}", document = .0.document, line = .0.line.to_string(), reason = .0.reason))]
    Broken(Skipped),
    #[error("{}", report::say!("{path} 中的 BM25 库出错：{reason}；原有索引仍在", "the BM25 store in {path} failed: {reason}; the previous index is still in place", path = .path.display().to_string()))]
    Lexical { path: PathBuf, reason: String },
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error(transparent)]
    Open(OpenError),
}

impl From<OpenError> for BuildError {
    fn from(error: OpenError) -> BuildError {
        match error {
            OpenError::Mismatch(mismatch) => BuildError::Mismatch(mismatch),
            OpenError::Embed(error) => BuildError::Embed(error),
            other => BuildError::Open(other),
        }
    }
}

/// A document with a syntax error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    pub document: String,
    /// From 1.
    pub line: usize,
    pub reason: String,
}

/// Another version or model made the index; using it would silently mix results.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{}", report::say!("索引的 {what} 是 `{found}`，本程序使用 `{expected}`", "the index has {what} `{found}`, this program uses `{expected}`"))]
pub struct Mismatch {
    /// `format`, `chunker`, `analyser` or `embedder`.
    pub what: &'static str,
    pub found: String,
    pub expected: String,
    /// Flag of `index` that fixes it: `--full`, `--rechunk`, `--reembed`.
    pub remedy: &'static str,
}

/// Why an index could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("{}", report::say!("{path} 中没有索引", "there is no index in {path}", path = .path.display().to_string()))]
    Missing { path: PathBuf },
    #[error("{}", report::say!("索引文件 {path} 无法使用：{reason}", "the index file {path} is unusable: {reason}", path = .path.display().to_string()))]
    Damaged { path: PathBuf, reason: String },
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// Why a query could not be answered.
#[derive(Debug, Error)]
pub enum SearchError {
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error("{}", report::say!("BM25 库出错：{reason}；请运行 `index verify`", "the BM25 store failed: {reason}; run `index verify`"))]
    Lexical { reason: String },
}

impl From<tantivy::TantivyError> for SearchError {
    fn from(error: tantivy::TantivyError) -> SearchError {
        let reason = error.to_string();
        SearchError::Lexical { reason }
    }
}

pub(crate) fn damaged(path: &Path, reason: impl ToString) -> OpenError {
    OpenError::Damaged {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

impl Mismatch {
    /// Whether the index is of an older version of this program, with the same vectors.
    pub fn is_outdated(&self) -> bool {
        let number = |text: &str| text.parse::<u32>().ok();
        match self.what {
            "embedder" => false,
            "format" => number(&self.found) < number(&self.expected),
            _ => true,
        }
    }
}
