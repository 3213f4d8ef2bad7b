//! Reads listed files into the job, each once.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::Options;
use super::error::{OpenError, TextError};
use super::kinds::{most_bytes, order, take};
use super::opening::{Folder, RegularFile};
use crate::code::Program;
use crate::model::{FileKind, Job, JobFile};
use crate::problem::Problem;
use crate::read::{self, Input};
use crate::sniff::HEAD_BYTES;
use crate::spark;
use crate::text::{Decoded, decode, head, line_at};

/// One file that was read, for the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Name relative to the job folder.
    pub file: String,
    /// Name of the reader; `None` if the file could not be read.
    pub parser: Option<&'static str>,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct JobReader {
    pub(super) job: Job,
    /// Base folder of the file names; `None` for files in memory.
    folder: Option<Folder>,
    pub(super) options: Options,
    /// Scripts read; one of them becomes the job's script.
    pub(super) scripts: Vec<(String, String)>,
    /// The script of an application that takes the place of the ones in its folder.
    given: Option<Program>,
    /// The events of a log's parts, until all parts are read.
    pub(super) events: Option<Box<spark::Collector>>,
    /// Whether reading stopped before all files were read.
    stopped: bool,
}

impl JobReader {
    /// A reader of the job's listed files in `folder`.
    pub(super) fn new(job: Job, folder: Option<Folder>, options: Options) -> JobReader {
        JobReader {
            job,
            folder,
            options,
            scripts: Vec::new(),
            given: None,
            events: None,
            stopped: false,
        }
    }

    /// Sets the origin of the job for display; its files stay in place.
    pub fn set_origin(&mut self, origin: &str) {
        self.job.path = PathBuf::from(origin);
    }

    pub fn files(&self) -> &[JobFile] {
        &self.job.files
    }

    /// Reads the named files into the job, unless they have been read, and links all parts again.
    /// Names without a file, and files of unknown kind, are left out of the result.
    pub fn read(&mut self, names: &[&str]) -> Vec<ReadFile> {
        self.read_where(|file| names.contains(&file.name.as_str()))
    }

    /// Reads the core files of the catalogue, which are cheap and always needed: script, stages, counters,
    /// job information, errors, compile results, warnings.
    pub fn read_core(&mut self) -> Vec<ReadFile> {
        let catalogue = self.options.catalogue.clone();
        self.read_where(|file| catalogue.entry(file.kind).is_some_and(|entry| entry.core))
    }

    pub fn read_all(&mut self) -> Vec<ReadFile> {
        self.read_where(|_| true)
    }

