//! The structured conclusion of each step: filled by the reasoners, kept in memory and shown by a report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::step::StepId;
use report::ProblemType;

/// The conclusion of each step: its type, and the field with its prose.
macro_rules! conclusions {
    ($($(#[$doc:meta])* $step:ident($type:ident) $text:ident;)*) => {
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Conclusion {
            $($(#[$doc])* $step($type),)*
        }

        impl Conclusion {
            /// The step that concludes it.
            pub fn step(&self) -> StepId {
                match self { $(Conclusion::$step(_) => StepId::$step,)* }
            }

            pub fn text(&self) -> &str {
                match self { $(Conclusion::$step(c) => &c.$text,)* }
            }

            /// Reads the conclusion of a step.
            ///
            /// # Errors
            /// The first field that does not follow the schema.
            pub fn from_value(step: StepId, value: Value) -> Result<Conclusion, serde_path_to_error::Error<serde_json::Error>> {
                Ok(match step { $(StepId::$step => Conclusion::$step(serde_path_to_error::deserialize(value)?),)* })
            }
        }
    };
}

conclusions! {
    /// Of THINK 1.
    Classify(Classification) text;
    /// Of THINK 2.
    KeyCode(KeyCode) text;
    /// Of THINK 3.
    Experience(Causes) text;
    /// Of one round of THINK 4.
    Completeness(FileRequest) basis;
    /// Of THINK 5.
    Advice(Advice) text;
    /// Of the appendix.
    Hypotheses(Hypotheses) text;
    /// Of a question about a saved run.
    Answer(Reply) text;
}

/// THINK 1: what class of problem it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Classification {
    /// Class of the main problem; `none` for a healthy job.
    pub problem_type: ProblemType,
    /// Further classes that are present.
    #[serde(default)]
    pub also: Vec<ProblemType>,
    /// Ids of the findings that the class rests on.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Ids of the evidence that the class rests on.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Ids of the experience chunks that fit.
    #[serde(default)]
    pub experiences: Vec<String>,
    /// Prose in the report's language, two to five sentences.
    pub text: String,
}

/// THINK 2: which code matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyCode {
    /// Statements, operators or classes that matter, most important first.
    #[serde(default)]
    pub modules: Vec<Module>,
    /// Ids of the experience chunks that fit.
    #[serde(default)]
    pub experiences: Vec<String>,
    /// Prose in the report's language.
    pub text: String,
}

/// A piece of code that matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// Rowset, statement, operator or class by its name in the job.
    pub name: String,
    /// First script line; null if not located.
    pub first_line: Option<u32>,
    /// Last script line; null if not located.
    pub last_line: Option<u32>,
    /// Stage that runs it; null if not known.
    pub stage: Option<String>,
    /// Id of the finding that it belongs to; null for none.
    pub finding: Option<String>,
    /// Why it matters, in the report's language.
    pub role: String,
}

/// THINK 3: causes in the light of experience.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Causes {
    /// One entry per cause, most important first.
    #[serde(default)]
    pub causes: Vec<CauseAnalysis>,
    /// Prose in the report's language.
    pub text: String,
}

/// The case for and against a cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseAnalysis {
    /// Code of the cause.
    pub cause: String,
    /// Id of the finding; null if no rule found it.
    pub finding: Option<String>,
    /// How it arises in this job, in the report's language.
    pub explanation: String,
    /// Counter-evidence, found or possible, in the report's language; null for none.
    pub against: Option<String>,
    /// Ids of evidence.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Ids of experience chunks.
    #[serde(default)]
    pub experiences: Vec<String>,
}

/// THINK 4: whether more files are needed, and which.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FileRequest {
    /// Whether files are needed before advice can be given.
    pub needs_files: bool,
    /// Files to read, at most three, most important first.
    #[serde(default)]
    pub files: Vec<WantedFile>,
    /// Other look-ups.
    #[serde(default)]
    pub lookups: Vec<Lookup>,
    /// Aspects that stay unknown, in the report's language.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Ids of the experience chunks that fit.
    #[serde(default)]
    pub experiences: Vec<String>,
    /// Why these, or why none, in the report's language.
    pub basis: String,
}

