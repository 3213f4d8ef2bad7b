//! The job folder as far as it has been read, and what the rules say about it.

use std::sync::Arc;

use diagnosis::Diagnosis;
use job::{Job, JobReader, ReadFile};

use crate::facts::{Excerpt, Facts, Reading};
use crate::found::Found;
use crate::outline::{self, Outline};
use crate::progress::{Event, Observer};
use crate::request::{AnalyzeError, Request, Services};
use report::{Diagnostic, FileRead, Language};

pub(super) struct Folder<'a> {
    services: &'a Services<'a>,
    question: Option<String>,
    language: Language,
    reader: JobReader,
    diagnosis: Diagnosis,
    facts: Arc<Facts>,
    files_read: Vec<FileRead>,
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
        let mut reader = job::open(&request.job, &services.reading)?;
        observer.event(Event::JobOpened {
            files: reader.files().len(),
        });
        let core = reader.read_core();
        let language = request.report_language();
        let diagnosis = diagnose(reader.job(), services, language);
        let facts = facts(
            reader.job(),
            &diagnosis,
            services,
            request.question.clone(),
            language,
        );
        let mut folder = Folder {
            services,
            question: request.question.clone(),
            language,
            reader,
            diagnosis,
            facts: Arc::new(facts),
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
        self.diagnosis = diagnose(self.reader.job(), self.services, self.language);
        self.facts = Arc::new(facts(
            self.reader.job(),
            &self.diagnosis,
            self.services,
            self.question.clone(),
            self.language,
        ));
        self.note(&read, observer);
    }

    fn note(&mut self, read: &[ReadFile], observer: &mut dyn Observer) {
        for file in read {
            observer.event(Event::FileRead {
                file: &file.file,
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

    /// Quotes the beginning of a file.
    pub(super) fn quote(&mut self, name: &str) -> Result<(), job::TextError> {
        let of_name = |f: &&job::model::JobFile| f.name == name;
        let bytes = self
            .reader
            .files()
            .iter()
            .find(of_name)
            .map_or(0, |f| f.bytes);
        let text = self.reader.text(name, self.services.limits.excerpt_bytes)?;
        self.excerpts.push(crate::tools::excerpt(name, text, bytes));
        Ok(())
    }

    pub(super) fn add_excerpt(&mut self, excerpt: Excerpt) {
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
            rounds: self.services.limits.rounds,
        }
    }

    /// What the readers could not make sense of.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        outline::diagnostics(self.reader.job(), self.language)
    }

    pub(super) fn into_parts(self) -> (Job, Diagnosis, Arc<Facts>, Vec<FileRead>) {
        let job = self.reader.into_job();
        (job, self.diagnosis, self.facts, self.files_read)
    }
}

fn diagnose(job: &Job, services: &Services<'_>, language: Language) -> Diagnosis {
    diagnosis::diagnose(job, services.catalogue, services.diagnosis, language)
}

fn facts(
    job: &Job,
    diagnosis: &Diagnosis,
    services: &Services<'_>,
    question: Option<String>,
    language: Language,
) -> Facts {
    Facts {
        language,
        question,
        job: outline::summary(job),
        outline: Outline::of(job, services.catalogue, language),
        found: Found::of(
            job,
            diagnosis,
            services.catalogue,
            services.kind_prior,
            language,
        ),
    }
}
