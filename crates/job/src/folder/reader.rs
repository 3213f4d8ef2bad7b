//! Reads listed files into the job, each once.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::Options;
use super::error::TextError;
use super::kinds::{order, take};
use crate::model::{FileKind, Job, JobFile};
use crate::problem::Problem;
use crate::read::{self, Input};
use crate::sniff::HEAD_BYTES;
use crate::text::{decode, head, line_at};

/// One file that was read, for the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Name relative to the job folder.
    pub file: String,
    /// Name of the reader that took it; `None` if it could not be read.
    pub parser: Option<&'static str>,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct JobReader {
    pub(super) job: Job,
    pub(super) options: Options,
    /// Scripts read; one of them becomes the job's script.
    pub(super) scripts: Vec<(String, String)>,
}

impl JobReader {
    pub fn files(&self) -> &[JobFile] {
        &self.job.files
    }

    /// Reads those files into the job, unless they have been read, and links everything again.
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

    pub fn read_all(&mut self) -> Vec<ReadFile> {
        self.read_where(|_| true)
    }

    fn read_where(&mut self, wanted: impl Fn(&JobFile) -> bool) -> Vec<ReadFile> {
        let mut todo: Vec<(usize, &'static str)> = self
            .job
            .files
            .iter()
            .enumerate()
            .filter(|(_, file)| !file.read && wanted(file))
            .filter_map(|(at, file)| Some((at, file.kind.parser()?)))
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
        read::events::read_file(name, &path, &self.options, &mut self.job)
    }

    fn whole(&mut self, name: &str, kind: FileKind) -> std::io::Result<u64> {
        let limit = self.options.max_file_bytes;
        let file = File::open(self.inside(name)?)?;
        // one more than the file has, so that its end is seen without growing
        let expected = file.metadata()?.len().min(limit) as usize + 1;
        let mut bytes = Vec::with_capacity(expected);
        file.take(limit).read_to_end(&mut bytes)?;
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
        if let Some(at) = memchr::memchr(0, decoded.text.as_bytes()) {
            let line = line_at(&decoded.text, at);
            let place = Some(format!("line {line}"));
            self.job.note(name, place, &Problem::Nul);
        }
        if let Some(at) = declared_entity(&decoded.text) {
            let line = line_at(&decoded.text, at);
            let place = Some(format!("line {line}"));
            self.job.note(name, place, &Problem::Entities);
        }
        let input = Input::new(name, &decoded.text);
        if kind == FileKind::Script {
            self.scripts
                .push((name.to_owned(), decoded.text.into_owned()));
        } else {
            take(kind, &input, &mut self.job);
        }
    }

    pub fn job(&self) -> &Job {
        &self.job
    }

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
}

/// Where an XML file declares an entity: before its root element, so near its beginning.
fn declared_entity(text: &str) -> Option<usize> {
    let beginning = head(text, HEAD_BYTES);
    beginning
        .trim_start()
        .starts_with('<')
        .then(|| memchr::memmem::find(beginning.as_bytes(), b"<!ENTITY"))
        .flatten()
}

pub(super) fn unreadable_file(job: &mut Job, name: &str, error: &std::io::Error) {
    job.note(name, None, &Problem::Unreadable(error.to_string()));
}
