//! Checks a model's claims against the facts, before the user sees them.
//!
//! Citations must resolve, numbers match within rounding, names exist, hints be known, diffs apply,
//! parse, keep the outputs and not change the result. The model may repair its faults once. A claim in a field that still fails
//! is left out; one within prose is marked. Knows no models and no prompts.

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
mod news;
mod proposal;
pub(crate) mod quantity;
mod saving;
mod seen;
mod structure;
mod support;
mod verdict;

use std::collections::{BTreeMap, HashSet};

pub use diff::apply_diff;
use job::Job;

use crate::allowed::Allowed;
use crate::conclusion::{Conclusion, HypothesisResult};
use crate::facts::StepInput;
use crate::prompts;
use crate::step::StepId;
use report::{Checks, Language, Localize, ProblemType, Suggestion, Text, Verdict, text};

use judge::{Basis, Fault, Judge, Kind};
use ledger::Ledger;
use names::Names;
use news::Told;
use seen::{cited_in, proposed, prose, reply, seen, texts};
use support::Statements;

/// Faults named for a turn of repair; a model fixes a handful, not a page.
const FAULTS_NAMED: usize = 12;

/// Ids named in the place of one that does not exist.
const IDS_NAMED: usize = 12;

/// Bytes quoted of a text that is left out.
const QUOTED: usize = 160;

/// The outcome of the check.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) checks: Checks,
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
    program: Vec<Conclusion>,
    /// Texts of the program's own conclusions, by step.
    own: BTreeMap<StepId, Vec<String>>,
    /// The program's own answer.
    own_answer: String,
    judge: Judge<'a>,
    names: Names,
    allowed: Allowed,
    told: Told,
    statements: Statements,
    /// What each suggestion changes and gains.
    changes: Statements,
    outcome: Outcome,
}