/// A file with the reason for reading it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WantedFile {
    /// Name as listed.
    pub file: String,
    /// Which part: a stage, operator, table or class by name; lines of its text such as `120-180`; `raw` for the text from its beginning; null for a digest of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// What it would decide, in the report's language.
    pub reason: String,
}

/// A look-up that THINK 4 may ask for besides files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lookup {
    /// Which tool.
    pub tool: Tool,
    /// Lines `12-18`, a table, a class, or search words, as the tool wants.
    pub argument: String,
}

/// Tools besides reading files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Statements, hints and data flow of the script (argument: lines, or nothing).
    AnalyzeScript,
    /// Rows, bytes, layout and frequent values of a table (argument: its name).
    TableMetadata,
    /// Generated C# and the script expressions behind it (argument: a class, or nothing).
    ExplainCodegen,
    /// Experience (argument: search words).
    SearchExperience,
}

/// THINK 5: what to change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// The checked suggestions in the order in which they should be done.
    #[serde(default)]
    pub recommendations: Vec<Recommendation>,
    /// Further changes that no rule proposed; empty for none.
    #[serde(default)]
    pub additional: Vec<Proposal>,
    /// Prose in the report's language: what to do first, and what it costs.
    pub text: String,
    /// The answer to the user's question.
    #[serde(default, skip_serializing_if = "Reply::is_empty")]
    pub answer: Reply,
}

/// The answer to the user's question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// The answer first, then its reasons, in the report's language; empty if nothing was asked.
    pub text: String,
    /// Ids of evidence.
    #[serde(default)]
    pub evidence: Vec<String>,
}

impl Reply {
    /// Whether the reply is missing: without a question or without an answer.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// A checked suggestion, weighed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommendation {
    /// Id of the suggestion.
    pub suggestion: String,
    /// Why, in the report's language.
    pub why: String,
    /// What it costs or risks, in the report's language.
    pub trade_offs: String,
    /// Ids of evidence.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Ids of experience chunks.
    #[serde(default)]
    pub experiences: Vec<String>,
}

/// A change that the LLM proposes by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// Id of the finding that it would fix; null for none.
    pub finding: Option<String>,
    /// What to do, in one line.
    pub title: String,
    /// How to do it.
    pub steps: Vec<String>,
    /// Unified diff of the script; null where it is no change of the script.
    pub diff: Option<String>,
    /// Advantages.
    #[serde(default)]
    pub pros: Vec<String>,
    /// Drawbacks.
    #[serde(default)]
    pub cons: Vec<String>,
    /// Ids of evidence.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Ids of experience chunks.
    #[serde(default)]
    pub experiences: Vec<String>,
}

/// The appendix: open hypotheses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hypotheses {
    /// Most plausible first.
    #[serde(default)]
    pub hypotheses: Vec<Hypothesis>,
    /// Prose in the report's language.
    pub text: String,
}

/// A supposed cause and how to check it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hypothesis {
    /// What is supposed.
    pub hypothesis: String,
    /// How to check it.
    pub check: String,
    /// File that decides it; null if none does.
    pub file: Option<String>,
    /// What the check said.
    pub result: HypothesisResult,
    /// Ids of evidence for the result.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// The result of checking a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HypothesisResult {
    /// The facts show it.
    Confirmed,
    /// The facts contradict it.
    Refuted,
    /// A fact is missing.
    Open,
}

