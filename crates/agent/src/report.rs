//! The report: the one object that every front prints, stores or renders.
//!
//! Field names and values are an interface with a version; adding a field is free, renaming or
//! removing one needs another [`SCHEMA_VERSION`]. Plain data: nothing here knows how a report is
//! made. `report.schema.json` beside the sources is generated from these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the contract that these types follow.
pub const SCHEMA_VERSION: u32 = 1;

/// The answer to one question about one job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// ULID of the run.
    pub run_id: String,
    /// Which job it is about.
    pub job: JobSummary,
    /// What was asked; `None` if nothing was.
    pub question: Option<String>,
    /// Language of the texts.
    pub language: Language,
    /// Who reasoned.
    pub engine: Engine,
    /// Problem, healthy, or cannot be known.
    pub verdict: Verdict,
    /// Class of the top finding; `none` without one.
    pub problem_type: ProblemType,
    /// What is wrong, most seconds saved first.
    pub findings: Vec<Finding>,
    /// Every fact that the findings rest on, each once.
    pub evidence: Vec<Evidence>,
    /// What could not be decided, and which file would decide it.
    pub missing_information: Vec<MissingInformation>,
    /// What to change.
    pub suggestions: Vec<Suggestion>,
    /// Chunks of the knowledge base that the steps were given.
    pub experiences: Vec<Experience>,
    /// The THINK steps in their order.
    pub steps: Vec<Step>,
    /// Files that were read, in the order of reading.
    pub files_read: Vec<FileRead>,
    /// What could not be read or done.
    pub diagnostics: Vec<Diagnostic>,
    /// Calls, tokens and price; `None` without an LLM.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// What the check of the LLM's claims found; `None` without an LLM.
    #[serde(default)]
    pub checks: Option<Checks>,
    /// Findings too small to matter; their evidence is in `evidence`.
    #[serde(default)]
    pub notes: Vec<Finding>,
    /// What became of each rule.
    #[serde(default)]
    pub rules: Vec<RuleOutcome>,
    /// Whether the run was stopped before its last step.
    #[serde(default)]
    pub partial: bool,
}

/// Name, state and size of the job; what is not known is `None`, never 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSummary {
    /// Identifier.
    pub id: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// The folder.
    pub path: String,
    /// How it ended.
    pub state: JobState,
    /// Run time in seconds.
    pub elapsed_seconds: Option<f64>,
    /// Number of stages.
    pub stages: Option<u64>,
    /// Number of vertices.
    pub vertices: Option<u64>,
}

/// How the job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It ran to its end.
    Succeeded,
    /// It did not.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// No file tells.
    Unknown,
}

/// Language of a report and of the prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Chinese.
    Zh,
    /// English.
    En,
}

impl Language {
    /// Code in reports and folder names: `zh`, `en`.
    pub fn code(self) -> &'static str {
        match self {
            Language::Zh => "zh",
            Language::En => "en",
        }
    }

    /// Language of a text: Chinese if it holds a Han character.
    pub fn of(text: &str) -> Language {
        let is_han = |c: char| matches!(u32::from(c), 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF);
        if text.chars().any(is_han) {
            Language::Zh
        } else {
            Language::En
        }
    }

    /// The text in this language.
    pub fn pick(self, text: &diagnosis::model::Text) -> &str {
        match self {
            Language::Zh => &text.zh,
            Language::En => &text.en,
        }
    }
}

/// Who reasoned, and what it fell back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// `offline` or `llm`.
    pub reasoner: ReasonerKind,
    /// Provider of the LLM.
    pub provider: Option<String>,
    /// Model of the LLM.
    pub model: Option<String>,
    /// What was used instead of what was asked for, and why; `None` if nothing failed.
    #[serde(default)]
    pub fallback: Option<String>,
}

/// Kind of reasoner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasonerKind {
    /// Rules, experience and fixed wording.
    Offline,
    /// A language model.
    Llm,
}

/// The verdict on the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At least one finding.
    Problem,
    /// Every rule that could apply had its facts, and none found anything.
    Healthy,
    /// No finding, and a rule that matters lacked its facts.
    InsufficientInformation,
}

