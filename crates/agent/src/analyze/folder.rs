//! The files of the job folder read so far, and the rules' results for them.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use diagnosis::Diagnosis;
use job::{Job, JobReader, ReadFile};

use crate::conclusion::Lookup;
use crate::experience::Bounds;
use crate::facts::{Excerpt, Facts, Reading};
use crate::found::Found;
use crate::measures;
use crate::outline::{self, Outline};
use crate::private;
use crate::progress::{Event, Observer};
use crate::request::{AnalyzeError, Request, Services};
use crate::terms::Terms;
use crate::tools;
use crate::tools::digest::{self, Look, Part};
use crate::wording::{run_on, shorten};
use report::format::cut;
use report::{Diagnostic, FileRead};

/// Searched bytes of a file; code and scripts are far smaller.
const REACHABLE: usize = 8 << 20;

/// Bytes of a file's text that a prompt may quote.
const EXCERPT_BYTES: usize = 16 << 10;

/// Length of the one-line summary of a file, in bytes.
const CONTENT_BYTES: usize = 240;

/// Share of the time of an analysis that reading may take.
const READING: f64 = 0.7;

pub(super) struct Folder<'a> {
    services: &'a Services<'a>,
    request: Request,
    pub(super) reader: JobReader,
    pub(super) diagnosis: Diagnosis,
    facts: Arc<Facts>,
    pub(super) files_read: Vec<FileRead>,
    excerpts: Vec<Excerpt>,
    pub(super) round: u32,
}

impl<'a> Folder<'a> {
    /// Opens the folder, reads its core files and diagnoses them.
    pub(super) fn open(
        request: &Request,
        services: &'a Services<'a>,
        observer: &mut dyn Observer,
    ) -> Result<Folder<'a>, AnalyzeError> {
        let mut reading = services.reading.clone();
        let deadline = request
            .time
            .map(|time| Instant::now() + time.mul_f64(READING));
        let cancel = services.cancel.clone();
        reading.until = job::Until::deadline(deadline).or_when(move || cancel.is_cancelled());
        let mut reader = job::open(&request.job, &reading)?;
        reader.note_links(&request.links);
        if let Some(script) = &request.script {
            reader.use_script(script)?;
        }
        if let Some(origin) = &request.origin {
            reader.set_origin(origin);
        }
        observer.event(Event::JobOpened {
            files: reader.files().len(),
        });
        let core = reader.read_core();
        let (diagnosis, facts) = diagnose(&reader, services, request);
        let mut folder = Folder {
            services,
            request: request.clone(),
            reader,
            diagnosis,
            facts,
            files_read: Vec::new(),
            excerpts: Vec::new(),
            round: 0,
        };
        folder.note(&core, observer);
        Ok(folder)
    }

    /// Reads files through their parsers and diagnoses again.
    pub(super) fn read(&mut self, names: &[&str], observer: &mut dyn Observer) {
        let read = self.reader.read(names);
        (self.diagnosis, self.facts) = diagnose(&self.reader, self.services, &self.request);
        if self.services.redact {
            hide_words(&mut self.facts, &self.excerpts);
        }
        self.note(&read, observer);
    }

    fn note(&mut self, read: &[ReadFile], observer: &mut dyn Observer) {
        for file in read {
            observer.event(Event::FileRead {
                file: file.file.as_str().into(),
                round: self.round,
            });
            self.files_read.push(FileRead {
                file: file.file.clone(),
                parser: file.parser.map(str::to_owned),
                bytes: file.bytes,
                round: self.round,
            });
        }
        observer.event(Event::Diagnosed {
            findings: self.facts.found.findings.len(),
            missing: self.facts.found.missing.len(),
        });
    }

    /// Quotes a file or a part of it: the reader's digest, otherwise its text.
    ///
    /// # Errors
    /// If its text is needed and cannot be read.
    pub(super) fn quote(&mut self, name: &str, part: Option<&str>) -> Result<(), job::TextError> {
        let unknown = || job::TextError::Unknown(name.to_owned());
        let mut files = self.reader.files().iter();
        let file = files.find(|f| f.name == name).ok_or_else(unknown)?;
        let failure = Cell::new(None);
        let text = |name: &str| {
            let text = self.reader.text(name, REACHABLE);
            text.map_err(|error| failure.set(Some(error))).ok()
        };
        let shown = tools::show(&self.look(&text), file, part, &self.facts);
        let shown = shown.ok_or_else(|| failure.take().unwrap_or_else(unknown))?;
        let kept = cut(&shown, EXCERPT_BYTES).to_owned();
        let name = tools::shown_name(name, part);
        self.add_excerpt(tools::excerpt(&name, kept, shown.len() as u64));
        Ok(())
    }

    /// Serves a tool other than reading files.
    pub(super) fn look_up(&mut self, lookup: &Lookup, bounds: Bounds<'_>) {
        let text = |name: &str| self.reader.text(name, REACHABLE).ok();
        let experience = self.services.index.map(|index| (index, bounds));
        let look = self.look(&text);
        let excerpt = tools::look_up(lookup, &look, experience, &self.facts, EXCERPT_BYTES);
        self.add_excerpt(excerpt);
    }

    /// One-line summary of a file; `None` if its reader gives no digest.
    pub(super) fn content(&self, name: &str) -> Option<String> {
        let file = self.reader.files().iter().find(|f| f.name == name)?;
        let text = |_: &str| None;
        let look = Look {
            enough: CONTENT_BYTES,
            ..self.look(&text)
        };
        let digest = digest::digest(&look, file, Part::Whole, &self.facts)?;
        let mut content = run_on(&digest.lines, self.facts.language);
        shorten(&mut content, CONTENT_BYTES);
        Some(content)
    }

    fn look<'l>(&'l self, text: &'l dyn Fn(&str) -> Option<String>) -> Look<'l> {
        Look {
            job: self.job(),
            language: self.facts.language,
            text,
            enough: usize::MAX,
        }
    }

    pub(super) fn add_excerpt(&mut self, excerpt: Excerpt) {
        if self.services.redact {
            hide_words(&mut self.facts, std::slice::from_ref(&excerpt));
        }
        self.excerpts.push(excerpt);
    }

    pub(super) fn excerpt(&self, name: &str) -> Option<&Excerpt> {
        self.excerpts.iter().find(|e| e.name == name)
    }

    pub(super) fn job(&self) -> &Job {
        self.reader.job()
    }

    pub(super) fn facts(&self) -> Arc<Facts> {
        Arc::clone(&self.facts)
    }

    pub(super) fn reading(&self) -> Reading {
        Reading {
            read: self.files_read.iter().map(|f| f.file.clone()).collect(),
            excerpts: self.excerpts.clone(),
            round: self.round,
            rounds: self.services.rounds,
        }
    }

    /// Parts of the files that the readers could not interpret.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let (found, language) = (&self.job().diagnostics, self.facts.language);
        found.iter().map(|d| d.localize(language)).collect()
    }
}

