//! Everything that a step may look at, in the words of the report: what the templates render, what
//! the offline reasoner words, and what an answer is checked against.
//!
//! Plain data; built anew from the diagnosis before each step.

use serde::Serialize;
use serde_json::Value;

use crate::conclusion::WantedFile;
use crate::step::StepId;
use report::{
    Evidence, Finding, JobSummary, Language, MissingInformation, ProblemType, Suggestion, Verdict,
};

/// What a step sees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// Language of the report.
    pub language: Language,
    /// What was asked.
    pub question: Option<String>,
    /// The job.
    pub job: JobSummary,
    /// Verdict of the rules so far.
    pub verdict: Verdict,
    /// Class of the top finding.
    pub problem_type: ProblemType,
    /// Findings so far, ranked.
    pub findings: Vec<Finding>,
    /// Their evidence.
    pub evidence: Vec<Evidence>,
    /// Causes that the facts rule out.
    pub cleared: Vec<Cleared>,
    /// What is missing, most relevant first.
    pub missing: Vec<Missing>,
    /// Files that could change a judgement although no rule insists on them, most useful first.
    #[serde(skip)]
    pub helpful: Vec<WantedFile>,
    /// How complete the information is.
    pub completeness: Score,
    /// Suggestions of the rules.
    pub suggestions: Vec<Suggestion>,
    /// Topics by which experience on the suggestions is looked up, in their order.
    pub topics: Vec<String>,
    /// Stages, in the job's order.
    pub stages: Vec<StageRow>,
    /// Statements of the script.
    pub statements: Vec<StatementRow>,
    /// The script.
    pub script: Option<ScriptText>,
    /// Columns, tables, operators and classes of the job: names that an answer may use.
    pub names: Vec<String>,
    /// Names that the people of the job chose: tables, columns, their classes.
    #[serde(skip)]
    pub private_names: Vec<String>,
    /// Error messages of a failed job.
    pub errors: Vec<String>,
    /// Experience retrieved for this step.
    pub experiences: Vec<Passage>,
    /// Conclusions of earlier steps.
    pub memory: Vec<Remembered>,
    /// Files of the folder that have not been read.
    pub unread: Vec<UnreadFile>,
    /// Files that have been read into the facts; their text can still be asked for.
    pub read: Vec<String>,
    /// What tools and files gave in THINK 4.
    pub excerpts: Vec<Excerpt>,
    /// The round of THINK 4, from 1; 0 before it.
    pub round: u32,
    /// Rounds that THINK 4 may take.
    pub rounds: u32,
}

/// A cause that the facts rule out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cleared {
    /// Code of the cause.
    pub cause: String,
    /// By what.
    pub by: String,
}

/// Missing information with what THINK 4 needs to decide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    /// As it stands in the report.
    #[serde(flatten)]
    pub information: MissingInformation,
    /// Share of the undecided impact that the file would settle.
    pub relevance: f64,
    /// Parser that reads it.
    pub parser: Option<String>,
}

/// Completeness of the information.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    /// Share that is there, 0..1.
    pub score: f64,
    /// Least share that suffices.
    pub minimum: f64,
    /// Whether it suffices.
    pub sufficient: bool,
    /// Share of the rules that are decided.
    pub progress: f64,
}

/// One stage in a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageRow {
    /// Name.
    pub name: String,
    /// Operators, as `Join_5 (join on UserId)`.
    pub operators: Vec<String>,
    /// Vertices.
    pub vertices: Option<u64>,
    /// Script lines of its operators.
    pub lines: Vec<u32>,
}

/// One statement in a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementRow {
    /// Rowset that it binds.
    pub target: Option<String>,
    /// What it does.
    pub kind: String,
    /// First and last line.
    pub lines: [u32; 2],
    /// Rowsets that it reads.
    pub inputs: Vec<String>,
    /// Hints on it.
    pub hints: Vec<String>,
}

/// The script with its file name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScriptText {
    /// File name.
    pub file: String,
    /// Text as read, without a byte order mark.
    pub text: String,
}

/// A chunk of experience with its text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Passage {
    /// Id to cite.
    pub chunk: String,
    /// Title and headings.
    pub title: String,
    /// Causes that it is about.
    pub causes: Vec<String>,
    /// Part of the playbook.
    pub section: Option<String>,
    /// Its text.
    pub text: String,
}

/// The conclusion of an earlier step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remembered {
    /// Id of the step.
    pub step: String,
    /// Its title.
    pub title: String,
    /// Its structured conclusion.
    pub conclusion: Value,
    /// In words.
    pub text: String,
}

/// A file that could be read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnreadFile {
    /// Name.
    pub file: String,
    /// What it holds, by the catalogue; empty for unknown files.
    pub description: String,
    /// Size.
    pub bytes: u64,
    /// Parser that reads it.
    pub parser: Option<String>,
}

/// What a tool or a file gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Excerpt {
    /// File name, or tool with its argument.
    pub name: String,
    /// Text, cut to the limits.
    pub text: String,
    /// Bytes that were left out.
    pub cut_bytes: u64,
}

impl View {
    /// What an earlier step concluded.
    pub fn conclusion(&self, step: StepId) -> Option<&Value> {
        self.memory
            .iter()
            .find(|m| m.step == step.id())
            .map(|m| &m.conclusion)
    }

    /// Chunks of this step's experience on some causes.
    pub(crate) fn experience_on(&self, causes: &[&str]) -> Vec<String> {
        let fits = |p: &&Passage| p.causes.iter().any(|c| causes.contains(&c.as_str()));
        let found = self.experiences.iter().filter(fits);
        found.map(|p| p.chunk.clone()).collect()
    }

    /// Chunks of this step's experience on the causes that were found.
    pub(crate) fn experience_on_findings(&self) -> Vec<String> {
        let causes: Vec<&str> = self.findings.iter().map(|f| f.cause.code()).collect();
        self.experience_on(&causes)
    }

    /// The finding with that id.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.iter().find(|f| f.id == id)
    }

    /// The evidence with that id.
    pub fn fact(&self, id: &str) -> Option<&Evidence> {
        self.evidence.iter().find(|e| e.id == id)
    }
}
