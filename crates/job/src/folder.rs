//! Lists a job folder, tells its files apart by their content and reads them into a [`Job`].
//!
//! Knows which reader takes which kind of file, and nothing of what the numbers mean.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::catalogue::Catalogue;
use crate::model::{FileKind, Job, JobFile, Severity};
use crate::read::{self, Input};
use crate::sniff::{HEAD_BYTES, sniff};
use crate::text::{decode, head, line_at};

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
    /// Says which kinds of files are read first.
    pub catalogue: Catalogue,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_file_bytes: 256 << 20,
            max_files: 10_000,
            max_runs_per_stage: 50_000,
            catalogue: Catalogue::default(),
        }
    }
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
    #[error("{} has no file of a SCOPE or U-SQL job", .path.display())]
    NoKnownFile {
        /// The folder.
        path: PathBuf,
        /// A folder in it that has one.
        inside: Option<String>,
    },
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
    pub fn hint(&self) -> String {
        match self {
            OpenError::Missing(_) => {
                "check the path; give the folder that holds the job's files".into()
            }
            OpenError::NotAFolder(path) => {
                match path.parent().filter(|p| !p.as_os_str().is_empty()) {
                    Some(folder) => format!("give the folder: {}", folder.display()),
                    None => "give the folder that holds the file".into(),
                }
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
                 `__ScopeRuntimeStatistics__.xml`, among others"
                    .into()
            }
            OpenError::Unreadable { .. } => "check the permissions of the folder".into(),
        }
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
    options: Options,
    /// Scripts read; one of them becomes the job's script.
    scripts: Vec<(String, String)>,
}

/// Lists a folder and tells its files apart. Reads only their first bytes.
pub fn open(path: &Path, options: &Options) -> Result<JobReader, OpenError> {
    let unreadable = |source| OpenError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(OpenError::Missing(path.to_owned()));
        }
        Err(error) => return Err(unreadable(error)),
    };
    if !metadata.is_dir() {
        return Err(OpenError::NotAFolder(path.to_owned()));
    }
    let mut job = Job {
        path: path.to_owned(),
        ..Job::default()
    };
    let folders = list(path, "", options, &mut job).map_err(unreadable)?;
    let known = |file: &JobFile| !matches!(file.kind, FileKind::Unknown | FileKind::Ignored);
    let any_here = job.files.iter().any(known);
    let mut inside = None;
    for folder in folders {
        let from = job.files.len();
        // a folder that cannot be listed is told like a file that cannot be read
        if let Err(error) = list(&path.join(&folder), &folder, options, &mut job) {
            unreadable_file(&mut job, &folder, &error);
        }
        if inside.is_none() && job.files[from..].iter().any(known) {
            inside = Some(folder);
        }
        let mut at = 0;
        job.files.retain(|file| {
            at += 1;
            at <= from || belongs_below(file.kind)
        });
    }
    match () {
        () if any_here => {}
        () if job.files.is_empty() && inside.is_none() && job.diagnostics.is_empty() => {
            return Err(OpenError::Empty(path.to_owned()));
        }
        () => {
            return Err(OpenError::NoKnownFile {
                path: path.to_owned(),
                inside,
            });
        }
    }
    job.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(JobReader {
        job,
        options: options.clone(),
        scripts: Vec::new(),
    })
}

/// Opens a folder and reads everything it holds.
pub fn load(path: &Path) -> Result<Job, OpenError> {
    let mut reader = open(path, &Options::default())?;
    reader.read_all();
    Ok(reader.into_job())
}

/// Folders inside a job folder hold logs (`logs/`, `diagnosticstreams/`). Anything else in them is
/// of another job.
fn belongs_below(kind: FileKind) -> bool {
    use FileKind as K;
    matches!(
        kind,
        K::VertexEvents | K::VertexStdout | K::VertexCommand | K::UserDiagnostics | K::Error
    )
}