/// Masks the words of quoted texts from now on.
fn hide_words(facts: &mut Arc<Facts>, quoted: &[Excerpt]) {
    if let Some(mask) = &mut Arc::make_mut(facts).mask {
        quoted.iter().for_each(|e| private::words(mask, &e.text));
    }
}

/// Runs the rules on the files read so far; returns the facts for the steps.
fn diagnose(
    reader: &JobReader,
    services: &Services<'_>,
    request: &Request,
) -> (Diagnosis, Arc<Facts>) {
    let job = reader.job();
    let (catalogue, language) = (services.catalogue, request.report_language());
    let diagnosis = advice::diagnose(job, catalogue, services.diagnosis, language);
    let summary = outline::summary(job);
    let terms = Terms::of(summary.engine.into(), language);
    let question = request.question.as_deref();
    let text = |name: &str| reader.text(name, REACHABLE).ok();
    let mut outline = Outline::of(job, &diagnosis, catalogue, question, &text, language);
    let with = (catalogue, services.diagnosis);
    let prior = services.kind_prior;
    let mask = services.redact.then(|| {
        let mut mask = private::mask(job);
        private::code(&mut mask, &outline.code);
        mask
    });
    let mut found = Found::of(job, &diagnosis, with, &outline.unread, prior);
    if services.asks_model() {
        outline.measure(job, &diagnosis, language);
        found.time = measures::time(diagnosis.time.as_ref(), &summary, language);
    }
    let facts = Facts {
        language,
        question: request.question.clone(),
        terms,
        job: summary,
        outline,
        found,
        mask,
    };
    (diagnosis, Arc::new(facts))
}
