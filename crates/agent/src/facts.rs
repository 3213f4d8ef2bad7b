//! The input of the steps, in the words of the report: templates render it, the offline reasoner
//! words it, and answers are checked against it.
//!
//! [`Facts`] change only when files are read; a step's own input is added to them.

use std::sync::Arc;

use job::Job;
use serde::Serialize;
use serde_json::Value;

use crate::found::Found;
use crate::outline::Outline;
use crate::step::StepId;
use crate::terms::Terms;
use llm::Mask;
use report::{
    Cause, Evidence, Finding, JobSummary, Language, Match, Report, RuleResult, Suggestion,
};

/// Facts known about the job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    pub language: Language,
    pub question: Option<String>,
    /// Words for the parts of this job.
    pub terms: Terms,
    pub job: JobSummary,
    #[serde(flatten)]
    pub outline: Outline,
    #[serde(flatten)]
    pub found: Found,
    /// Hides private data before a request; `None` without masking.
    #[serde(skip)]
    pub mask: Option<Mask>,
}

/// Input of a step, or of THINK 1–3 together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepInput {
    #[serde(flatten)]
    pub facts: Arc<Facts>,
    /// Suggestions of the rules; for THINK 5 with the experience that supports them.
    pub suggestions: Vec<Suggestion>,
    pub experiences: Vec<Passage>,
    pub memory: Vec<Remembered>,
    #[serde(flatten)]
    pub reading: Reading,
    /// The program's answer to the question; `None` without a question.
    pub answer: Option<MeasuredAnswer>,
}

/// A question answered from measured facts, the same for every reasoner.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MeasuredAnswer {
    pub text: String,
    /// Evidence that the text cites: from the report, or with the next numbers.
    pub evidence: Vec<Evidence>,
}

/// Answers the question of a report from the report and its job, both as far as they go.
pub type Answerer<'a> = dyn Fn(&Report, &Job) -> Option<MeasuredAnswer> + Sync + 'a;

/// How far THINK 4 has read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Reading {
    /// Files that have been parsed into facts; their text can still be requested.
    pub read: Vec<String>,
    pub excerpts: Vec<Excerpt>,
    /// The round of THINK 4, from 1; 0 before it.
    pub round: u32,
    /// Rounds that THINK 4 may take.
    pub rounds: u32,
}

/// A chunk of experience with its text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Passage {
    pub chunk: String,
    pub title: String,
    pub causes: Vec<String>,
    pub section: Option<String>,
    #[serde(rename = "match")]
    pub fit: Match,
    pub text: String,
}

/// The conclusion of an earlier step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remembered {
    pub step: String,
    pub title: String,
    pub conclusion: Value,
    pub text: String,
    /// The conclusion in short, for a prompt.
    pub lines: Vec<String>,
    /// Evidence of an earlier answer, unless another part of the prompt lists it.
    pub evidence: Vec<Evidence>,
}

/// Result of a tool, or text of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Excerpt {
    /// File name, or tool with its argument.
    pub name: String,
    pub text: String,
    /// Bytes that were left out.
    pub cut_bytes: u64,
}

impl StepInput {
    /// Evidence that the step may cite: of the findings, the program's answer, stages and inputs, and earlier answers.
    pub fn cited(&self) -> impl Iterator<Item = &Evidence> {
        let of_answer = self.answer.iter().flat_map(|a| &a.evidence);
        let outline = &self.facts.outline;
        let of_stages = outline.stages.iter().flat_map(|s| &s.evidence);
        let of_tables = outline.tables.iter().flat_map(|t| &t.evidence);
        let before = self.memory.iter().flat_map(|m| &m.evidence);
        let of_findings = self.facts.found.evidence.iter();
        let of_run = of_stages.chain(of_tables);
        of_findings.chain(of_answer).chain(of_run).chain(before)
    }

    pub fn conclusion(&self, step: StepId) -> Option<&Value> {
        let of_step = |m: &&Remembered| m.step == step.id();
        self.memory.iter().find(of_step).map(|m| &m.conclusion)
    }

    /// Chunks of this step's experience on some causes.
    pub(crate) fn experience_on(&self, causes: &[&str]) -> Vec<String> {
        let fits = |p: &&Passage| p.causes.iter().any(|c| causes.contains(&c.as_str()));
        let found = self.experiences.iter().filter(fits);
        found.map(|p| p.chunk.clone()).collect()
    }

    /// Chunks of this step's experience on the causes that were found.
    pub(crate) fn experience_on_findings(&self) -> Vec<String> {
        let findings = self.facts.found.findings.iter();
        let causes: Vec<&str> = findings.map(|f| f.cause.code()).collect();
        self.experience_on(&causes)
    }
}

impl Found {
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.iter().find(|f| f.id == id)
    }

    pub fn evidence(&self, id: &str) -> Option<&Evidence> {
        self.evidence.iter().find(|e| e.id == id)
    }

    /// Codes of the causes that some rule ended with this result for.
    pub(crate) fn causes(&self, result: RuleResult) -> impl Iterator<Item = &'static str> {
        let outcomes = self.outcomes.iter().filter(move |(_, r)| *r == result);
        outcomes.map(|(cause, _)| cause.code())
    }

    /// How the rules about a cause ended; `None` where no rules are known.
    pub(crate) fn outcome(&self, cause: Cause) -> Option<RuleResult> {
        let known = self.outcomes.iter().filter(|(c, _)| *c == cause);
        let results: Vec<RuleResult> = known.map(|(_, result)| *result).collect();
        let order = [
            RuleResult::Fired,
            RuleResult::Explained,
            RuleResult::Abstained,
            RuleResult::Cleared,
        ];
        let first = order.into_iter().find(|result| results.contains(result));
        let is_known = !self.outcomes.is_empty();
        first.or(is_known.then_some(RuleResult::NotApplicable))
    }
}