/// Lists the files of one folder into the job, and returns the names of the folders in it.
fn list(
    path: &Path,
    prefix: &str,
    options: &Options,
    job: &mut Job,
) -> std::io::Result<Vec<String>> {
    let mut folders = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(path)?.take(options.max_files + 1).collect();
    if entries.len() > options.max_files {
        entries.truncate(options.max_files);
        let message = format!(
            "more than {} files; the rest is not looked at",
            options.max_files
        );
        job.note(
            Severity::Warning,
            prefix,
            None,
            message,
            "give the folder of a single job",
        );
    }
    for entry in entries {
        let entry = entry?;
        let Ok(own_name) = entry.file_name().into_string() else {
            let lossy = entry.file_name().to_string_lossy().into_owned();
            job.warn(
                &lossy,
                None,
                "the name is not Unicode".to_owned(),
                "rename the file",
            );
            continue;
        };
        let name = if prefix.is_empty() {
            own_name
        } else {
            format!("{prefix}/{own_name}")
        };
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => {
                let hint = "copy the file into the folder if it belongs to the job";
                job.warn(&name, None, "a link is not followed".to_owned(), hint);
            }
            Ok(kind) if kind.is_dir() => folders.push(name),
            Ok(kind) if kind.is_file() => file(&entry.path(), name, job),
            Ok(_) => job.warn(&name, None, "neither a file nor a folder".to_owned(), ""),
            Err(error) => unreadable_file(job, &name, &error),
        }
    }
    folders.sort();
    Ok(folders)
}

fn file(path: &Path, name: String, job: &mut Job) {
    let sniffed = File::open(path).and_then(|file| {
        let bytes = file.metadata()?.len();
        let mut head = Vec::new();
        file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        Ok((sniff(&head), bytes))
    });
    match sniffed {
        Ok((kind, bytes)) => job.files.push(JobFile {
            name,
            kind,
            bytes,
            read: false,
        }),
        Err(error) => unreadable_file(job, &name, &error),
    }
}

fn unreadable_file(job: &mut Job, name: &str, error: &std::io::Error) {
    let message = format!("cannot be read: {error}");
    job.note(
        Severity::Error,
        name,
        None,
        message,
        "check the permissions of the file",
    );
}

impl JobReader {
    /// The folder's files.
    pub fn files(&self) -> &[JobFile] {
        &self.job.files
    }

    /// Reads those files into the job, if they were not yet, and ties everything together again.
    /// Names that the folder does not have, and files of no known kind, are left out of the answer.
    pub fn read(&mut self, names: &[&str]) -> Vec<ReadFile> {
        self.read_where(|file| names.contains(&file.name.as_str()))
    }

    /// Reads what is always read first and cheap: script, stages, counters, job information,
    /// errors, compile results, warnings (what the catalogue calls core).
    pub fn read_core(&mut self) -> Vec<ReadFile> {
        let catalogue = self.options.catalogue.clone();
        self.read_where(|file| catalogue.entry(file.kind).is_some_and(|entry| entry.core))
    }

    /// Reads every file that has a reader.
    pub fn read_all(&mut self) -> Vec<ReadFile> {
        self.read_where(|_| true)
    }

    /// Reads the files of one kind.
    pub fn read_kind(&mut self, kind: FileKind) -> Vec<ReadFile> {
        self.read_where(|file| file.kind == kind)
    }

