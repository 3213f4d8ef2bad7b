//! Checks what a model claims against the facts, before anyone sees it.
//!
//! Citations must resolve, numbers match within rounding, names exist, hints be known, diffs apply,
//! parse, keep the outputs and not change the result. The model may repair once what fails; then a
//! claim in a field is left out, and one within prose is marked. Knows nothing of models or prompts.

mod diff;
pub(crate) mod names;
pub(crate) mod numbers;
mod seen;
mod verdict;

pub use diff::apply_diff;
use job::Job;

use crate::conclusion::{Conclusion, Module, Proposal, Recommendation};
use crate::facts::StepInput;
use report::{Language, Origin, ProblemType, Suggestion, SuggestionKind, Text, Verdict, text};

use names::Names;
use numbers::Numbers;
use seen::{cited_in, measured, seen, texts};

/// Faults named for a turn of repair; a model fixes a handful, not a page.
const FAULTS_NAMED: usize = 12;

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

/// What is wrong with conclusions, in short lines; empty if nothing is.
pub(crate) fn faults(conclusions: &[Conclusion], input: &StepInput, job: &Job) -> Vec<String> {
    let mut copies = conclusions.to_vec();
    for conclusion in &mut copies {
        // A wrong class is put right without asking: the right one is known.
        if let (Conclusion::Classify(c), Some(class)) = (conclusion, settled_class(input)) {
            c.problem_type = class;
        }
    }
    let mut faults = clean(&mut copies, input, job).remarks;
    faults.truncate(FAULTS_NAMED);
    faults
}

/// Takes out or marks whatever does not stand up to the facts.
pub(crate) fn clean(conclusions: &mut [Conclusion], input: &StepInput, job: &Job) -> Outcome {
    let mut checker = Checker::new(input, job);
    for conclusion in conclusions {
        checker.clean(conclusion);
    }
    checker.outcome
}

/// The class where the facts settle it; it is not the model's to change then.
fn settled_class(input: &StepInput) -> Option<ProblemType> {
    (input.facts.found.verdict != Verdict::InsufficientInformation)
        .then_some(input.facts.found.problem_type)
}

