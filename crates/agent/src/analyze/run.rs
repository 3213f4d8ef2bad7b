//! One analysis under way: what was read, what the rules say of it, what the steps concluded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use diagnosis::model::Diagnosis;
use job::{JobReader, ReadFile};

use crate::draft::{self, Numbered};
use crate::experience::{self, Answers, Asker};
use crate::progress::{Event, Observer};
use crate::reasoner::{Answer, Meter};
use crate::request::{AnalyzeError, Depth, Request, Services};
use crate::step::StepId;
use crate::view::{Excerpt, Passage, Remembered, View};
use llm::ToolRound;
use report::{
    Checks, Diagnostic, DiagnosticSeverity, Engine, Experience, FileRead, Language, Step,
    Suggestion,
};

/// Chunks cited per suggestion; a reader follows one or two.
const SOURCES_PER_SUGGESTION: usize = 2;

/// The state of one analysis.
pub(crate) struct Run<'a> {
    pub(crate) request: &'a Request,
    pub(crate) services: &'a Services<'a>,
    pub(crate) language: Language,
    pub(crate) reader: JobReader,
    pub(crate) diagnosis: Diagnosis,
    pub(crate) round: u32,
    pub(crate) excerpts: Vec<Excerpt>,
    /// The conversation of THINK 4 with the reasoner that leads it.
    pub(super) tool_rounds: Vec<ToolRound>,
    pub(super) id: String,
    pub(super) engine: Engine,
    /// How many reasoners have failed.
    pub(super) failed: usize,
    pub(super) steps: BTreeMap<StepId, Step>,
    pub(super) experiences: BTreeMap<StepId, Vec<Experience>>,
    answers: Answers,
    pub(super) proposed: Vec<Suggestion>,
    pub(super) files_read: Vec<FileRead>,
    pub(super) meter: Meter,
    pub(super) checks: Checks,
    pub(super) remarks: Vec<Diagnostic>,
}

