//! The conclusions of the steps, and the report's remarks on how they came about.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::facts::Remembered;
use crate::memory;
use crate::progress::{Event, Observer};
use crate::reasoner::Answer;
use crate::step::StepId;
use report::{Checks, Diagnostic, DiagnosticSeverity, Language, Step, Suggestion};

pub(super) struct Notebook {
    language: Language,
    pub(super) steps: BTreeMap<StepId, Step>,
    pub(super) checks: Checks,
    pub(super) proposed: Vec<Suggestion>,
    pub(super) remarks: Vec<Diagnostic>,
}

impl Notebook {
    pub(super) fn new(language: Language) -> Notebook {
        Notebook {
            language,
            steps: BTreeMap::new(),
            checks: Checks::default(),
            proposed: Vec::new(),
            remarks: Vec::new(),
        }
    }

    pub(super) fn announce(&self, ids: &[StepId], observer: &mut dyn Observer) {
        for id in ids {
            observer.event(Event::StepStarted {
                step: *id,
                title: id.title(self.language).into(),
            });
        }
    }

    pub(super) fn record_answer(
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
            self.record(*id, step, observer);
        }
    }

    /// Records a step; a repeated step keeps the cost of its first conclusion.
    pub(super) fn record(&mut self, id: StepId, mut step: Step, observer: &mut dyn Observer) {
        observer.event(Event::StepFinished {
            step: id,
            text: step.text.as_str().into(),
            elapsed_ms: step.elapsed_ms,
        });
        if let Some(earlier) = self.steps.remove(&id) {
            step.tokens_in += earlier.tokens_in;
            step.tokens_out += earlier.tokens_out;
            step.elapsed_ms += earlier.elapsed_ms;
            step.repaired |= earlier.repaired;
            let mut remarks = earlier.remarks;
            remarks.retain(|r| !step.remarks.contains(r));
            step.remarks.splice(0..0, remarks);
        }
        self.steps.insert(id, step);
    }

    pub(super) fn warn(&mut self, message: String, hint: Option<&str>) {
        let warning = Diagnostic {
            severity: DiagnosticSeverity::Warning,
            file: None,
            locator: None,
            message,
            hint: hint.filter(|h| !h.is_empty()).map(str::to_owned),
        };
        if !self.remarks.contains(&warning) {
            self.remarks.push(warning);
        }
    }

    /// Conclusions so far, for the steps that follow.
    pub(super) fn memory(&self) -> Vec<Remembered> {
        let remembered = |step: &Step| Remembered {
            step: step.id.clone(),
            title: step.title.clone(),
            conclusion: step.conclusion.clone(),
            text: step.text.clone(),
            lines: memory::lines(&step.id, &step.conclusion, &step.text, self.language),
            evidence: Vec::new(),
        };
        self.steps.values().map(remembered).collect()
    }
}
