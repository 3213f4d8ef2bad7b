//! The report of a run, whole or partial.

use crate::draft::{self, Numbered};
use crate::progress::{Event, Observer};
use report::{Experience, ReasonerKind, Report, SCHEMA_VERSION, Step, Suggestion};

use super::run::Run;

impl Run<'_> {
    /// The report of what has been done.
    pub(crate) fn into_report(mut self, partial: bool, observer: &mut dyn Observer) -> Report {
        let mut view = self.facts();
        self.support(&mut view);
        let mut suggestions = view.suggestions;
        suggestions.append(&mut self.proposed);
        for (index, suggestion) in suggestions.iter_mut().enumerate() {
            suggestion.id = format!("S{}", index + 1);
        }
        let steps: Vec<Step> = self.steps.into_values().collect();
        let mut experiences: Vec<Experience> = self.experiences.into_values().flatten().collect();
        mark_used(&mut experiences, &steps, &suggestions);
        let mut diagnostics = draft::diagnostics(self.reader.job(), self.language);
        diagnostics.extend(self.remarks);
        let mut numbered = Numbered::default();
        // Numbered anew in the same order, so that the ids of the findings' facts stay.
        draft::findings(&self.diagnosis.findings, "F", &mut numbered, self.language);
        let notes = draft::findings(&self.diagnosis.notes, "N", &mut numbered, self.language);
        let rules = draft::rules(&self.diagnosis, &mut numbered, self.language);
        observer.event(Event::Finished {
            job: self.reader.job(),
        });
        let usage = self.meter.total();
        let with_llm = usage.calls > 0 || self.engine.reasoner == ReasonerKind::Llm;
        Report {
            schema_version: SCHEMA_VERSION,
            run_id: self.id,
            job: view.job,
            question: view.question,
            answer: None,
            language: view.language,
            engine: self.engine,
            verdict: view.verdict,
            problem_type: view.problem_type,
            time: None,
            cost: None,
            findings: view.findings,
            evidence: numbered.evidence,
            missing_information: view.missing.into_iter().map(|m| m.information).collect(),
            suggestions,
            experiences,
            steps,
            files_read: self.files_read,
            diagnostics,
            usage: with_llm.then_some(usage),
            checks: with_llm.then_some(self.checks),
            notes,
            rules,
            partial,
        }
    }
}

/// Marks the chunks that a conclusion or a suggestion cites.
fn mark_used(experiences: &mut [Experience], steps: &[Step], suggestions: &[Suggestion]) {
    for experience in experiences {
        let step = steps.iter().find(|s| s.id == experience.step);
        let cited = step.is_some_and(|s| mentions(&s.conclusion, &experience.chunk));
        let supports = suggestions
            .iter()
            .any(|s| s.sources.contains(&experience.chunk));
        experience.used = cited || supports;
    }
}

fn mentions(value: &serde_json::Value, chunk: &str) -> bool {
    match value {
        serde_json::Value::String(text) => text.contains(chunk),
        serde_json::Value::Array(items) => items.iter().any(|item| mentions(item, chunk)),
        serde_json::Value::Object(map) => map.values().any(|item| mentions(item, chunk)),
        _ => false,
    }
}
