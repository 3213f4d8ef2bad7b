//! Checks a model's claims against the facts, before the user sees them.
//!
//! Citations must resolve, numbers match within rounding, names exist, hints be known, diffs apply,
//! parse, keep the outputs and not change the result. The model may repair its faults once. A claim in a field that still fails
//! is left out; one within prose is marked. Knows no models and no prompts.

mod alias;
mod amount;
mod belongs;
mod causes;
mod claim;
mod concepts;
mod diff;
mod equal;
mod gain;
mod judge;
mod ledger;
mod lexicon;
mod mention;
pub(crate) mod names;
mod proposal;
pub(crate) mod quantity;
mod saving;
mod seen;
mod structure;
mod verdict;

use std::collections::BTreeMap;

pub use diff::apply_diff;
use job::Job;

use crate::allowed::Allowed;
use crate::conclusion::Conclusion;
use crate::facts::StepInput;
use crate::step::StepId;
use report::{Language, ProblemType, Suggestion, Text, Verdict, text};

use judge::{Judge, Kind};
use ledger::Ledger;
use names::Names;
use seen::{cited_in, prose, seen, texts};

/// Faults named for a turn of repair; a model fixes a handful, not a page.
const FAULTS_NAMED: usize = 12;

/// Ids named in the place of one that does not exist.
const IDS_NAMED: usize = 12;

/// Bytes quoted of a text that is left out.
const QUOTED: usize = 160;

/// The outcome of the check.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Claims that were looked at.
    pub(crate) claims: u32,
    /// Claims that were left out.
    pub(crate) dropped: u32,
    /// Claims that are kept with a mark.
    pub(crate) unverified: u32,
    /// One line per claim that failed.
    pub(crate) remarks: Vec<String>,
    /// Proposals of the model as suggestions.
    pub(crate) proposed: Vec<Suggestion>,
}

/// The class where the facts settle it; it is not the model's to change then.
fn settled_class(input: &StepInput) -> Option<ProblemType> {
    (input.facts.found.verdict != Verdict::InsufficientInformation)
        .then_some(input.facts.found.problem_type)
}

/// Checks any number of conclusions against the same facts.
pub struct Checker<'a> {
    input: &'a StepInput,
    job: &'a Job,
    /// Texts of the program's own conclusions, by step.
    own: BTreeMap<StepId, Vec<String>>,
    judge: Judge<'a>,
    names: Names,
    allowed: Allowed,
    outcome: Outcome,
}

