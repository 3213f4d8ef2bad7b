//! Lists a job folder, tells its files apart by their content and reads them into a [`Job`].
//!
//! Knows which reader takes which kind of file, and nothing of what the numbers mean.

use std::path::{Path, PathBuf};

use crate::model::{FileKind, Job, JobFile};

/// Bounds on what is read, and the catalogue that names the files.
#[derive(Debug, Clone)]
pub struct Options {
    /// Largest file that is read as a whole, in bytes; larger ones are skipped with a diagnostic.
    /// `profile` is streamed and has no such limit.
    pub max_file_bytes: u64,
    /// Files listed at most.
    pub max_files: usize,
    /// Vertex attempts kept per stage before they are sampled.
    pub max_runs_per_stage: usize,
}

/// Why a folder could not be opened as a job.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nothing is there.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// It is a file.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// It has no files.
    #[error("{} is empty", .0.display())]
    Empty(PathBuf),
    /// None of its files belongs to a job.
    #[error("{} has no file of a SCOPE or U-SQL job", .0.display())]
    NoKnownFile(PathBuf),
    /// The system refuses to list it.
    #[error("{} cannot be listed", .path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl OpenError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        ""
    }
}

/// One file that was read, for the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Name relative to the job folder.
    pub file: String,
    /// Name of the reader that took it; `None` if it could not be read.
    pub parser: Option<&'static str>,
    /// Bytes read.
    pub bytes: u64,
}

/// Why a raw excerpt is refused.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The name leads out of the folder, or through a link.
    #[error("`{0}` leads out of the job folder")]
    Outside(String),
    /// The folder has no such file.
    #[error("the job folder has no file `{0}`")]
    Unknown(String),
    /// The system refuses to read it.
    #[error("`{name}` cannot be read")]
    Unreadable {
        /// The file.
        name: String,
        /// What the system says.
        source: std::io::Error,
    },
}

/// An opened job folder.
#[derive(Debug)]
pub struct JobReader {
    job: Job,
}

/// Lists a folder and tells its files apart. Reads only their first bytes.
pub fn open(path: &Path, options: &Options) -> Result<JobReader, OpenError> {
    let _ = options;
    Err(OpenError::Missing(path.to_path_buf()))
}

/// Opens a folder and reads everything it holds.
pub fn load(path: &Path) -> Result<Job, OpenError> {
    let mut reader = open(path, &Options::default())?;
    reader.read_all();
    Ok(reader.into_job())
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_file_bytes: 256 << 20,
            max_files: 10_000,
            max_runs_per_stage: 200_000,
        }
    }
}

impl JobReader {
    /// The folder's files.
    pub fn files(&self) -> &[JobFile] {
        &self.job.files
    }

    /// Reads those files into the job, if they were not yet, and ties everything together again.
    /// Unknown names are left out of the answer.
    pub fn read(&mut self, names: &[&str]) -> Vec<ReadFile> {
        let _ = names;
        Vec::new()
    }

    /// Reads what is always read first and cheap: script, stages, counters, job information,
    /// errors, compile results, warnings.
    pub fn read_core(&mut self) -> Vec<ReadFile> {
        Vec::new()
    }

    /// Reads every file that has a reader.
    pub fn read_all(&mut self) -> Vec<ReadFile> {
        Vec::new()
    }

    /// Reads the files of one kind.
    pub fn read_kind(&mut self, kind: FileKind) -> Vec<ReadFile> {
        let _ = kind;
        Vec::new()
    }

    /// What has been read so far.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Gives the job away.
    pub fn into_job(self) -> Job {
        self.job
    }

    /// The beginning of a file as text, at most `max_bytes` of it. Nothing outside the folder.
    pub fn text(&self, name: &str, max_bytes: usize) -> Result<String, TextError> {
        let _ = max_bytes;
        Err(TextError::Unknown(name.to_owned()))
    }
}
