//! Obvious aliases become the ids that they stand for: `skew.join_hot_key` for F1, `S1 (hint, fixes F1)` for S1.

use super::Checker;
use crate::conclusion::Conclusion;

impl Checker<'_> {
    /// Replaces aliases in the fields of a conclusion.
    pub(super) fn coerce(&self, conclusion: &mut Conclusion) {
        let allowed = &self.allowed;
        let finding = |raw: &str| allowed.finding(raw, self.input);
        let evidence = |raw: &str| allowed.evidence(raw);
        let chunk = |raw: &str| allowed.chunk(raw);
        match conclusion {
            Conclusion::Classify(c) => {
                each(&mut c.findings, finding);
                each(&mut c.evidence, evidence);
                each(&mut c.experiences, chunk);
            }
            Conclusion::KeyCode(c) => {
                for module in &mut c.modules {
                    one(&mut module.finding, finding);
                    one(&mut module.stage, |raw| allowed.stage(raw));
                }
                each(&mut c.experiences, chunk);
            }
            Conclusion::Experience(c) => {
                for cause in &mut c.causes {
                    if let Some(code) = allowed.cause(&cause.cause, self.input) {
                        cause.cause = code;
                    }
                    one(&mut cause.finding, finding);
                    each(&mut cause.evidence, evidence);
                    each(&mut cause.experiences, chunk);
                }
            }
            Conclusion::Completeness(c) => {
                for wanted in &mut c.files {
                    if let Some(file) = allowed.file(&wanted.file) {
                        wanted.file = file;
                    }
                }
                each(&mut c.experiences, chunk);
            }
            Conclusion::Advice(c) => {
                for recommendation in &mut c.recommendations {
                    let raw = &recommendation.suggestion;
                    if let Some(id) = allowed.suggestion(raw, self.input) {
                        recommendation.suggestion = id;
                    }
                    each(&mut recommendation.evidence, evidence);
                    each(&mut recommendation.experiences, chunk);
                }
                for proposal in &mut c.additional {
                    one(&mut proposal.finding, finding);
                    each(&mut proposal.evidence, evidence);
                    each(&mut proposal.experiences, chunk);
                }
                each(&mut c.answer.evidence, evidence);
            }
            Conclusion::Hypotheses(c) => {
                for hypothesis in &mut c.hypotheses {
                    each(&mut hypothesis.evidence, evidence);
                    one(&mut hypothesis.file, |raw| allowed.file(raw));
                }
            }
            Conclusion::Answer(c) => each(&mut c.evidence, evidence),
        }
    }
}

fn each(ids: &mut Vec<String>, alias: impl Fn(&str) -> Option<String>) {
    for id in ids.iter_mut() {
        if let Some(known) = alias(id) {
            *id = known;
        }
    }
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| !id.trim().is_empty() && seen.insert(id.clone()));
}

/// "null" and "none" written as a text are no id.
fn one(id: &mut Option<String>, alias: impl Fn(&str) -> Option<String>) {
    let Some(raw) = id else {
        return;
    };
    let lower = raw.trim().to_lowercase();
    if matches!(lower.as_str(), "" | "null" | "none" | "n/a" | "无" | "-") {
        *id = None;
    } else if let Some(known) = alias(raw) {
        *id = Some(known);
    }
}
