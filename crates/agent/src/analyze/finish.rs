//! The report of a run, whole or partial.

use job::Job;
use report::{Experience, ReasonerKind, Report, SCHEMA_VERSION, Step, Suggestion};

use super::run::Run;

impl Run<'_> {
    /// The report of what has been done, and the job as it was read.
    pub(super) fn finish(self, partial: bool) -> (Report, Job) {
        let mut suggestions = self.retrieval.supported(&self.folder.facts());
        suggestions.extend(self.notebook.proposed);
        for (index, suggestion) in suggestions.iter_mut().enumerate() {
            suggestion.id = format!("S{}", index + 1);
        }
        let steps: Vec<Step> = self.notebook.steps.into_values().collect();
        let mut experiences = self.retrieval.into_experiences();
        mark_used(&mut experiences, &steps, &suggestions);
        let mut diagnostics = self.folder.diagnostics();
        diagnostics.extend(self.notebook.remarks);
        let usage = self.panel.meter.total();
        let engine = self.panel.engine;
        let with_llm = usage.calls > 0 || engine.reasoner == ReasonerKind::Llm;
        let (job, diagnosis, facts, files_read) = self.folder.into_parts();
        let found = &facts.found;
        let missing = found.missing.iter().map(|m| m.information.clone());
        let report = Report {
            schema_version: SCHEMA_VERSION,
            run_id: self.id,
            job: facts.job.clone(),
            question: facts.question.clone(),
            answer: None,
            language: facts.language,
            engine,
            verdict: found.verdict,
            problem_type: found.problem_type,
            time: diagnosis.time,
            cost: diagnosis.cost,
            findings: found.findings.clone(),
            evidence: diagnosis.evidence,
            missing_information: missing.collect(),
            suggestions,
            experiences,
            steps,
            files_read,
            diagnostics,
            usage: with_llm.then_some(usage),
            checks: with_llm.then_some(self.notebook.checks),
            notes: diagnosis.notes,
            rules: diagnosis.rules,
            partial,
        };
        (report, job)
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