/// A field that refers to parts of the input.
pub(crate) enum Reference<'c> {
    Name(&'c mut String),
    Maybe(&'c mut Option<String>),
    Several(&'c mut Vec<String>),
}

impl Conclusion {
    /// The conclusion as reports and memory hold it.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// The fields that refer to parts of the input, each with its place in the schema.
    pub(crate) fn references(&mut self) -> Vec<(&'static str, Reference<'_>)> {
        use Reference::{Maybe, Name, Several};
        let mut all = Vec::new();
        match self {
            Conclusion::Classify(c) => all.extend([
                ("/findings", Several(&mut c.findings)),
                ("/evidence", Several(&mut c.evidence)),
                ("/experiences", Several(&mut c.experiences)),
            ]),
            Conclusion::KeyCode(c) => {
                for module in &mut c.modules {
                    all.push(("/modules/finding", Maybe(&mut module.finding)));
                    all.push(("/modules/stage", Maybe(&mut module.stage)));
                }
                all.push(("/experiences", Several(&mut c.experiences)));
            }
            Conclusion::Experience(c) => {
                for cause in &mut c.causes {
                    all.push(("/causes/cause", Name(&mut cause.cause)));
                    all.push(("/causes/finding", Maybe(&mut cause.finding)));
                    all.push(("/causes/evidence", Several(&mut cause.evidence)));
                    all.push(("/causes/experiences", Several(&mut cause.experiences)));
                }
            }
            Conclusion::Completeness(c) => {
                let files = c.files.iter_mut().map(|wanted| &mut wanted.file);
                all.extend(files.map(|file| ("/files/file", Name(file))));
                all.push(("/experiences", Several(&mut c.experiences)));
            }
            Conclusion::Advice(c) => {
                for r in &mut c.recommendations {
                    all.push(("/recommendations/suggestion", Name(&mut r.suggestion)));
                    all.push(("/recommendations/evidence", Several(&mut r.evidence)));
                    all.push(("/recommendations/experiences", Several(&mut r.experiences)));
                }
                for p in &mut c.additional {
                    all.push(("/additional/finding", Maybe(&mut p.finding)));
                    all.push(("/additional/evidence", Several(&mut p.evidence)));
                    all.push(("/additional/experiences", Several(&mut p.experiences)));
                }
                all.push(("/answer/evidence", Several(&mut c.answer.evidence)));
            }
            Conclusion::Hypotheses(c) => {
                for h in &mut c.hypotheses {
                    all.push(("/hypotheses/evidence", Several(&mut h.evidence)));
                    all.push(("/hypotheses/file", Maybe(&mut h.file)));
                }
            }
            Conclusion::Answer(c) => all.push(("/evidence", Several(&mut c.evidence))),
        }
        all
    }

    /// Whether it names what the program's conclusion names: the class, a finding, the first cause or a suggestion. Texts don't count.
    pub(crate) fn agrees_with(&self, program: &Conclusion) -> bool {
        let shares = |a: &[String], b: &[String]| b.is_empty() || a.iter().any(|id| b.contains(id));
        match (self, program) {
            (Conclusion::Classify(a), Conclusion::Classify(b)) => {
                a.problem_type == b.problem_type && shares(&a.findings, &b.findings)
            }
            (Conclusion::KeyCode(a), Conclusion::KeyCode(b)) => {
                let is_known = |m: &Module| b.modules.iter().any(|own| own.finding == m.finding);
                b.modules.is_empty() || a.modules.iter().any(is_known)
            }
            (Conclusion::Experience(a), Conclusion::Experience(b)) => {
                let first = |c: &Causes| c.causes.first().map(|c| c.cause.clone());
                first(a) == first(b)
            }
            (Conclusion::Advice(a), Conclusion::Advice(b)) => {
                let ids = |c: &Advice| -> Vec<String> {
                    c.recommendations
                        .iter()
                        .map(|r| r.suggestion.clone())
                        .collect()
                };
                shares(&ids(a), &ids(b))
            }
            (Conclusion::Completeness(_), Conclusion::Completeness(_)) => true,
            _ => false,
        }
    }
}
