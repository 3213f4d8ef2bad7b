//! Checks what a model claims against the facts, before anyone sees it.
//!
//! Citations must resolve, numbers match within rounding, names exist, hints be known, diffs apply,
//! parse and keep the outputs. The model may repair once what fails; then a claim of its own is left
//! out, and one within prose is marked. Knows nothing of models or prompts.

mod diff;
mod names;
mod numbers;
mod seen;

use job::Job;

use crate::conclusion::{Conclusion, Proposal};
use crate::facts::StepInput;
use report::{Language, Origin, ProblemType, Suggestion, SuggestionKind, Verdict};

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
        checker.structure(conclusion);
        for text in texts(conclusion) {
            checker.mark(text);
        }
        if let Conclusion::Advice(advice) = conclusion {
            for proposal in &mut advice.additional {
                let suggestion = checker.proposal(proposal);
                checker.outcome.proposed.push(suggestion);
            }
        }
    }
    checker.outcome
}

/// The class where the facts settle it; it is not the model's to change then.
fn settled_class(input: &StepInput) -> Option<ProblemType> {
    (input.facts.found.verdict != Verdict::InsufficientInformation)
        .then_some(input.facts.found.problem_type)
}

struct Checker<'a> {
    input: &'a StepInput,
    job: &'a Job,
    numbers: Numbers,
    names: Names,
    outcome: Outcome,
}