/// Checks any number of conclusions against the same facts.
pub(crate) struct Checker<'a> {
    input: &'a StepInput,
    job: &'a Job,
    numbers: Numbers,
    names: Names,
    outcome: Outcome,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(input: &'a StepInput, job: &'a Job) -> Checker<'a> {
        let texts = seen(input);
        let texts = || texts.iter().map(String::as_str);
        let (found, suggestions) = (&input.facts.found, input.suggestions.iter());
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
            numbers: Numbers::new(measured(input), texts()),
            names: Names::new(texts(), ids.map(String::as_str), chunks),
            outcome: Outcome::default(),
        }
    }

    /// What is wrong with a conclusion, which is left as far as it stands.
    pub(crate) fn remarks_on(&mut self, conclusion: &mut Conclusion) -> Vec<String> {
        self.clean(conclusion);
        std::mem::take(&mut self.outcome).remarks
    }

    fn clean(&mut self, conclusion: &mut Conclusion) {
        self.structure(conclusion);
        for text in texts(conclusion) {
            self.mark(text);
        }
        if let Conclusion::Advice(advice) = conclusion {
            for proposal in &mut advice.additional {
                let suggestion = self.proposal(proposal);
                self.outcome.proposed.push(suggestion);
            }
        }
    }

    /// Lists and fields that refer to something: what is not there goes.
    fn structure(&mut self, conclusion: &mut Conclusion) {
        match conclusion {
            Conclusion::Classify(c) => {
                self.keep_ids(&mut c.findings);
                self.keep_ids(&mut c.evidence);
                self.keep_chunks(&mut c.experiences);
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
                    self.keep_id(&mut module.finding);
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
                    self.keep_id(&mut cause.finding);
                    self.keep_ids(&mut cause.evidence);
                    self.keep_chunks(&mut cause.experiences);
                }
                self.keep(&mut c.causes, |_, analysis| {
                    let cause = &analysis.cause;
                    let is_known = report::Cause::from_code(cause).is_some();
                    let is_based = analysis.finding.is_some() || !analysis.evidence.is_empty();
                    (!is_known || !is_based).then(|| {
                        text!(
                            "原因 `{cause}` 未知或没有证据",
                            "cause `{cause}` is not known or has no evidence"
                        )
                    })
                });
            }
            Conclusion::Completeness(c) => self.keep_chunks(&mut c.experiences),
            Conclusion::Advice(c) => {
                self.keep(
                    &mut c.recommendations,
                    |this, Recommendation { suggestion, .. }| {
                        let mut known = this.input.suggestions.iter();
                        let fault = || {
                            text!(
                                "建议 `{suggestion}` 不存在",
                                "suggestion `{suggestion}` does not exist"
                            )
                        };
                        (!known.any(|s| s.id == *suggestion)).then(fault)
                    },
                );
                for recommendation in &mut c.recommendations {
                    self.keep_ids(&mut recommendation.evidence);
                    self.keep_chunks(&mut recommendation.experiences);
                }
                for proposal in &mut c.additional {
                    self.keep_id(&mut proposal.finding);
                    self.keep_ids(&mut proposal.evidence);
                    self.keep_chunks(&mut proposal.experiences);
                }
                self.keep_ids(&mut c.answer.evidence);
            }
            Conclusion::Hypotheses(c) => {
                for hypothesis in &mut c.hypotheses {
                    self.keep_ids(&mut hypothesis.evidence);
                    self.keep_file(&mut hypothesis.file);
                }
            }
            Conclusion::Answer(c) => self.keep_ids(&mut c.evidence),
        }
    }

    fn say(&self, text: Text) -> String {
        text.into(self.input.facts.language)
    }

    fn drop(&mut self, remark: Text) {
        self.outcome.dropped += 1;
        self.outcome.remarks.push(self.say(remark));
    }

    fn keep<T>(&mut self, items: &mut Vec<T>, fault: impl Fn(&Self, &T) -> Option<Text>) {
        items.retain(|item| {
            self.outcome.claims += 1;
            let fault = fault(self, item);
            let is_fine = fault.is_none();
            fault.into_iter().for_each(|fault| self.drop(fault));
            is_fine
        });
    }

    fn keep_ids(&mut self, ids: &mut Vec<String>) {
        self.keep(ids, |this, id| {
            (!this.names.knows_id(id)).then(|| no_such(id))
        });
    }

    fn keep_chunks(&mut self, chunks: &mut Vec<String>) {
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
    fn keep_name(
        &mut self,
        field: &mut Option<String>,
        fault: impl Fn(&Self, &str) -> Option<Text>,
    ) {
        let mut names: Vec<String> = field.take().into_iter().collect();
        self.keep(&mut names, |this, name| fault(this, name));
        *field = names.pop();
    }

    fn keep_id(&mut self, id: &mut Option<String>) {
        self.keep_name(id, |this, id| {
            (!this.names.knows_id(id)).then(|| no_such(id))
        });
    }

    fn keep_stage(&mut self, stage: &mut Option<String>) {
        self.keep_name(stage, |this, name| {
            let mut stages = this.input.facts.outline.stages.iter();
            let fault = || text!("阶段 `{name}` 不存在", "stage `{name}` does not exist");
            (!stages.any(|s| s.name == name)).then(fault)
        });
    }

    fn keep_file(&mut self, file: &mut Option<String>) {
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

    fn keep_lines(&mut self, first: &mut Option<u32>, last: &mut Option<u32>) {
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

    /// Marks what a text claims without basis or against the verdict.
    fn mark(&mut self, text: &mut String) {
        let language = self.input.facts.language;
        let mut marks: Vec<(usize, &str, String)> = Vec::new();
        for end in verdict::contradictions(text, &self.input.facts.found) {
            let remark = text!(
                "有一句话与程序的判断相矛盾",
                "a sentence contradicts the program's verdict"
            );
            let mark = language.select("〔与程序的判断矛盾〕", " [contradicts the verdict]");
            marks.push((end, mark, self.say(remark)));
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
            let at = outside_quotes(text, unknown.span.end);
            marks.push((at, mark_of(language), self.say(remark)));
        }
        let figures = numbers::figures(text);
        self.outcome.claims += u32::try_from(figures.len() + marks.len()).unwrap_or(u32::MAX);
        for figure in figures.iter().filter(|f| !self.numbers.knows(f)) {
            let number = &text[figure.span.clone()];
            let remark = text!(
                "数字 {number} 不在任何事实中",
                "the number {number} is in no fact"
            );
            let at = outside_quotes(text, figure.span.end);
            marks.push((at, mark_of(language), self.say(remark)));
        }
        marks.sort_by_key(|(at, _, _)| *at);
        for (at, mark, remark) in marks.into_iter().rev() {
            text.insert_str(at, mark);
            self.outcome.unverified += 1;
            self.outcome.remarks.push(remark);
        }
    }

    /// A change that the model proposes, with what could not be confirmed about it.
    fn proposal(&mut self, proposal: &mut Proposal) -> Suggestion {
        self.outcome.claims += 1;
        let mut unverified = Vec::new();
        if proposal.evidence.is_empty() && proposal.experiences.is_empty() {
            unverified.push(text!(
                "没有引用证据或经验",
                "it cites neither evidence nor experience"
            ));
        }
        let mark = mark_of(self.input.facts.language).trim();
        let mut texts = proposal.steps.iter().chain([&proposal.title]);
        if texts.any(|text| text.contains(mark)) {
            unverified.push(text!(
                "提到了未知的内容",
                "it names something that is not known"
            ));
        }
        let mut verified = None;
        if let Some(diff) = proposal.diff.take() {
            match diff::check(self.job, &diff, &self.input.suggestions) {
                Ok(checked) => {
                    verified = Some(checked.verified);
                    proposal.diff = checked.diff;
                    unverified.extend(checked.result);
                }
                Err(fault) => unverified.push(text!(
                    "{fault}；已略去",
                    "{fault}; it was left out",
                    fault = fault.text()
                )),
            }
        }
        self.outcome.unverified += u32::try_from(unverified.len()).unwrap_or(u32::MAX);
        let title = &proposal.title;
        for fault in &unverified {
            let remark = text!(
                "建议“{title}”：{fault}",
                "proposal `{title}`: {fault}",
                fault = fault
            );
            self.outcome.remarks.push(self.say(remark));
        }
        if verified.is_none() && unverified.is_empty() {
            // Steps with a basis are advice, not a fault; but nobody has computed their effect.
            unverified.push(text!(
                "不是规则给出的，无法验证其效果",
                "no rule proposed it and nothing could be computed about it"
            ));
        }
        let kind = match proposal.diff {
            Some(_) => SuggestionKind::Rewrite,
            None => SuggestionKind::Investigate,
        };
        Suggestion {
            id: String::new(),
            finding: proposal.finding.clone(),
            kind,
            title: title.clone(),
            steps: proposal.steps.clone(),
            diff: proposal.diff.clone(),
            verified,
            gain: String::new(),
            seconds_saved: None,
            pros: proposal.pros.clone(),
            cons: proposal.cons.clone(),
            sources: proposal.experiences.clone(),
            origin: Origin::Llm,
            unverified: unverified.into_iter().map(|text| self.say(text)).collect(),
        }
    }
}

fn no_such(name: &str) -> Text {
    text!("`{name}` 不存在", "`{name}` does not exist")
}

/// What a name claims to be, in Chinese.
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

/// The mark behind a claim that has no basis.
pub(crate) fn mark_of(language: Language) -> &'static str {
    language.select("〔未核实〕", " [unverified]")
}

/// The place behind the backtick or bracket that closes a name.
fn outside_quotes(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches(['`', ']']).len()
}