    fn read_where(&mut self, wanted: impl Fn(&JobFile) -> bool) -> Vec<ReadFile> {
        let mut todo: Vec<(usize, &'static str)> = self
            .job
            .files
            .iter()
            .enumerate()
            .filter(|(_, file)| !file.read && wanted(file))
            .filter_map(|(at, file)| Some((at, parser(file.kind)?)))
            .collect();
        // definitions come before what refers to them, better sources before worse ones
        todo.sort_by_key(|(at, _)| order(self.job.files[*at].kind));
        let done: Vec<ReadFile> = todo
            .into_iter()
            .map(|(at, parser)| self.read_one(at, parser))
            .collect();
        if !done.is_empty() {
            self.choose_script();
            self.job.link();
        }
        done
    }

    fn read_one(&mut self, at: usize, parser: &'static str) -> ReadFile {
        let (name, kind) = (self.job.files[at].name.clone(), self.job.files[at].kind);
        let outcome = match kind {
            FileKind::VertexEvents => self.stream(&name),
            _ => self.whole(&name, kind),
        };
        self.job.files[at].read = true;
        match outcome {
            Ok(bytes) => ReadFile {
                file: name,
                parser: Some(parser),
                bytes,
            },
            Err(error) => {
                unreadable_file(&mut self.job, &name, &error);
                ReadFile {
                    file: name,
                    parser: None,
                    bytes: 0,
                }
            }
        }
    }

    /// Path of a listed file, unless it has been exchanged for a link since.
    fn inside(&self, name: &str) -> std::io::Result<PathBuf> {
        let path = self.job.path.join(name);
        if fs::symlink_metadata(&path)?.is_symlink() {
            return Err(std::io::Error::other(
                "it has become a link, which is not followed",
            ));
        }
        Ok(path)
    }

    /// Vertex events may be larger than memory.
    fn stream(&mut self, name: &str) -> std::io::Result<u64> {
        let path = self.inside(name)?;
        read::events(name, &path, &self.options, &mut self.job)
    }

    fn whole(&mut self, name: &str, kind: FileKind) -> std::io::Result<u64> {
        let limit = self.options.max_file_bytes;
        let mut bytes = Vec::new();
        File::open(self.inside(name)?)?
            .take(limit)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 == limit {
            let message = format!("only the first {limit} bytes were read");
            self.job.warn(
                name,
                None,
                message,
                "a file of this kind is normally much smaller",
            );
        }
        self.take(name, kind, &bytes);
        Ok(bytes.len() as u64)
    }

    /// Decodes a file and hands it to its reader.
    fn take(&mut self, name: &str, kind: FileKind, bytes: &[u8]) {
        let decoded = decode(bytes);
        if decoded.replaced {
            let message = format!("holds bytes that are not {}", decoded.encoding);
            self.job.warn(
                name,
                None,
                message,
                "they were replaced; save the file as UTF-8",
            );
        }
        if let Some(at) = memchr::memchr(0, decoded.text.as_bytes()) {
            let line = line_at(&decoded.text, at);
            self.job.warn(
                name,
                Some(format!("line {line}")),
                "holds NUL characters".to_owned(),
                "the file is damaged or was copied as binary; copy it again",
            );
        }
        let input = Input {
            name,
            text: &decoded.text,
        };
        if kind == FileKind::Script {
            self.scripts
                .push((name.to_owned(), decoded.text.into_owned()));
        } else {
            take(kind, &input, &mut self.job);
        }
    }

    /// What has been read so far.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Gives the job away.
    pub fn into_job(self) -> Job {
        self.job
    }

    /// The beginning of a file as text, at most `max_bytes` of it. Nothing outside the folder, and
    /// no links.
    pub fn text(&self, name: &str, max_bytes: usize) -> Result<String, TextError> {
        let inside = Path::new(name)
            .components()
            .all(|c| matches!(c, Component::Normal(_)));
        if !inside || name.contains('\\') {
            return Err(TextError::Outside(name.to_owned()));
        }
        if !self.job.files.iter().any(|file| file.name == name) {
            return Err(TextError::Unknown(name.to_owned()));
        }
        let unreadable = |source| TextError::Unreadable {
            name: name.to_owned(),
            source,
        };
        let path = self.job.path.join(name);
        // the file may have been exchanged for a link since it was listed
        if fs::symlink_metadata(&path)
            .map_err(unreadable)?
            .is_symlink()
        {
            return Err(TextError::Outside(name.to_owned()));
        }
        let mut bytes = Vec::new();
        // UTF-16 takes two bytes for what is one in UTF-8
        let most = (max_bytes as u64).saturating_mul(2).saturating_add(4);
        File::open(&path)
            .map_err(unreadable)?
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        let text = decode(&bytes).text;
        Ok(head(text.strip_prefix('\u{feff}').unwrap_or(&text), max_bytes).to_owned())
    }

    /// The script is the file that the stages were compiled from; else the one with the name of a
    /// user's script (a cluster folder also holds the compiler's `request.script`); else the
    /// largest.
    fn choose_script(&mut self) {
        let defined = self
            .job
            .stages
            .iter()
            .flat_map(|s| &s.operators)
            .find_map(|o| o.file.as_deref());
        let base = |name: &str| {
            name.rsplit(['/', '\\'])
                .next()
                .unwrap_or(name)
                .to_ascii_lowercase()
        };
        let defined = defined.map(base);
        let rank = |name: &str, text: &str| {
            let own = base(name);
            let by_user = own.ends_with(".usql") || own == "scope.script";
            (
                Some(&own) == defined.as_ref(),
                by_user,
                own != "request.script",
                text.len(),
            )
        };
        let best = self
            .scripts
            .iter()
            .max_by_key(|(name, text)| rank(name, text));
        // a local run whose script was not kept has it in its algebra
        let Some((name, text)) = best.or(self.job.embedded_script.as_ref()).cloned() else {
            return;
        };
        if self
            .job
            .script
            .as_ref()
            .is_none_or(|script| script.file != name)
        {
            let script = crate::script::Script::parse(&name, text);
            for error in script.errors.iter().take(SYNTAX_ERRORS_TOLD) {
                self.job.warn(
                    &name,
                    Some(format!("line {}", error.line)),
                    error.message.clone(),
                    "the statement is passed over; all others are read",
                );
            }
            self.job.script = Some(script);
        }
    }
}

/// Syntax errors named per script; the first few show what is wrong with the rest.
const SYNTAX_ERRORS_TOLD: usize = 10;

/// Name of the reader of a kind of file; `None` if it has none.
pub(crate) fn parser(kind: FileKind) -> Option<&'static str> {
    use FileKind as K;
    Some(match kind {
        K::Script => "script",
        K::VertexDef => "vertex_definition",
        K::RuntimeStatistics => "runtime_statistics",
        K::VertexStdout => "vertex_stdout",
        K::VertexEvents => "vertex_events",
        K::OptimizerPlan => "optimizer_plan",
        K::OperatorPlanMap => "operator_plan_map",
        K::StreamInfo => "stream_info",
        K::PartitionLastRows => "partition_last_rows",
        K::Tables => "tables",
        K::JobInfo => "job_info",
        K::RestJob => "rest_job",
        K::RestStatistics => "rest_statistics",
        K::Error => "error",
        K::CompileResult => "compile_result",
        K::Warnings => "warnings",
        K::CompilerTimers => "compiler_timers",
        K::CommandLine => "command_line",
        K::Algebra => "algebra",
        K::InternalStatistics => "internal_statistics",
        K::VertexCommand => "vertex_command",
        K::Codegen => "codegen",
        K::UserDiagnostics => "user_diagnostics",
        K::CompilerPlan => "compiler_plan",
        K::Ast | K::Ignored | K::Unknown => return None,
    })
}