/// Class of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemType {
    /// Few vertices get most of the rows.
    DataSkew,
    /// Rows cross the network more than they need to.
    ExcessiveShuffle,
    /// Everything else.
    Other,
    /// No problem.
    None,
}

impl ProblemType {
    /// Code in reports and in the index's facets.
    pub fn code(self) -> &'static str {
        match self {
            ProblemType::DataSkew => "data_skew",
            ProblemType::ExcessiveShuffle => "excessive_shuffle",
            ProblemType::Other => "other",
            ProblemType::None => "none",
        }
    }
}

/// How much a finding matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look when there is time.
    Low,
    /// Worth mending.
    Medium,
    /// Costs a large share of the run.
    High,
    /// The job fails, or most of its run is lost.
    Critical,
}

/// A cause found in the job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// `F1`, `F2`, ….
    pub id: String,
    /// Code of the cause.
    pub cause: String,
    /// Its class.
    pub problem_type: ProblemType,
    /// How much it matters.
    pub severity: Severity,
    /// Chance that it is right, 0..1.
    pub confidence: f64,
    /// Stage in which it shows; `None` if it is about the whole job.
    pub stage: Option<String>,
    /// First and last script line, 1-based.
    pub script_lines: Option<[u32; 2]>,
    /// One sentence with its numbers.
    pub summary: String,
    /// Ids of evidence, at least one.
    pub evidence: Vec<String>,
    /// What mending it would buy.
    pub impact: Option<Impact>,
}

/// What mending a cause would buy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Impact {
    /// Seconds of run time.
    pub seconds_saved: f64,
    /// Share of the run time, 0..1.
    pub share_of_elapsed: Option<f64>,
    /// How it was computed.
    pub method: String,
}

/// A measured or read value with its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// `E1`, `E2`, ….
    pub id: String,
    /// What was measured.
    pub metric: String,
    /// Number, text or boolean.
    pub value: EvidenceValue,
    /// Unit of a number.
    pub unit: Option<String>,
    /// What a healthy job would show.
    pub expected: Option<String>,
    /// Where it was read.
    pub source: EvidenceSource,
    /// The fact as a sentence.
    pub text: String,
}

/// A value of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EvidenceValue {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A yes or no.
    Bool(bool),
}

/// File and place of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceSource {
    /// File of the job folder.
    pub file: String,
    /// Place in it.
    pub locator: Option<String>,
}

/// A fact that a rule lacked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissingInformation {
    /// Code of the information.
    pub info: String,
    /// File that would hold it.
    pub file: String,
    /// Whether the file is in the folder.
    pub present: bool,
    /// Causes that it would decide.
    pub would_decide: Vec<String>,
    /// Why it matters.
    pub reason: String,
}

/// What became of the rule for one cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleOutcome {
    /// Code of the cause.
    pub cause: String,
    /// Fired, cleared or abstained.
    pub outcome: RuleResult,
    /// What cleared it, what it lacked, or how many findings it made.
    pub text: String,
    /// Codes of the information that it lacked.
    pub lacking: Vec<String>,
    /// Ids of the facts that it looked at.
    pub evidence: Vec<String>,
}

/// How a rule ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleResult {
    /// It found its cause.
    Fired,
    /// Its facts do not show the cause.
    Cleared,
    /// It lacked facts.
    Abstained,
}

/// What kind of change a suggestion asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SuggestionKind {
    /// The script is written differently.
    Rewrite,
    /// A hint is added or taken away.
    Hint,
    /// A parameter changes.
    Parameter,
    /// Stored data gets another layout.
    Layout,
    /// Something has to be looked at first.
    Investigate,
}

impl SuggestionKind {
    /// Code in reports and in the run store.
    pub fn code(self) -> &'static str {
        match self {
            SuggestionKind::Rewrite => "rewrite",
            SuggestionKind::Hint => "hint",
            SuggestionKind::Parameter => "parameter",
            SuggestionKind::Layout => "layout",
            SuggestionKind::Investigate => "investigate",
        }
    }
}

/// What was checked about a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// The new script parses.
    pub parses: bool,
    /// Every output keeps its columns.
    pub columns_preserved: bool,
    /// Every hint is of the known grammar.
    pub hints_known: bool,
}

