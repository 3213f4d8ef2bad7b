//! The fields of a conclusion: unresolved references are removed, with the reason.

use report::{RuleResult, Text, text};

use super::{Checker, IDS_NAMED, settled_class};
use crate::conclusion::{CauseAnalysis, Conclusion, Module, Recommendation};

impl Checker<'_> {
    /// Removes unresolved references from lists and fields.
    pub(super) fn structure(&mut self, conclusion: &mut Conclusion) {
        match conclusion {
            Conclusion::Classify(c) => {
                self.keep_ids(&mut c.findings, "/findings");
                self.keep_ids(&mut c.evidence, "/evidence");
                self.keep_chunks(&mut c.experiences);
                self.keep(&mut c.also, |this, class| {
                    let findings = &this.input.facts.found.findings;
                    let code = class.code();
                    let fault = || {
                        text!(
                            "没有 `{code}` 类的发现",
                            "no finding has the class `{code}`"
                        )
                    };
                    (!findings.iter().any(|f| f.problem_type == *class)).then(fault)
                });
                self.outcome.claims += 1;
                let settled = settled_class(self.input).filter(|class| *class != c.problem_type);
                if let Some(class) = settled {
                    let code = class.code();
                    self.drop(text!(
                        "按发现，类别为 `{code}`",
                        "the class is `{code}` by the findings"
                    ));
                    c.problem_type = class;
                }
            }
            Conclusion::KeyCode(c) => {
                for module in &mut c.modules {
                    self.keep_id(&mut module.finding, "/modules/finding");
                    self.keep_stage(&mut module.stage);
                    self.keep_lines(&mut module.first_line, &mut module.last_line);
                }
                self.keep(&mut c.modules, |this, Module { name, .. }| {
                    let fault = || text!("作业中没有 `{name}`", "the job has no `{name}`");
                    (!this.names.knows(name)).then(fault)
                });
                self.keep_chunks(&mut c.experiences);
            }
            Conclusion::Experience(c) => {
                for cause in &mut c.causes {
                    self.keep_id(&mut cause.finding, "/causes/finding");
                    self.keep_ids(&mut cause.evidence, "/causes/evidence");
                    self.keep_chunks(&mut cause.experiences);
                }
                self.keep(&mut c.causes, Self::unfounded);
            }
            Conclusion::Completeness(c) => self.keep_chunks(&mut c.experiences),
            Conclusion::Advice(c) => {
                self.keep(
                    &mut c.recommendations,
                    |this, Recommendation { suggestion, .. }| {
                        let is_known = this.allowed.suggestions.contains(suggestion);
                        let place = "/recommendations/suggestion";
                        (!is_known).then(|| this.no_such(suggestion, place))
                    },
                );
                for recommendation in &mut c.recommendations {
                    self.keep_ids(&mut recommendation.evidence, "/recommendations/evidence");
                    self.keep_chunks(&mut recommendation.experiences);
                }
                for proposal in &mut c.additional {
                    self.keep_id(&mut proposal.finding, "/additional/finding");
                    self.keep_ids(&mut proposal.evidence, "/additional/evidence");
                    self.keep_chunks(&mut proposal.experiences);
                }
                self.keep_ids(&mut c.answer.evidence, "/answer/evidence");
            }
            Conclusion::Hypotheses(c) => {
                for hypothesis in &mut c.hypotheses {
                    self.keep_ids(&mut hypothesis.evidence, "/hypotheses/evidence");
                    self.keep_file(&mut hypothesis.file);
                }
            }
            Conclusion::Answer(c) => self.keep_ids(&mut c.evidence, "/evidence"),
        }
    }

    /// Why a cause is left out: it is unknown, it has no support, the rules cleared it, or its finding has another cause.
    pub(super) fn unfounded(&self, analysis: &CauseAnalysis) -> Option<Text> {
        let (code, found) = (&analysis.cause, &self.input.facts.found);
        let cause = report::Cause::from_code(code);
        let is_based = analysis.finding.is_some() || !analysis.evidence.is_empty();
        let Some(cause) = cause.filter(|_| is_based) else {
            return Some(text!(
                "原因 `{code}` 未知或没有证据",
                "cause `{code}` is not known or has no evidence"
            ));
        };
        let finding = analysis.finding.as_deref().and_then(|id| found.finding(id));
        if let Some(finding) = finding.filter(|f| f.cause != cause) {
            let id = &finding.id;
            return Some(text!(
                "{id} 的原因不是 {code}",
                "{id} has another cause than {code}"
            ));
        }
        let is_found = found.findings.iter().any(|f| f.cause == cause);
        let outcome = found.outcome(cause).filter(|_| !is_found);
        matches!(
            outcome,
            Some(RuleResult::Cleared | RuleResult::NotApplicable)
        )
        .then(|| text!("{code} 已被排除", "{code} was ruled out"))
    }

    pub(super) fn keep<T>(
        &mut self,
        items: &mut Vec<T>,
        fault: impl Fn(&Self, &T) -> Option<Text>,
    ) {
        items.retain(|item| {
            self.outcome.claims += 1;
            let fault = fault(self, item);
            let is_fine = fault.is_none();
            fault.into_iter().for_each(|fault| self.drop(fault));
            is_fine
        });
    }

    pub(super) fn keep_ids(&mut self, ids: &mut Vec<String>, place: &str) {
        self.keep(ids, |this, id| this.no_such_id(id, place));
    }

    pub(super) fn no_such_id(&self, id: &str, place: &str) -> Option<Text> {
        (!self.names.knows_id(id)).then(|| self.no_such(id, place))
    }

    /// The fault of an id, with the valid ids.
    pub(super) fn no_such(&self, id: &str, place: &str) -> Text {
        let allowed = match place.rsplit('/').next() {
            Some("finding" | "findings") => &self.allowed.findings,
            Some("suggestion") => &self.allowed.suggestions,
            _ => &self.allowed.evidence,
        };
        let known: Vec<&str> = allowed.iter().take(IDS_NAMED).map(String::as_str).collect();
        let known = known.join(", ");
        match known.is_empty() {
            true => text!(
                "{place}：`{id}` 不存在，应留空",
                "{place}: `{id}` does not exist; leave it empty"
            ),
            false => text!(
                "{place}：`{id}` 不存在，可用的有 {known}",
                "{place}: `{id}` does not exist; there are {known}"
            ),
        }
    }

    pub(super) fn keep_chunks(&mut self, chunks: &mut Vec<String>) {
        self.keep(chunks, |this, chunk| {
            let fault = || {
                text!(
                    "没有给出经验 `{chunk}`",
                    "experience `{chunk}` was not given"
                )
            };
            (!this.names.knows_chunk(chunk)).then(fault)
        });
    }

    /// Keeps a field that names something unless it is at fault.
    pub(super) fn keep_name(
        &mut self,
        field: &mut Option<String>,
        fault: impl Fn(&Self, &str) -> Option<Text>,
    ) {
        let mut names: Vec<String> = field.take().into_iter().collect();
        self.keep(&mut names, |this, name| fault(this, name));
        *field = names.pop();
    }

    pub(super) fn keep_id(&mut self, id: &mut Option<String>, place: &str) {
        self.keep_name(id, |this, id| this.no_such_id(id, place));
    }

    pub(super) fn keep_stage(&mut self, stage: &mut Option<String>) {
        self.keep_name(stage, |this, name| {
            let mut stages = this.input.facts.outline.stages.iter();
            let fault = || text!("阶段 `{name}` 不存在", "stage `{name}` does not exist");
            (!stages.any(|s| s.name == name)).then(fault)
        });
    }

    pub(super) fn keep_file(&mut self, file: &mut Option<String>) {
        self.keep_name(file, |this, name| {
            let (facts, read) = (&this.input.facts, &this.input.reading.read);
            let mut unread = facts.outline.unread.iter();
            let mut missing = facts.found.missing.iter();
            let is_known = read.iter().any(|file| file == name)
                || unread.any(|u| u.file == name)
                || missing.any(|m| m.information.file == name);
            (!is_known).then(|| no_such(name))
        });
    }

    pub(super) fn keep_lines(&mut self, first: &mut Option<u32>, last: &mut Option<u32>) {
        let script = self.input.facts.outline.script.as_ref();
        let lines = script.map_or(0, |s| s.text.lines().count());
        let Some((from, to)) = first.zip(*last) else {
            return;
        };
        self.outcome.claims += 1;
        if from == 0 || from > to || to as usize > lines {
            self.drop(text!(
                "脚本没有第 {from}–{to} 行",
                "the script has no lines {from}–{to}"
            ));
            (*first, *last) = (None, None);
        }
    }
}

fn no_such(name: &str) -> Text {
    text!("`{name}` 不存在", "`{name}` does not exist")
}