impl<'a> Checker<'a> {
    fn new(input: &'a StepInput, job: &'a Job) -> Checker<'a> {
        let texts = seen(input);
        let ids = input.facts.found.evidence.iter().map(|e| e.id.as_str());
        let ids = ids
            .chain(input.facts.found.findings.iter().map(|f| f.id.as_str()))
            .chain(input.suggestions.iter().map(|s| s.id.as_str()));
        let cited = input
            .suggestions
            .iter()
            .flat_map(|s| &s.sources)
            .map(String::as_str);
        let remembered: Vec<&str> = input.memory.iter().map(|m| m.text.as_str()).collect();
        let chunks: Vec<&str> = input
            .experiences
            .iter()
            .map(|p| p.chunk.as_str())
            .chain(cited)
            .chain(cited_in(&remembered))
            .collect();
        Checker {
            input,
            job,
            numbers: Numbers::new(measured(input), texts.iter().map(String::as_str)),
            names: Names::new(texts.iter().map(String::as_str), ids, chunks),
            outcome: Outcome::default(),
        }
    }

    /// Lists and fields that refer to something: what is not there goes.
    fn structure(&mut self, conclusion: &mut Conclusion) {
        let language = self.input.facts.language;
        match conclusion {
            Conclusion::Classify(c) => {
                self.keep_ids(&mut c.findings);
                self.keep_ids(&mut c.evidence);
                self.keep_chunks(&mut c.experiences);
                self.outcome.claims += 1;
                if let Some(class) =
                    settled_class(self.input).filter(|class| *class != c.problem_type)
                {
                    self.drop(self.say(
                        format!("按发现，类别为 `{}`", class.code()),
                        format!("the class is `{}` by the findings", class.code()),
                    ));
                    c.problem_type = class;
                }
            }
            Conclusion::KeyCode(c) => {
                for module in &mut c.modules {
                    self.keep_optional_id(&mut module.finding);
                    self.keep_stage(&mut module.stage);
                    self.keep_lines(&mut module.first_line, &mut module.last_line);
                }
                self.keep_named(&mut c.modules, |m| m.name.clone());
                self.keep_chunks(&mut c.experiences);
            }
            Conclusion::Experience(c) => {
                for cause in &mut c.causes {
                    self.keep_optional_id(&mut cause.finding);
                    self.keep_ids(&mut cause.evidence);
                    self.keep_chunks(&mut cause.experiences);
                }
                self.keep(&mut c.causes, |c| {
                    let known = report::Cause::from_code(&c.cause).is_some();
                    let based = c.finding.is_some() || !c.evidence.is_empty();
                    (!known || !based).then(|| {
                        say(
                            language,
                            format!("原因 `{}` 未知或没有证据", c.cause),
                            format!("cause `{}` is not known or has no evidence", c.cause),
                        )
                    })
                });
            }
            Conclusion::Completeness(c) => self.keep_chunks(&mut c.experiences),
            Conclusion::Advice(c) => {
                let input = self.input;
                self.keep(&mut c.recommendations, |r| {
                    let known = input.suggestions.iter().any(|s| s.id == r.suggestion);
                    (!known).then(|| {
                        say(
                            language,
                            format!("建议 `{}` 不存在", r.suggestion),
                            format!("suggestion `{}` does not exist", r.suggestion),
                        )
                    })
                });
                for recommendation in &mut c.recommendations {
                    self.keep_ids(&mut recommendation.evidence);
                    self.keep_chunks(&mut recommendation.experiences);
                }
                for proposal in &mut c.additional {
                    self.keep_optional_id(&mut proposal.finding);
                    self.keep_ids(&mut proposal.evidence);
                    self.keep_chunks(&mut proposal.experiences);
                }
            }
            Conclusion::Hypotheses(c) => {
                for hypothesis in &mut c.hypotheses {
                    self.keep_ids(&mut hypothesis.evidence);
                    self.keep_file(&mut hypothesis.file);
                }
            }
        }
    }

    fn drop(&mut self, remark: String) {
        self.outcome.dropped += 1;
        self.outcome.remarks.push(remark);
    }

    fn keep<T>(&mut self, items: &mut Vec<T>, fault: impl Fn(&T) -> Option<String>) {
        items.retain(|item| {
            self.outcome.claims += 1;
            let fault = fault(item);
            let fine = fault.is_none();
            if let Some(fault) = fault {
                self.drop(fault);
            }
            fine
        });
    }

    fn keep_ids(&mut self, ids: &mut Vec<String>) {
        let names = std::mem::take(&mut self.names);
        let language = self.input.facts.language;
        self.keep(ids, |id| {
            (!names.knows_id(id)).then(|| no_such(language, id))
        });
        self.names = names;
    }

    fn keep_chunks(&mut self, chunks: &mut Vec<String>) {
        let names = std::mem::take(&mut self.names);
        let language = self.input.facts.language;
        self.keep(chunks, |chunk| {
            (!names.knows_chunk(chunk)).then(|| {
                say(
                    language,
                    format!("没有给出经验 `{chunk}`"),
                    format!("experience `{chunk}` was not given"),
                )
            })
        });
        self.names = names;
    }

    fn keep_optional_id(&mut self, id: &mut Option<String>) {
        if let Some(name) = id.take() {
            self.outcome.claims += 1;
            if self.names.knows_id(&name) {
                *id = Some(name);
            } else {
                self.drop(no_such(self.input.facts.language, &name));
            }
        }
    }

    fn keep_stage(&mut self, stage: &mut Option<String>) {
        if let Some(name) = stage.take() {
            self.outcome.claims += 1;
            if self
                .input
                .facts
                .outline
                .stages
                .iter()
                .any(|s| s.name == name)
            {
                *stage = Some(name);
            } else {
                self.drop(self.say(
                    format!("阶段 `{name}` 不存在"),
                    format!("stage `{name}` does not exist"),
                ));
            }
        }
    }

    fn keep_file(&mut self, file: &mut Option<String>) {
        if let Some(name) = file.take() {
            self.outcome.claims += 1;
            let input = self.input;
            let known = input.reading.read.contains(&name)
                || input.facts.outline.unread.iter().any(|u| u.file == name)
                || input
                    .facts
                    .found
                    .missing
                    .iter()
                    .any(|m| m.information.file == name);
            if known {
                *file = Some(name);
            } else {
                self.drop(no_such(input.facts.language, &name));
            }
        }
    }

    fn say(&self, zh: String, en: String) -> String {
        say(self.input.facts.language, zh, en)
    }

    fn keep_lines(&mut self, first: &mut Option<u32>, last: &mut Option<u32>) {
        let lines = self
            .input
            .facts
            .outline
            .script
            .as_ref()
            .map_or(0, |s| s.text.lines().count());
        let Some((from, to)) = first.zip(*last) else {
            return;
        };
        self.outcome.claims += 1;
        if from == 0 || from > to || to as usize > lines {
            self.drop(self.say(
                format!("脚本没有第 {from}–{to} 行"),
                format!("the script has no lines {from}–{to}"),
            ));
            (*first, *last) = (None, None);
        }
    }

    fn keep_named<T>(&mut self, items: &mut Vec<T>, name: impl Fn(&T) -> String) {
        let names = std::mem::take(&mut self.names);
        let language = self.input.facts.language;
        self.keep(items, |item| {
            let name = name(item);
            (!names.knows(&name)).then(|| {
                say(
                    language,
                    format!("作业中没有 `{name}`"),
                    format!("the job has no `{name}`"),
                )
            })
        });
        self.names = names;
    }

    /// Marks what a text claims without basis.
    fn mark(&mut self, text: &mut String) {
        let mut marks: Vec<(usize, String)> = Vec::new();
        for unknown in self.names.unknown(text) {
            let name = &text[unknown.span.clone()];
            let remark = self.say(
                format!("{} `{name}` 未知", in_chinese(unknown.what)),
                format!("{} `{name}` is not known", unknown.what),
            );
            marks.push((unknown.span.end, remark));
        }
        let figures = numbers::figures(text);
        self.outcome.claims += u32::try_from(figures.len() + marks.len()).unwrap_or(u32::MAX);
        for figure in figures {
            if !self.numbers.knows(&figure) {
                let written = &text[figure.span.clone()];
                let remark = self.say(
                    format!("数字 {written} 不在任何事实中"),
                    format!("the number {written} is in no fact"),
                );
                marks.push((figure.span.end, remark));
            }
        }
        marks.sort_by_key(|(at, _)| *at);
        for (at, remark) in marks.into_iter().rev() {
            text.insert_str(outside_quotes(text, at), mark_of(self.input.facts.language));
            self.outcome.unverified += 1;
            self.outcome.remarks.push(remark);
        }
    }

    /// A change that the model proposes, with what could not be confirmed about it.
    fn proposal(&mut self, proposal: &mut Proposal) -> Suggestion {
        self.outcome.claims += 1;
        let mut unverified = Vec::new();
        if proposal.evidence.is_empty() && proposal.experiences.is_empty() {
            unverified.push(self.say(
                "没有引用证据或经验".to_owned(),
                "it cites neither evidence nor experience".to_owned(),
            ));
        }
        let mark = mark_of(self.input.facts.language).trim();
        if proposal
            .steps
            .iter()
            .chain([&proposal.title])
            .any(|text| text.contains(mark))
        {
            unverified.push(self.say(
                "提到了未知的内容".to_owned(),
                "it names something that is not known".to_owned(),
            ));
        }
        let diff = proposal.diff.take();
        let checked = diff.and_then(|diff| match diff::check(self.job, &diff) {
            Ok(checked) => Some(checked),
            Err(fault) => {
                unverified.push(self.say(
                    format!("{}；已略去", fault.zh()),
                    format!("{}; it was left out", fault.en()),
                ));
                None
            }
        });
        let verified = checked.as_ref().map(|c| c.verified);
        proposal.diff = checked.map(|c| c.diff);
        if verified.is_none() && unverified.is_empty() {
            unverified.push(self.say(
                "不是规则给出的，无法验证其效果".to_owned(),
                "no rule proposed it and nothing could be computed about it".to_owned(),
            ));
        }
        self.outcome.unverified += u32::try_from(unverified.len()).unwrap_or(u32::MAX);
        for fault in &unverified {
            self.outcome.remarks.push(say(
                self.input.facts.language,
                format!("建议“{}”：{fault}", proposal.title),
                format!("proposal `{}`: {fault}", proposal.title),
            ));
        }
        Suggestion {
            id: String::new(),
            finding: proposal.finding.clone(),
            kind: if verified.is_some() {
                SuggestionKind::Rewrite
            } else {
                SuggestionKind::Investigate
            },
            title: proposal.title.clone(),
            steps: proposal.steps.clone(),
            diff: proposal.diff.clone(),
            verified,
            gain: String::new(),
            pros: proposal.pros.clone(),
            cons: proposal.cons.clone(),
            sources: proposal.experiences.clone(),
            origin: Origin::Llm,
            unverified,
        }
    }
}

fn say(language: Language, zh: String, en: String) -> String {
    match language {
        Language::Zh => zh,
        Language::En => en,
    }
}

fn no_such(language: Language, name: &str) -> String {
    say(
        language,
        format!("`{name}` 不存在"),
        format!("`{name}` does not exist"),
    )
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
fn mark_of(language: Language) -> &'static str {
    match language {
        Language::Zh => "〔未核实〕",
        Language::En => " [unverified]",
    }
}

/// The place behind the backtick or bracket that closes a name.
fn outside_quotes(text: &str, at: usize) -> usize {
    let closing = text[at..]
        .chars()
        .take_while(|c| matches!(c, '`' | ']'))
        .map(char::len_utf8)
        .sum::<usize>();
    at + closing
}