/// Who made a suggestion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A rule; its numbers and diff are checked by construction.
    #[default]
    Rules,
    /// The LLM; what stands was checked afterwards.
    Llm,
}

/// A change that would mend a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// `S1`, `S2`, ….
    pub id: String,
    /// Id of the finding that it mends.
    pub finding: Option<String>,
    /// What kind of change.
    pub kind: SuggestionKind,
    /// What to do, in one line.
    pub title: String,
    /// How to do it.
    pub steps: Vec<String>,
    /// Unified diff of the script.
    pub diff: Option<String>,
    /// What was checked; `None` without a diff.
    pub verified: Option<Verified>,
    /// What it would bring.
    pub gain: String,
    /// What speaks for it.
    pub pros: Vec<String>,
    /// What speaks against it.
    pub cons: Vec<String>,
    /// Chunks that support it.
    pub sources: Vec<String>,
    /// Who made it.
    #[serde(default)]
    pub origin: Origin,
    /// What could not be confirmed about it; empty for suggestions of the rules.
    #[serde(default)]
    pub unverified: Vec<String>,
}

/// A chunk of the knowledge base that a step was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experience {
    /// Step that it was retrieved for: `think3`.
    pub step: String,
    /// Id of the chunk.
    pub chunk: String,
    /// 1-based rank in that step.
    pub rank: u32,
    /// Fused score.
    pub score: Option<f64>,
    /// Rank by words; `None` if not found by them.
    pub bm25_rank: Option<u32>,
    /// Rank by vectors; `None` if not found by them.
    pub vector_rank: Option<u32>,
    /// Title of its document and heading.
    pub title: String,
    /// Whether the step's conclusion or a suggestion cites it.
    #[serde(default)]
    pub used: bool,
}

/// One THINK step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// `think1` … `think5`, `hypotheses`.
    pub id: String,
    /// Title in the report's language.
    pub title: String,
    /// Structured conclusion.
    pub conclusion: Value,
    /// The conclusion in words.
    pub text: String,
    /// Tokens sent; 0 offline.
    pub tokens_in: u64,
    /// Tokens received; 0 offline.
    pub tokens_out: u64,
    /// Wall time in milliseconds.
    pub elapsed_ms: f64,
    /// Whether the LLM's answer had to be repaired or asked for again.
    #[serde(default)]
    pub repaired: bool,
    /// What the check of the LLM's answer dropped or marked.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRead {
    /// Name relative to the job folder.
    pub file: String,
    /// Parser that read it; `None` for plain text.
    pub parser: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// 0 for the core files, then the round of THINK 4.
    pub round: u32,
}

/// What could not be read or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// `error` or `warning`.
    pub severity: DiagnosticSeverity,
    /// File, where it is about one.
    pub file: Option<String>,
    /// Place in it.
    pub locator: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticSeverity {
    /// A file, or the rest of it, could not be read; a step failed.
    Error,
    /// Something is odd.
    Warning,
}

/// Calls, tokens and price of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Requests that were answered.
    pub calls: u32,
    /// Requests that were repeated after an error.
    pub retries: u32,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens received, thinking included.
    pub tokens_out: u64,
    /// Price by the profile's price list; `None` without one.
    pub cost: Option<f64>,
}

impl Usage {
    /// Adds what one call used.
    pub(crate) fn add(&mut self, other: &Usage) {
        self.calls += other.calls;
        self.retries += other.retries;
        self.tokens_in += other.tokens_in;
        self.tokens_out += other.tokens_out;
        self.cost = match (self.cost, other.cost) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}

/// What the check of the LLM's claims found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// Claims that were looked at.
    pub claims: u32,
    /// Claims that were left out.
    pub dropped: u32,
    /// Claims that stand with a mark.
    pub unverified: u32,
    /// Answers that had to be repaired or asked for again.
    pub repaired: u32,
}

/// JSON Schema of [`Report`], as written to `report.schema.json`.
pub fn schema() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Report>().to_value();
    schema["$id"] = Value::from("https://scopeagent.dev/report-v1.schema.json");
    schema
}