impl<'a> Checker<'a> {
    pub fn new(input: &'a StepInput, job: &'a Job) -> Checker<'a> {
        let texts = seen(input);
        let texts = || texts.iter().map(String::as_str);
        let (mut told, mut statements) = (Told::default(), Statements::default());
        for text in texts() {
            told.add(text);
            statements.add(text);
        }
        for finding in &input.facts.found.findings {
            let title = finding.cause.title().localize(input.facts.language);
            statements.add_whole(&format!("{title} {}", finding.summary));
        }
        let mut changes = Statements::default();
        for s in &input.suggestions {
            changes.add_whole(&format!("{} {}", s.title, s.gain));
        }
        let remembered: Vec<&str> = input.memory.iter().map(|m| m.text.as_str()).collect();
        remembered.iter().for_each(|text| told.add(text));
        let allowed = Allowed::of(input);
        let ids = [&allowed.evidence, &allowed.findings, &allowed.suggestions];
        let chunks = allowed.chunks.iter().map(String::as_str);
        let chunks = chunks.chain(cited_in(&remembered));
        let summary = &input.facts.job;
        Checker {
            input,
            job,
            program: Vec::new(),
            own: BTreeMap::new(),
            own_answer: String::new(),
            judge: Judge {
                ledger: Ledger::of(input, job),
                found: &input.facts.found,
                suggestions: &input.suggestions,
                elapsed: [summary.elapsed_seconds, summary.total_seconds],
            },
            names: Names::new(texts(), ids.into_iter().flatten(), chunks),
            allowed,
            told,
            statements,
            changes,
            outcome: Outcome::default(),
        }
    }

    /// Accepts the sentences of the program's own conclusions: they are true of the job.
    pub(crate) fn accepting(mut self, program: &[Conclusion]) -> Checker<'a> {
        self.own = program.iter().map(|c| (c.step(), prose(c))).collect();
        for mut conclusion in program.iter().cloned() {
            let answer = reply(&mut conclusion).map(std::mem::take);
            self.own_answer += &answer.unwrap_or_default();
        }
        for text in self.own.values().flatten() {
            self.told.add(text);
            self.statements.add(text);
        }
        self.program = program.to_vec();
        for step in self.own.keys() {
            let instruction = prompts::source(self.input.facts.language, step.id());
            self.told.add(instruction);
        }
        self
    }

    /// Faults of conclusions one of which says nothing without them, in short lines; the conclusions stay as they are. A repair costs
    /// as much as a step, so a conclusion of which something stands or that agrees with the program's is not repaired.
    pub(crate) fn faults(&mut self, conclusions: &[Conclusion]) -> Vec<String> {
        let mut copies = conclusions.to_vec();
        for conclusion in &mut copies {
            // A wrong class is put right without asking: the right one is known.
            if let (Conclusion::Classify(c), Some(class)) = (conclusion, settled_class(self.input))
            {
                c.problem_type = class;
            }
        }
        let told = self.told.clone();
        let mut faults = self.check(&mut copies).remarks;
        self.told = told;
        let agrees = |c: &Conclusion| self.program.iter().any(|own| c.agrees_with(own));
        if copies.iter().all(|c| says_something(c) || agrees(c)) {
            return Vec::new();
        }
        faults.truncate(FAULTS_NAMED);
        faults
    }

    /// Removes or marks the claims that do not stand up to the facts.
    pub(crate) fn check(&mut self, conclusions: &mut [Conclusion]) -> Outcome {
        for conclusion in conclusions {
            self.clean(conclusion);
        }
        let mut said = HashSet::new();
        let mut outcome = std::mem::take(&mut self.outcome);
        outcome.remarks.retain(|remark| said.insert(remark.clone()));
        outcome
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
                self.mark(text, &about);
                *text = self.told.news(text, false);
                self.keep_based(text, step == StepId::Completeness);
                self.told.add(text);
            }
        }
        // The basis of a proposed change is in its lists.
        for (text, about) in proposed(conclusion) {
            if !self.is_own(step, text) {
                self.mark(text, &about);
                *text = self.told.news(text, false);
            }
        }
        if let Some(text) = reply(conclusion).filter(|text| !self.is_own(step, text)) {
            self.mark(text, &[]);
            // An answer may repeat the facts that it is about, but not the question or the program's answer beside it.
            let mut told = Told::default();
            told.add(&self.own_answer);
            told.add(self.input.facts.question.as_deref().unwrap_or_default());
            let passages = self.input.experiences.iter();
            passages.for_each(|passage| told.add(&passage.title));
            *text = told.news(text, false);
            if !self.own_answer.is_empty() {
                self.keep_based(text, false);
            }
        }
        self.leave_out_empty(conclusion);
        if let Conclusion::Advice(advice) = conclusion {
            self.keep(&mut advice.additional, Self::useless);
            advice.additional.retain_mut(|proposal| {
                let suggestion = self.proposal(proposal);
                let stands = suggestion.is_some();
                self.outcome.proposed.extend(suggestion);
                stands
            });
        }
    }

    fn say(&self, text: Text) -> String {
        text.into(self.input.facts.language)
    }

    /// Leaves out the entries without a text.
    fn leave_out_empty(&self, conclusion: &mut Conclusion) {
        let is_said = |text: &String| !text.is_empty();
        match conclusion {
            Conclusion::KeyCode(c) => {
                c.modules
                    .retain(|m| is_said(&m.role) || m.finding.is_some());
            }
            Conclusion::Experience(c) => {
                c.causes
                    .retain(|c| is_said(&c.explanation) || c.finding.is_some());
            }
            Conclusion::Advice(c) => {
                for p in &mut c.additional {
                    for list in [&mut p.steps, &mut p.pros, &mut p.cons] {
                        list.retain(is_said);
                    }
                }
            }
            Conclusion::Completeness(c) => {
                let unread = &self.input.facts.outline.unread;
                for wanted in c.files.iter_mut().filter(|f| f.reason.is_empty()) {
                    let listed = unread.iter().find(|u| u.file == wanted.file);
                    wanted.reason = listed.map(|u| u.reason.clone()).unwrap_or_default();
                }
            }
            Conclusion::Hypotheses(c) => c.hypotheses.retain(|h| {
                let text = &h.hypothesis;
                let is_own = self.is_own(StepId::Hypotheses, text) && is_said(text);
                is_own
                    || is_said(
                        &self
                            .told
                            .news(text, h.result == HypothesisResult::Confirmed),
                    )
            }),
            _ => {}
        }
    }

    fn drop(&mut self, remark: Text) {
        self.outcome.checks.dropped += 1;
        self.outcome.remarks.push(self.say(remark));
    }

    /// Marks the claims of a text without basis, and removes the sentences against the facts. A text is removed if more than half of
    /// its claims fail or if it denies a finding.
    fn mark(&mut self, text: &mut String, about: &[String]) {
        let (marks, claims) = self.marks(text, about);
        self.outcome.checks.claims += u32::try_from(claims).unwrap_or(u32::MAX);
        let denies = marks.iter().any(|m| m.kind == Kind::Denial);
        if denies || marks.len() * 2 > claims {
            let remarks: Vec<String> = marks.into_iter().map(|m| self.say(m.remark)).collect();
            self.outcome.remarks.extend(remarks);
            return self.leave_out(text);
        }
        let mut marks = marks.into_iter().peekable();
        let mut kept = String::new();
        for piece in verdict::pieces(text) {
            let (mut at, start) = (piece.start, kept.len());
            let mut contradicts = false;
            while let Some(mark) = marks.next_if(|mark| mark.at <= piece.end) {
                kept.push_str(&text[at..mark.at]);
                kept.push_str(mark_of(self.input.facts.language));
                at = mark.at;
                let is_unverified = mark.kind == Kind::Unverified;
                contradicts |= !is_unverified;
                self.outcome.checks.unverified += u32::from(is_unverified);
                self.outcome.remarks.push(self.say(mark.remark));
            }
            kept.push_str(&text[at..piece.end]);
            if contradicts {
                kept.truncate(start);
                self.outcome.checks.dropped += 1;
            }
        }
        *text = kept;
    }

    /// Leaves out the sentences without a basis, and marks those that no statement of the program supports. A text that cites facts
    /// may go on with an explanation, but states no number and no advice without naming its subject. With `may_judge`, a sentence about
    /// no fact stays: it judges.
    fn keep_based(&mut self, text: &mut String, may_judge: bool) {
        let pieces = verdict::pieces(text);
        let bases = pieces
            .iter()
            .map(|piece| self.judge.basis(&text[piece.clone()]));
        let bases: Vec<Basis> = bases.collect();
        let (mut kept, mut label, mut cites) = (String::new(), String::new(), false);
        for (piece, basis) in pieces.into_iter().zip(bases) {
            let said = &text[piece];
            cites |= basis.cites;
            if said.trim_end().ends_with([':', '：']) {
                said.clone_into(&mut label);
                continue;
            }
            let judges = may_judge && basis.is_of_no_fact();
            let is_title =
                !news::is_sentence(said) && !basis.has_number && support::has_words(said);
            if !judges && !is_title && !basis.stands(cites) {
                self.outcome.checks.dropped += 1;
                continue;
            }
            kept.push_str(&std::mem::take(&mut label));
            let is_known = judges || is_title || self.supports(said, basis);
            kept.push_str(&self.marked_unless(is_known, said));
        }
        *text = kept.trim().to_owned();
    }

    /// Marks the sentences of a proposal that say something else than a suggestion of the program.
    fn mark_new(&mut self, text: &mut String) {
        let mut kept = String::new();
        for said in verdict::pieces(text).into_iter().map(|piece| &text[piece]) {
            kept.push_str(&self.marked_unless(self.changes.support(said), said));
        }
        *text = kept;
    }

    /// The sentence, with a mark unless it is known or has one.
    fn marked_unless(&mut self, is_known: bool, sentence: &str) -> String {
        let language = self.input.facts.language;
        if is_known || is_marked(sentence, language) {
            return sentence.to_owned();
        }
        self.outcome.checks.unverified += 1;
        marked(sentence, language)
    }

    /// Whether a statement of the program says what a sentence says. A change saves time, a problem does not.
    fn supports(&self, sentence: &str, basis: Basis) -> bool {
        match basis.has_gain {
            true => self.changes.support(sentence),
            false => self.statements.support(sentence),
        }
    }

    fn leave_out(&mut self, text: &mut String) {
        let said = report::format::cut(text, QUOTED).to_owned();
        self.drop(text!(
            "略去模型的一段话，因为它经不起核对：“{said}”",
            "a text of the model was left out, as it does not stand up to the facts: `{said}`"
        ));
        text.clear();
    }

    /// The faults of a text, in short lines; empty if it has no faults.
    pub fn faults_of(&self, text: &str, about: &[String]) -> Vec<String> {
        let (marks, _) = self.marks(text, about);
        marks
            .into_iter()
            .map(|mark| self.say(mark.remark))
            .collect()
    }

    /// The faults of a text in the order of their places, and the number of its claims.
    fn marks(&self, text: &str, about: &[String]) -> (Vec<Fault>, usize) {
        let denial = verdict::contradiction(text, &self.input.facts.found);
        let denials = denial.into_iter().map(|sentence| Fault {
            at: sentence.end,
            kind: Kind::Denial,
            remark: text!(
                "有一句话与程序的判断相矛盾",
                "a sentence contradicts the program's verdict"
            ),
        });
        let unknown = self.names.unknown(text).into_iter().map(|unknown| {
            let (name, (zh, en)) = (&text[unknown.span.clone()], unknown.what);
            Fault {
                at: outside_quotes(text, unknown.span.end),
                kind: Kind::Unverified,
                remark: text!("{zh} `{name}` 未知", "{en} `{name}` is not known"),
            }
        });
        let mut marks: Vec<Fault> = denials.chain(unknown).collect();
        let (faults, claims) = self.judge.faults(text, about);
        for fault in faults {
            let at = outside_quotes(text, fault.at);
            // One mark is enough at one place.
            if marks.iter().all(|m| m.at != at) {
                marks.push(Fault { at, ..fault });
            }
        }
        marks.sort_by_key(|mark| mark.at);
        (marks, claims)
    }
}

/// Whether a conclusion has a text or a proposal.
fn says_something(conclusion: &Conclusion) -> bool {
    match conclusion {
        Conclusion::Completeness(_) => true,
        Conclusion::Advice(c) if !c.additional.is_empty() => true,
        other => prose(other).iter().any(|text| !text.trim().is_empty()),
    }
}

/// The mark behind a claim that has no basis.
pub(crate) fn mark_of(language: Language) -> &'static str {
    language.select("〔未核实〕", " [unverified]")
}

fn is_marked(sentence: &str, language: Language) -> bool {
    sentence.contains(mark_of(language).trim())
}

/// A sentence with the mark before its stop.
fn marked(sentence: &str, language: Language) -> String {
    let is_stop = |c: char| c.is_whitespace() || ".!?;。！？；".contains(c);
    let (said, stop) = sentence.split_at(sentence.trim_end_matches(is_stop).len());
    format!("{said}{}{stop}", mark_of(language))
}

/// The place behind the backtick or bracket that closes a name.
fn outside_quotes(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches(['`', ']']).len()
}
