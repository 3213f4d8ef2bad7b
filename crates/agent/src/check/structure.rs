//! The fields of a conclusion: obvious aliases become the ids that they stand for (`skew.join_hot_key` for F1, `S1 (hint, fixes F1)`
//! for S1), and unresolved references are removed, with the reason.

use report::{RuleResult, Text, text};

use super::{Checker, IDS_NAMED, settled_class};
use crate::conclusion::{CauseAnalysis, Conclusion, Module, Recommendation, Reference};
use crate::merge::union;

impl Checker<'_> {
    /// Replaces aliases in the fields of a conclusion.
    pub(super) fn coerce(&self, conclusion: &mut Conclusion) {
        for (place, reference) in conclusion.references() {
            let resolve = |raw: String| {
                let known = self.allowed.resolve(property(place), &raw, self.input);
                known.unwrap_or(raw)
            };
            match reference {
                Reference::Name(name) => *name = resolve(std::mem::take(name)),
                Reference::Maybe(name) => {
                    *name = name.take().filter(|name| !is_none(name)).map(resolve);
                }
                Reference::Several(names) => {
                    *names = union(Vec::new(), names.drain(..).map(resolve));
                    names.retain(|name| !name.trim().is_empty());
                }
            }
        }
    }

    /// Removes unresolved references from lists and fields.
    pub(super) fn structure(&mut self, conclusion: &mut Conclusion) {
        if let Conclusion::Advice(c) = conclusion {
            self.keep(&mut c.recommendations, |this, r: &Recommendation| {
                let is_known = this.allowed.suggestions.contains(&r.suggestion);
                let place = "/recommendations/suggestion";
                (!is_known).then(|| this.no_such(&r.suggestion, place))
            });
        }
        for (place, reference) in conclusion.references() {
            match reference {
                Reference::Name(_) => {}
                Reference::Maybe(name) => {
                    let mut names: Vec<String> = name.take().into_iter().collect();
                    self.keep(&mut names, |this, name| this.unresolved(name, place));
                    *name = names.pop();
                }
                Reference::Several(names) => {
                    self.keep(names, |this, name| this.unresolved(name, place));
                }
            }
        }
        match conclusion {
            Conclusion::Classify(c) => {
                self.keep(&mut c.also, |this, class| {
                    let findings = &this.input.facts.found.findings;
                    let is_found = findings.iter().any(|f| f.problem_type == *class);
                    let code = class.code();
                    (!is_found).then(|| {
                        text!(
                            "没有 `{code}` 类的发现",
                            "no finding has the class `{code}`"
                        )
                    })
                });
                self.outcome.checks.claims += 1;
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
                    self.keep_lines(&mut module.first_line, &mut module.last_line);
                }
                self.keep(&mut c.modules, |this, Module { name, .. }| {
                    let fault = || text!("作业中没有 `{name}`", "the job has no `{name}`");
                    (!this.names.knows(name)).then(fault)
                });
            }
            Conclusion::Experience(c) => self.keep(&mut c.causes, Self::unfounded),
            _ => {}
        }
    }

    /// Why a cause is left out: it is unknown, it has no support, the rules cleared it, or its finding has another cause.
    fn unfounded(&self, analysis: &CauseAnalysis) -> Option<Text> {
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
            self.outcome.checks.claims += 1;
            let fault = fault(self, item);
            let is_fine = fault.is_none();
            fault.into_iter().for_each(|fault| self.drop(fault));
            is_fine
        });
    }

    /// The fault of a reference that resolves to nothing.
    fn unresolved(&self, name: &String, place: &'static str) -> Option<Text> {
        match property(place) {
            "experiences" => (!self.names.knows_chunk(name))
                .then(|| text!("没有给出经验 `{name}`", "experience `{name}` was not given")),
            "stage" => (!self.allowed.stages.contains(name))
                .then(|| text!("阶段 `{name}` 不存在", "stage `{name}` does not exist")),
            "file" => (!self.allowed.files.contains(name))
                .then(|| text!("`{name}` 不存在", "`{name}` does not exist")),
            _ => (!self.names.knows_id(name)).then(|| self.no_such(name, place)),
        }
    }

    /// The fault of an id, with the valid ids.
    fn no_such(&self, id: &str, place: &'static str) -> Text {
        let allowed = self.allowed.of_property(property(place));
        let allowed = allowed.unwrap_or_default();
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

    fn keep_lines(&mut self, first: &mut Option<u32>, last: &mut Option<u32>) {
        let script = self.input.facts.outline.script.as_ref();
        let lines = script.map_or(0, |s| s.text.lines().count());
        let Some((from, to)) = first.zip(*last) else {
            return;
        };
        self.outcome.checks.claims += 1;
        if from == 0 || from > to || to as usize > lines {
            self.drop(text!(
                "脚本没有第 {from}–{to} 行",
                "the script has no lines {from}–{to}"
            ));
            (*first, *last) = (None, None);
        }
    }
}

/// The property at a place of a schema.
fn property(place: &'static str) -> &'static str {
    place.rsplit('/').next().unwrap_or(place)
}

/// "null" and "none" written as a text are no id.
fn is_none(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    matches!(lower.as_str(), "" | "null" | "none" | "n/a" | "无" | "-")
}