/// Order in which kinds are read.
fn order(kind: FileKind) -> u8 {
    use FileKind as K;
    match kind {
        K::VertexDef => 0,
        K::Algebra => 1,
        K::RuntimeStatistics => 2,
        K::Tables => 3,
        K::InternalStatistics => 4,
        K::StreamInfo => 5,
        K::PartitionLastRows => 6,
        K::Script | K::Error => 7,
        _ => 8,
    }
}

/// Hands a file to its reader.
pub(crate) fn take(kind: FileKind, input: &Input<'_>, job: &mut Job) {
    use FileKind as K;
    match kind {
        K::VertexDef => read::vertex_def(input, job),
        K::RuntimeStatistics => read::statistics(input, job),
        K::VertexStdout => read::stdout(input, job),
        K::OptimizerPlan => read::plan(input, job),
        K::OperatorPlanMap => read::plan_map(input, job),
        K::StreamInfo => read::stream_info(input, job),
        K::PartitionLastRows => read::last_rows(input, job),
        K::Tables => read::tables(input, job),
        K::JobInfo => read::job_info(input, job),
        K::RestJob => read::rest_job(input, job),
        K::RestStatistics => read::rest_statistics(input, job),
        K::Error => read::error(input, job),
        K::CompileResult => read::compile_result(input, job),
        K::Warnings => read::warnings(input, job),
        K::CompilerTimers => read::compiler_timers(input, job),
        K::CommandLine => read::command_line(input, job),
        K::Algebra => read::algebra(input, job),
        K::InternalStatistics => read::internal(input, job),
        K::VertexCommand => read::vertex_command(input, job),
        K::Codegen => read::codegen(input, job),
        K::UserDiagnostics => read::user_log(input, job),
        K::CompilerPlan => read::compiler_plan(input, job),
        _ => {}
    }
}

/// Reads files that are in memory, each taken as the kind given; for tests and fuzzing.
pub fn read_memory(files: &[(&str, FileKind, &[u8])], options: &Options) -> Job {
    let mut reader = JobReader {
        job: Job::default(),
        options: options.clone(),
        scripts: Vec::new(),
    };
    let mut files = files.to_vec();
    files.sort_by_key(|(_, kind, _)| order(*kind));
    for (name, kind, bytes) in files {
        reader.job.files.push(JobFile {
            name: name.to_owned(),
            kind,
            bytes: bytes.len() as u64,
            read: true,
        });
        if kind == FileKind::VertexEvents {
            read::events_of(name, bytes, &reader.options, &mut reader.job);
        } else {
            reader.take(name, kind, bytes);
        }
    }
    reader.choose_script();
    reader.job.link();
    reader.job
}

/// What a file is, by its first bytes.
pub fn kind_of(head: &[u8]) -> FileKind {
    sniff(&head[..head.len().min(HEAD_BYTES)])
}