impl<'a> Checker<'a> {
    pub fn new(input: &'a StepInput, job: &'a Job) -> Checker<'a> {
        let texts = seen(input);
        let texts = || texts.iter().map(String::as_str);
        let (found, suggestions) = (&input.facts.found, input.suggestions.iter());
        let summary = &input.facts.job;
        let elapsed = summary
            .elapsed_seconds
            .into_iter()
            .chain(summary.total_seconds);
        let evidence = input.cited().map(|e| &e.id);
        let findings = found.findings.iter().map(|f| &f.id);
        let ids = evidence.chain(findings);
        let ids = ids.chain(suggestions.clone().map(|s| &s.id));
        let remembered: Vec<&str> = input.memory.iter().map(|m| m.text.as_str()).collect();
        let passages = input.experiences.iter().map(|p| &p.chunk);
        let sources = passages.chain(suggestions.flat_map(|s| &s.sources));
        let chunks = sources.map(String::as_str).chain(cited_in(&remembered));
        Checker {
            input,
            job,
            own: BTreeMap::new(),
            judge: Judge {
                ledger: Ledger::of(input, job),
                found,
                suggestions: &input.suggestions,
                elapsed: elapsed.collect(),
            },
            names: Names::new(texts(), ids.map(String::as_str), chunks),
            allowed: Allowed::of(input),
            outcome: Outcome::default(),
        }
    }

    /// Accepts the sentences of the program's own conclusions: they are true of the job.
    pub(crate) fn accepting(mut self, program: &[Conclusion]) -> Checker<'a> {
        self.own = program.iter().map(|c| (c.step(), prose(c))).collect();
        self
    }

    /// Faults of conclusions, in short lines; the conclusions stay as they are.
    pub(crate) fn faults(&mut self, conclusions: &[Conclusion]) -> Vec<String> {
        let mut copies = conclusions.to_vec();
        for conclusion in &mut copies {
            // A wrong class is put right without asking: the right one is known.
            if let (Conclusion::Classify(c), Some(class)) = (conclusion, settled_class(self.input))
            {
                c.problem_type = class;
            }
        }
        let mut faults = self.check(&mut copies).remarks;
        faults.truncate(FAULTS_NAMED);
        faults
    }

    /// Removes or marks the claims that do not stand up to the facts.
    pub(crate) fn check(&mut self, conclusions: &mut [Conclusion]) -> Outcome {
        for conclusion in conclusions {
            self.clean(conclusion);
        }
        std::mem::take(&mut self.outcome)
    }

    /// Whether each line of a text is in the program's own conclusion of the step.
    fn is_own(&self, step: StepId, text: &str) -> bool {
        let own = self.own.get(&step).map_or(&[][..], Vec::as_slice);
        let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
        lines.all(|line| own.iter().any(|own| own.contains(line)))
    }

    fn clean(&mut self, conclusion: &mut Conclusion) {
        self.coerce(conclusion);
        self.structure(conclusion);
        let step = conclusion.step();
        for (text, about) in texts(conclusion) {
            if !self.is_own(step, text) {
                self.mark(text, &about, step == StepId::Completeness);
            }
        }
        if let Conclusion::Hypotheses(c) = conclusion {
            c.hypotheses.retain(|h| !h.hypothesis.trim().is_empty());
        }
        if let Conclusion::Advice(advice) = conclusion {
            self.keep(&mut advice.additional, Self::useless);
            for proposal in &mut advice.additional {
                let suggestion = self.proposal(proposal);
                self.outcome.proposed.push(suggestion);
            }
        }
    }

    fn say(&self, text: Text) -> String {
        text.into(self.input.facts.language)
    }

    fn drop(&mut self, remark: Text) {
        self.outcome.dropped += 1;
        self.outcome.remarks.push(self.say(remark));
    }

    /// Marks the claims of a text without basis or against the facts. A text is removed if more than half of its claims fail or
    /// if it denies a finding.
    fn mark(&mut self, text: &mut String, about: &[String], keeps: bool) {
        let (marks, claims) = self.marks(text, about);
        self.outcome.claims += u32::try_from(claims).unwrap_or(u32::MAX);
        let denies = marks.iter().any(|m| m.is_denial);
        if !keeps && (denies || marks.len() * 2 > claims) {
            self.outcome
                .remarks
                .extend(marks.into_iter().map(|m| m.remark));
            let said = report::format::cut(text, QUOTED).to_owned();
            self.drop(text!(
                "略去模型的一段话，因为它经不起核对：“{said}”",
                "a text of the model was left out, as it does not stand up to the facts: `{said}`"
            ));
            text.clear();
            return;
        }
        for Mark {
            at, mark, remark, ..
        } in marks.into_iter().rev()
        {
            text.insert_str(at, mark);
            self.outcome.unverified += 1;
            self.outcome.remarks.push(remark);
        }
    }

    /// The faults of a text, in short lines; empty if it has no faults.
    pub fn faults_of(&self, text: &str, about: &[String]) -> Vec<String> {
        let (marks, _) = self.marks(text, about);
        marks.into_iter().map(|mark| mark.remark).collect()
    }

    /// The marks of a text in the order of their places, and the number of its claims.
    fn marks(&self, text: &str, about: &[String]) -> (Vec<Mark>, usize) {
        let language = self.input.facts.language;
        let mut marks: Vec<Mark> = Vec::new();
        for at in verdict::contradictions(text, &self.input.facts.found) {
            let remark = text!(
                "有一句话与程序的判断相矛盾",
                "a sentence contradicts the program's verdict"
            );
            let mark = language.select("〔与程序的判断矛盾〕", " [contradicts the verdict]");
            let remark = self.say(remark);
            marks.push(Mark {
                at,
                mark,
                remark,
                is_denial: true,
            });
        }
        for unknown in self.names.unknown(text) {
            let name = &text[unknown.span.clone()];
            let what = Text {
                zh: in_chinese(unknown.what),
                en: unknown.what,
            };
            let remark = text!(
                "{what} `{name}` 未知",
                "{what} `{name}` is not known",
                what = what
            );
            marks.push(Mark {
                at: outside_quotes(text, unknown.span.end),
                mark: mark_of(language),
                remark: self.say(remark),
                is_denial: false,
            });
        }
        let (faults, claims) = self.judge.faults(text, about);
        for fault in faults {
            let mark = match fault.kind {
                Kind::Unverified => mark_of(language),
                Kind::Contradiction => contradiction_mark(language),
            };
            let at = outside_quotes(text, fault.at);
            let remark = self.say(fault.remark);
            // One mark is enough at one place.
            if marks.iter().all(|m| m.at != at) {
                marks.push(Mark {
                    at,
                    mark,
                    remark,
                    is_denial: false,
                });
            }
        }
        marks.sort_by_key(|mark| mark.at);
        (marks, claims)
    }
}

/// The claimed kind of a name, in Chinese.
fn in_chinese(what: &str) -> &'static str {
    match what {
        "id" => "编号",
        "experience" => "经验",
        "cause" => "原因",
        "stage" => "阶段",
        "file" => "文件",
        "hint" => "提示",
        _ => "名称",
    }
}

/// A fault at a place in a text.
struct Mark {
    at: usize,
    mark: &'static str,
    remark: String,
    /// It denies the program's verdict or a finding.
    is_denial: bool,
}

/// The mark behind a claim that the facts contradict.
pub(crate) fn contradiction_mark(language: Language) -> &'static str {
    language.select("〔与事实矛盾〕", " [contradicts the facts]")
}

/// The mark behind a claim that has no basis.
pub(crate) fn mark_of(language: Language) -> &'static str {
    language.select("〔未核实〕", " [unverified]")
}

/// The place behind the backtick or bracket that closes a name.
fn outside_quotes(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches(['`', ']']).len()
}
