//! One analysis in progress: the folder, the experience, the reasoners, and their conclusions.

use std::sync::Mutex;
use std::time::Duration;

use crate::conclusion::Conclusion;
use crate::facts::{MeasuredAnswer, StepInput};
use crate::progress::{Event, Observer};
use crate::reasoner::Answer;
use crate::request::{AnalyzeError, Request, Services};
use crate::step::StepId;

use super::folder::Folder;
use super::notebook::Notebook;
use super::panel::{Panel, StepOutcome};
use super::retrieval::Retrieval;

pub(super) struct Run<'a> {
    pub(super) services: &'a Services<'a>,
    pub(super) id: String,
    pub(super) folder: Folder<'a>,
    pub(super) retrieval: Retrieval<'a>,
    pub(super) panel: Panel<'a>,
    pub(super) notebook: Notebook,
}

impl<'a> Run<'a> {
    pub(super) fn open(
        request: &Request,
        services: &'a Services<'a>,
        observer: &mut dyn Observer,
    ) -> Result<Run<'a>, AnalyzeError> {
        let id = request.run_id.clone();
        Ok(Run {
            services,
            id: id.unwrap_or_else(|| ulid::Ulid::generate().to_string()),
            folder: Folder::open(request, services, observer)?,
            retrieval: Retrieval::new(request, services),
            panel: Panel::new(services),
            notebook: Notebook::new(request.report_language()),
        })
    }

    /// The input of some steps, with their experience.
    pub(super) fn input(&mut self, ids: &[StepId]) -> StepInput {
        let facts = self.folder.facts();
        let experiences = match self.retrieval.passages(ids, &facts) {
            Ok(passages) => passages,
            Err(error) => {
                self.notebook.warn(
                    format!("the knowledge base could not be searched: {error}"),
                    Some("rebuild the index"),
                );
                Vec::new()
            }
        };
        let mut input = self.input_without_experience();
        if ids.contains(&StepId::Advice) {
            input.suggestions = self.retrieval.supported(&facts);
            input.answer = self.measured_answer();
        }
        input.experiences = experiences;
        input
    }

    pub(super) fn input_without_experience(&self) -> StepInput {
        let facts = self.folder.facts();
        StepInput {
            suggestions: facts.found.suggestions.clone(),
            facts,
            experiences: Vec::new(),
            memory: self.notebook.memory(),
            reading: self.folder.reading(),
            answer: None,
        }
    }

    /// The question, answered by the program as far as the folder has been read.
    pub(super) fn measured_answer(&self) -> Option<MeasuredAnswer> {
        let answerer = self.services.answerer?;
        answerer(&self.draft(), self.folder.job())
    }

    pub(super) async fn conclude(
        &mut self,
        ids: &[StepId],
        observer: &mut dyn Observer,
    ) -> Result<(Answer, Duration), AnalyzeError> {
        let input = self.input(ids);
        let job = self.folder.job();
        let outcome = self.panel.think(ids, &input, job, observer).await?;
        Ok(self.accept(outcome))
    }

    /// Runs two steps concurrently; neither sees the other's conclusion.
    pub(super) async fn conclude_both(
        &mut self,
        ids: [StepId; 2],
        observer: &mut dyn Observer,
    ) -> [Result<(Answer, Duration), AnalyzeError>; 2] {
        let [first, second] = ids.map(|id| [id]);
        let inputs = [self.input(&first), self.input(&second)];
        let shared = Mutex::new(observer);
        let tell = |event: Event<'_>| {
            if let Ok(mut observer) = shared.lock() {
                observer.event(event);
            }
        };
        let (mut one, mut other) = (tell, tell);
        let job = self.folder.job();
        let (a, b) = futures::future::join(
            self.panel.think(&first, &inputs[0], job, &mut one),
            self.panel.think(&second, &inputs[1], job, &mut other),
        )
        .await;
        [a, b].map(|outcome| Ok(self.accept(outcome?)))
    }

    /// Records an outcome's reasoner failures and claims.
    fn accept(&mut self, outcome: StepOutcome) -> (Answer, Duration) {
        for failure in &outcome.failures {
            let (step, error) = (failure.step.id(), &failure.error);
            let message = match self.panel.fall_back(failure) {
                // the report's engine has the error
                true => format!("from step `{step}` on another reasoner was used"),
                false if failure.lasts() => continue,
                false => format!("step `{step}` was concluded without the model: {error}"),
            };
            self.notebook.warn(message, Some(error.hint()));
        }
        let mut answer = outcome.answer;
        let lost = outcome.failures.iter().filter(|f| !f.lasts());
        answer.remarks.extend(lost.map(|f| f.error.to_string()));
        // THINK 4 accepts any text as an answer, so an answer there does not show that the model is usable.
        let is_other = |c: &Conclusion| !matches!(c, Conclusion::Completeness(_));
        if outcome.check.is_some() && answer.conclusions.iter().any(is_other) {
            self.panel.note_answer();
        }
        let checks = &mut self.notebook.checks;
        checks.repaired += u32::from(answer.repaired);
        if let Some(check) = outcome.check {
            checks.claims += check.checks.claims;
            checks.dropped += check.checks.dropped;
            checks.unverified += check.checks.unverified;
            answer.remarks.extend(check.remarks);
            // Only advice proposes; a repeated step replaces its proposals.
            let is_advice = |c: &Conclusion| matches!(c, Conclusion::Advice(_));
            if answer.conclusions.iter().any(is_advice) {
                self.notebook.proposed = check.proposed;
            }
        }
        (answer, outcome.elapsed)
    }
}