    fn read_where(&mut self, wanted: impl Fn(&JobFile) -> bool) -> Vec<ReadFile> {
        let is_log = |file: &JobFile| file.kind == FileKind::SparkEvents;
        // the parts of a log only make sense together
        let log = self
            .job
            .files
            .iter()
            .any(|file| is_log(file) && wanted(file));
        let files = self.job.files.iter().enumerate();
        let unread = files.filter(|(_, f)| !f.read && (wanted(f) || (log && is_log(f))));
        let parsed = unread.filter_map(|(at, file)| Some((at, file.kind.parser()?)));
        let mut todo: Vec<(usize, &'static str)> = parsed.collect();
        // definitions come before references to them, better sources before worse ones
        let files = &self.job.files;
        todo.sort_by_key(|(at, _)| (order(files[*at].kind), spark::part(&files[*at].name)));
        let todo = todo.into_iter();
        let done = todo.map(|(at, parser)| self.read_one(at, parser));
        let done: Vec<ReadFile> = done.collect();
        if !done.is_empty() {
            self.connect();
        }
        done
    }

    /// Connects the parts read so far.
    pub(super) fn connect(&mut self) {
        if let Some(events) = self.events.take() {
            spark::finish(*events, self.stopped, &mut self.job);
        }
        if self.job.spark.is_some() {
            self.spark_scripts();
            spark::driver_log::settle(&mut self.job);
        } else {
            self.choose_script();
            self.job.link();
        }
    }

    fn read_one(&mut self, at: usize, parser: &'static str) -> ReadFile {
        let (name, kind) = (self.job.files[at].name.clone(), self.job.files[at].kind);
        self.job.files[at].read = true;
        if let Some(early) = self.options.until.reached() {
            self.stopped = true;
            self.job.note(&name, None, &Problem::stopped(early, 0));
            return ReadFile {
                file: name,
                parser: None,
                bytes: 0,
            };
        }
        if !self.belongs(&name, kind) {
            return ReadFile {
                file: name,
                parser: None,
                bytes: 0,
            };
        }
        let outcome = match kind {
            FileKind::VertexEvents => self.stream(&name),
            FileKind::SparkEvents => self.event_log(&name),
            _ => self.whole(&name, kind),
        };
        let (parser, bytes) = match outcome {
            Ok(bytes) => (Some(parser), bytes),
            Err(error) => {
                unreadable_file(&mut self.job, &name, &error);
                (None, 0)
            }
        };
        let file = name;
        ReadFile {
            file,
            parser,
            bytes,
        }
    }

    /// Whether a file may belong to the same job as the event log, if there is one; otherwise notes a problem.
    pub(super) fn belongs(&mut self, name: &str, kind: FileKind) -> bool {
        let is_spark = self.events.is_some() || self.job.spark.is_some();
        let belongs = !is_spark || kind.is_spark() || kind == FileKind::Script;
        if !belongs {
            self.job.note(name, None, &Problem::NotOfSpark);
        }
        belongs
    }

    /// Vertex events may be larger than memory.
    fn stream(&mut self, name: &str) -> std::io::Result<u64> {
        let open = || open(self.folder.as_ref(), name);
        let read = read::events::read_file(name, &open, &self.options, &mut self.job);
        self.stopped |= self.options.until.reached().is_some();
        read
    }

    fn event_log(&mut self, name: &str) -> std::io::Result<u64> {
        let log = open(self.folder.as_ref(), name)?;
        self.spark_events(name, log.file)?;
        Ok(log.bytes)
    }

    /// Reads a part of an event log.
    pub(super) fn spark_events(&mut self, name: &str, stream: impl Read) -> std::io::Result<()> {
        let mut events = self.events.take();
        let events = events.get_or_insert_with(|| {
            Box::new(spark::Collector::new(self.options.max_runs_per_stage))
        });
        let cut = spark::read(name, stream, events, &self.options.until);
        self.events = Some(std::mem::take(events));
        if let Some(cut) = cut? {
            self.stopped |= cut.is_early_stop();
            self.job.note(name, None, &cut);
        }
        Ok(())
    }

    /// Parses the scripts of an application.
    fn spark_scripts(&mut self) {
        let Some(app) = &mut self.job.spark else {
            return;
        };
        if app.scripts.is_empty() {
            app.scripts.extend(self.given.clone());
        }
        let is_given = self.given.is_some();
        for (file, text) in self.scripts.drain(..).filter(|_| !is_given) {
            app.scripts.push(Program::parse(&file, &text));
        }
        self.job.choose_program();
    }

    fn whole(&mut self, name: &str, kind: FileKind) -> std::io::Result<u64> {
        let limit = self.options.max_file_bytes.min(most_bytes(kind));
        let bytes = open(self.folder.as_ref(), name)?.head(limit)?;
        if bytes.len() as u64 == limit {
            self.job.note(name, None, &Problem::OnlyFirst(limit));
        }
        self.take(name, kind, &bytes);
        Ok(bytes.len() as u64)
    }

    pub(super) fn take(&mut self, name: &str, kind: FileKind, bytes: &[u8]) {
        let decoded = decode(bytes);
        if decoded.replaced {
            let problem = Problem::NotOfEncoding(decoded.encoding);
            self.job.note(name, None, &problem);
        }
        let nul = memchr::memchr(0, decoded.text.as_bytes());
        let entity = declared_entity(&decoded.text);
        for (at, problem) in [(nul, Problem::Nul), (entity, Problem::Entities)] {
            if let Some(at) = at {
                let place = format!("line {}", line_at(&decoded.text, at));
                self.job.note(name, Some(place), &problem);
            }
        }
        let input = Input::new(name, &decoded.text);
        if matches!(kind, FileKind::Script | FileKind::SparkScript) {
            let script = (name.to_owned(), decoded.text.into_owned());
            self.scripts.push(script);
        } else {
            take(kind, &input, &mut self.job);
        }
    }

    /// Takes a script from elsewhere, for an application.
    ///
    /// # Errors
    /// The script cannot be read.
    pub fn use_script(&mut self, path: &Path) -> Result<(), OpenError> {
        let unreadable = |source| OpenError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let limit = self
            .options
            .max_file_bytes
            .min(most_bytes(FileKind::SparkScript));
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(limit)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        self.given = Some(Program::parse(
            &file.display().to_string(),
            &decode(&bytes).text,
        ));
        Ok(())
    }

    /// Whether reading stopped early, so that files or the rest of a log were left unread.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Reports the links of an archive. Links are never followed.
    pub fn note_links(&mut self, names: &[String]) {
        for name in names {
            self.job.note(name, None, &Problem::Link);
        }
    }

    pub fn job(&self) -> &Job {
        &self.job
    }

    pub fn into_job(self) -> Job {
        self.job
    }

    /// The beginning of a file as text, at most `max_bytes` of it; of a compressed log, of its events. Names outside the folder and links are
    /// refused.
    pub fn text(&self, name: &str, max_bytes: usize) -> Result<String, TextError> {
        let mut parts = Path::new(name).components();
        let inside = parts.all(|c| matches!(c, Component::Normal(_)));
        if !inside || name.contains('\\') {
            return Err(TextError::Outside(name.to_owned()));
        }
        let file = self.job.files.iter().find(|file| file.name == name);
        let file = file.ok_or_else(|| TextError::Unknown(name.to_owned()))?;
        let unreadable = |source| TextError::Unreadable {
            name: name.to_owned(),
            source,
        };
        // a character with one byte in UTF-8 has two in UTF-16
        let most = (max_bytes as u64).saturating_mul(2).saturating_add(4);
        let opened = open(self.folder.as_ref(), name);
        let bytes = opened.and_then(|opened| match file.kind {
            FileKind::SparkEvents => spark::head(opened.file, most),
            _ => opened.head(most),
        });
        let bytes = bytes.map_err(unreadable)?;
        let Decoded { text, replaced, .. } = decode(&bytes);
        if replaced && text.contains('\0') {
            return Err(TextError::NoText(name.to_owned()));
        }
        Ok(head(text.strip_prefix('\u{feff}').unwrap_or(&text), max_bytes).to_owned())
    }
}

fn open(folder: Option<&Folder>, name: &str) -> std::io::Result<RegularFile> {
    let folder = folder.ok_or_else(|| std::io::Error::other("it is in memory only"))?;
    folder.file(name)
}

/// Offset of an entity declaration in an XML file. It comes before the root element, so near the beginning.
fn declared_entity(text: &str) -> Option<usize> {
    let beginning = head(text, HEAD_BYTES);
    let is_xml = beginning.trim_start().starts_with('<');
    memchr::memmem::find(beginning.as_bytes(), b"<!ENTITY").filter(|_| is_xml)
}

pub(super) fn unreadable_file(job: &mut Job, name: &str, error: &std::io::Error) {
    job.note(name, None, &Problem::Unreadable(error.to_string()));
}
