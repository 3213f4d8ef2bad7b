//! The report of a run, whole or partial.

use report::{
    Answer, Evidence, Experience, ReasonerKind, Report, SCHEMA_VERSION, Step, Suggestion,
};
use serde::Deserialize;

use super::Analysis;
use super::run::Run;
use crate::conclusion::Reply;
use crate::step::StepId;
use crate::wording::cites;

impl Run<'_> {
    /// The report as far as the rules make it: no steps, no experience, no answer.
    pub(super) fn draft(&self) -> Report {
        let (facts, diagnosis) = (self.folder.facts(), &self.folder.diagnosis);
        let found = &facts.found;
        let missing = found.missing.iter().map(|m| m.information.clone());
        Report {
            schema_version: SCHEMA_VERSION,
            run_id: self.id.clone(),
            job: facts.job.clone(),
            question: facts.question.clone(),
            answer: None,
            language: facts.language,
            engine: self.panel.concluding(),
            verdict: found.verdict,
            problem_type: found.problem_type,
            time: diagnosis.time.clone(),
            cost: diagnosis.cost.clone(),
            findings: found.findings.clone(),
            evidence: diagnosis.evidence.clone(),
            missing_information: missing.collect(),
            suggestions: found.suggestions.clone(),
            experiences: Vec::new(),
            steps: Vec::new(),
            files_read: self.folder.files_read.clone(),
            diagnostics: self.folder.diagnostics(),
            usage: None,
            checks: None,
            notes: diagnosis.notes.clone(),
            rules: diagnosis.rules.clone(),
            partial: false,
        }
    }

    /// The report on the work done so far, and the job as it was read.
    pub(super) fn finish(self, partial: bool) -> Analysis {
        let mut report = self.draft();
        self.answer(&mut report);
        report.suggestions = self.retrieval.supported(&self.folder.facts());
        report.suggestions.extend(self.notebook.proposed);
        for (index, suggestion) in report.suggestions.iter_mut().enumerate() {
            suggestion.id = format!("S{}", index + 1);
        }
        report.steps = self.notebook.steps.into_values().collect();
        report.experiences = self.retrieval.experiences();
        mark_used(&mut report.experiences, &report.steps, &report.suggestions);
        report.diagnostics.extend(self.notebook.remarks);
        let usage = self.panel.meter.total();
        let with_llm = usage.calls > 0 || report.engine.reasoner == ReasonerKind::Llm;
        report.usage = with_llm.then_some(usage);
        report.checks = with_llm.then_some(self.notebook.checks);
        report.partial = partial;
        Analysis {
            report,
            code: self.folder.facts().outline.code.clone(),
            job: self.folder.reader.into_job(),
        }
    }

    /// Answers the question: as THINK 5 did, else as the program does.
    fn answer(&self, report: &mut Report) {
        let Some(measured) = self.measured_answer() else {
            return;
        };
        let advice = self.notebook.steps.get(&StepId::Advice);
        let reply = advice.and_then(|step| Reply::deserialize(&step.conclusion["answer"]).ok());
        let answer = match reply.filter(|reply| !reply.text.trim().is_empty()) {
            Some(Reply { text, evidence }) => Answer { text, evidence },
            None => Answer {
                evidence: measured.evidence.iter().map(|e| e.id.clone()).collect(),
                text: measured.text,
            },
        };
        let known = |id: &String| report.evidence.iter().any(|e| e.id == *id);
        let new: Vec<Evidence> = measured
            .evidence
            .into_iter()
            .filter(|e| !known(&e.id) && refers(&answer, &e.id))
            .collect();
        report.evidence.extend(new);
        report.answer = Some(answer);
    }
}

/// Whether an answer refers to some evidence, in its text or its list.
fn refers(answer: &Answer, id: &str) -> bool {
    answer.evidence.iter().any(|e| e == id) || cites(&answer.text, id)
}

/// Marks the chunks that a conclusion or a suggestion cites.
fn mark_used(experiences: &mut [Experience], steps: &[Step], suggestions: &[Suggestion]) {
    for experience in experiences {
        let step = steps.iter().find(|s| s.id == experience.step);
        let cited = step.is_some_and(|s| s.conclusion.to_string().contains(&experience.chunk));
        let supports = suggestions
            .iter()
            .any(|s| s.sources.contains(&experience.chunk));
        experience.used = cited || supports;
    }
}