impl<'a> Run<'a> {
    /// Opens the folder, reads its core files and diagnoses them.
    pub(crate) fn open(
        request: &'a Request,
        services: &'a Services<'a>,
        observer: &mut dyn Observer,
    ) -> Result<Run<'a>, AnalyzeError> {
        let mut reader = job::open(&request.job, &services.reading)?;
        observer.event(Event::JobOpened {
            files: reader.files().len(),
        });
        let core = reader.read_core();
        let diagnosis = diagnosis::diagnose(reader.job(), services.catalogue, services.diagnosis);
        let mut run = Run {
            request,
            services,
            language: request.report_language(),
            reader,
            diagnosis,
            round: 0,
            excerpts: Vec::new(),
            tool_rounds: Vec::new(),
            id: request
                .run_id
                .clone()
                .unwrap_or_else(|| ulid::Ulid::generate().to_string()),
            engine: services.reasoner.engine(),
            failed: 0,
            steps: BTreeMap::new(),
            experiences: BTreeMap::new(),
            answers: Answers::default(),
            proposed: Vec::new(),
            files_read: Vec::new(),
            meter: Meter::default(),
            checks: Checks::default(),
            remarks: Vec::new(),
        };
        run.note_files(&core, observer);
        run.note_diagnosis(observer);
        Ok(run)
    }

    /// Reads files through their parsers and diagnoses again.
    pub(crate) fn read(&mut self, names: &[&str], observer: &mut dyn Observer) {
        let read = self.reader.read(names);
        self.note_files(&read, observer);
        self.diagnosis = diagnosis::diagnose(
            self.reader.job(),
            self.services.catalogue,
            self.services.diagnosis,
        );
        self.note_diagnosis(observer);
    }

    fn note_files(&mut self, read: &[ReadFile], observer: &mut dyn Observer) {
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
    }

    fn note_diagnosis(&self, observer: &mut dyn Observer) {
        let findings = self.diagnosis.findings.len();
        observer.event(Event::Diagnosed {
            findings,
            missing: self.diagnosis.completeness.missing.len(),
        });
    }

    /// What the first steps rest on; equal fingerprints need no new conclusions.
    pub(crate) fn fingerprint(&self) -> (Vec<report::Finding>, Vec<report::Evidence>, usize) {
        let mut numbered = Numbered::default();
        let findings = draft::findings(&self.diagnosis.findings, "F", &mut numbered, self.language);
        let cleared = draft::cleared(&self.diagnosis, self.language).len();
        (findings, numbered.evidence, cleared)
    }

    /// Tells that steps begin.
    pub(crate) fn announce(&self, ids: &[StepId], observer: &mut dyn Observer) {
        for id in ids {
            observer.event(Event::StepStarted {
                step: *id,
                title: id.title(self.language),
            });
        }
    }

    /// Puts conclusions into memory and into the report.
    pub(crate) fn remember(
        &mut self,
        ids: &[StepId],
        answer: Answer,
        elapsed: Duration,
        observer: &mut dyn Observer,
    ) {
        let share = ids.len().max(1) as u64;
        let usage = answer.usage.unwrap_or_default();
        let elapsed_ms = elapsed.as_secs_f64() * 1e3 / share as f64;
        for (id, conclusion) in ids.iter().zip(&answer.conclusions) {
            let step = Step {
                id: id.id().to_owned(),
                title: id.title(self.language).to_owned(),
                conclusion: conclusion.to_value(),
                text: conclusion.text().to_owned(),
                tokens_in: usage.tokens_in / share,
                tokens_out: usage.tokens_out / share,
                elapsed_ms,
                repaired: answer.repaired,
                remarks: answer.remarks.clone(),
            };
            self.store(*id, step, observer);
        }
    }

    /// Keeps a step; a step that is drawn again keeps what its first conclusion cost.
    pub(crate) fn store(&mut self, id: StepId, mut step: Step, observer: &mut dyn Observer) {
        observer.event(Event::StepFinished {
            step: id,
            text: &step.text,
            elapsed_ms: step.elapsed_ms,
        });
        if let Some(earlier) = self.steps.get(&id) {
            step.tokens_in += earlier.tokens_in;
            step.tokens_out += earlier.tokens_out;
            step.elapsed_ms += earlier.elapsed_ms;
            step.repaired |= earlier.repaired;
            let old = earlier
                .remarks
                .iter()
                .filter(|r| !step.remarks.contains(r))
                .cloned()
                .collect::<Vec<_>>();
            step.remarks.splice(0..0, old);
        }
        self.steps.insert(id, step);
    }

    /// Says something about the run in the report.
    pub(crate) fn warn(&mut self, message: String, hint: Option<String>) {
        let warning = Diagnostic {
            severity: DiagnosticSeverity::Warning,
            file: None,
            locator: None,
            message,
            hint,
        };
        if !self.remarks.contains(&warning) {
            self.remarks.push(warning);
        }
    }

    /// What the next steps see, with their experience.
    pub(crate) fn view(&mut self, ids: &[StepId]) -> View {
        let mut view = self.facts();
        let mut passages: Vec<Passage> = Vec::new();
        for id in ids {
            for passage in self.retrieve(*id, &view) {
                if passages.iter().all(|p| p.chunk != passage.chunk) {
                    passages.push(passage);
                }
            }
        }
        view.experiences = passages;
        if ids.contains(&StepId::Advice) {
            self.support(&mut view);
        }
        view
    }

    fn retrieve(&mut self, id: StepId, view: &View) -> Vec<Passage> {
        let Some(asker) = self.asker() else {
            return Vec::new();
        };
        let deep = usize::from(self.request.depth == Depth::Deep) + 1;
        let k = self.services.limits.experiences_per_step * deep;
        match experience::retrieve(&asker, id, view, k) {
            Ok(hits) => {
                self.experiences.insert(id, experience::entries(id, &hits));
                experience::passages(&hits)
            }
            Err(error) => {
                self.warn(
                    format!("no experience could be looked up: {error}"),
                    Some("rebuild the index".to_owned()),
                );
                Vec::new()
            }
        }
    }

    fn asker(&self) -> Option<Asker<'a>> {
        let prior = self.services.prior;
        self.services.index.map(|source| Asker {
            source,
            prior,
            answers: Arc::clone(&self.answers),
        })
    }

    /// Looks up which chunks support the suggestions.
    pub(super) fn support(&mut self, view: &mut View) {
        let Some(asker) = self.asker() else { return };
        for index in 0..view.suggestions.len() {
            let topic = view.topics.get(index).cloned().unwrap_or_default();
            let finding = view.suggestions[index]
                .finding
                .as_deref()
                .and_then(|id| view.finding(id));
            let cause = finding.map(|f| f.cause.code());
            if let Ok(hits) =
                experience::support(&asker, &topic, cause, view, SOURCES_PER_SUGGESTION)
            {
                view.suggestions[index].sources =
                    hits.into_iter().map(|hit| hit.chunk.id).collect();
            }
        }
    }

    /// The facts so far in the report's language.
    pub(crate) fn facts(&self) -> View {
        let job = self.reader.job();
        let language = self.language;
        let mut numbered = Numbered::default();
        let findings = draft::findings(&self.diagnosis.findings, "F", &mut numbered, language);
        let evidence = numbered.evidence;
        let (suggestions, topics) = draft::suggestions(
            &self.diagnosis,
            &findings,
            self.services.kind_prior,
            language,
        );
        View {
            language,
            question: self.request.question.clone(),
            job: draft::summary(job),
            verdict: self.diagnosis.verdict,
            problem_type: draft::top_problem_type(&findings),
            findings,
            evidence,
            cleared: draft::cleared(&self.diagnosis, language),
            missing: draft::missing(&self.diagnosis, language),
            helpful: draft::helpful(job, self.services.catalogue, language),
            completeness: draft::score(&self.diagnosis),
            suggestions,
            topics,
            stages: draft::stages(job),
            statements: draft::statements(job),
            script: draft::script(job),
            names: draft::names(job),
            private_names: draft::private_names(job),
            errors: draft::errors(job),
            experiences: Vec::new(),
            memory: self.memory(),
            unread: draft::unread(job, self.services.catalogue, language),
            read: self.files_read.iter().map(|f| f.file.clone()).collect(),
            excerpts: self.excerpts.clone(),
            round: self.round,
            rounds: self.services.limits.rounds,
        }
    }

    fn memory(&self) -> Vec<Remembered> {
        let remembered = |step: &Step| Remembered {
            step: step.id.clone(),
            title: step.title.clone(),
            conclusion: step.conclusion.clone(),
            text: step.text.clone(),
        };
        self.steps.values().map(remembered).collect()
    }
}
