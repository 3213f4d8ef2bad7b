//! What a diagnosis consists of: facts, findings, missing information, suggestions.
//!
//! Plain data without behaviour beyond small look-ups. Texts come in both languages of the
//! product, so that the caller chooses late. The codes and field names follow the report contract.

use std::fmt;

use job::model::Source;
use serde::Serialize;

/// A sentence in both languages.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Text {
    /// Chinese.
    pub zh: String,
    /// English.
    pub en: String,
}

/// A value of a fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, in the fact's unit.
    Number(f64),
    /// A text: a key value, an error id.
    Text(String),
    /// A yes or no.
    Bool(bool),
}

/// One measured or read value with its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// What was measured, in the words of the file: `maxRowCount`,
    /// `max_rows_per_vertex / mean_rows_per_vertex`.
    pub metric: String,
    /// Its value.
    pub value: Value,
    /// `rows`, `bytes`, `ms`, `s`, `ratio`, `vertices`, …; `None` for texts.
    pub unit: Option<&'static str>,
    /// What a healthy job would show, where the fact is held against a threshold: `<= 3`.
    pub expected: Option<String>,
    /// Where it was read.
    pub source: Source,
    /// The fact as a sentence.
    pub text: Text,
}

macro_rules! causes {
    ($($variant:ident = $code:literal, $type:ident;)*) => {
        /// A cause of the report contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the code beside each variant says what it is")]
        pub enum Cause { $($variant),* }

        impl Cause {
            /// Every cause in the order of the contract.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant),*];

            /// Code in reports: `skew.join_hot_key`.
            pub fn code(self) -> &'static str {
                match self { $(Cause::$variant => $code),* }
            }

            /// Class that the specification puts it in.
            pub fn problem_type(self) -> ProblemType {
                match self { $(Cause::$variant => ProblemType::$type),* }
            }

            /// The cause with that code.
            pub fn from_code(code: &str) -> Option<Cause> {
                match code { $($code => Some(Cause::$variant),)* _ => None }
            }
        }
    };
}

causes! {
    JoinHotKey = "skew.join_hot_key", DataSkew;
    GroupHotKey = "skew.group_hot_key", DataSkew;
    NullOrDefaultKey = "skew.null_or_default_key", DataSkew;
    LowCardinalityKey = "skew.low_cardinality_key", DataSkew;
    PartitionLayout = "skew.partition_layout", DataSkew;
    RedundantRepartition = "shuffle.redundant_repartition", ExcessiveShuffle;
    UnusedColumns = "shuffle.unused_columns", ExcessiveShuffle;
    LateFilter = "shuffle.late_filter", ExcessiveShuffle;
    MissedBroadcast = "shuffle.missed_broadcast", ExcessiveShuffle;
    SerialGather = "shuffle.serial_gather", ExcessiveShuffle;
    UnalignedInput = "shuffle.unaligned_input", ExcessiveShuffle;
    HeapPressure = "gc.heap_pressure", Other;
    Spill = "memory.spill", Other;
    MemoryEstimateTooLow = "memory.estimate_too_low", Other;
    Misestimate = "cardinality.misestimate", Other;
    JoinExplosion = "join.explosion", Other;
    CpuBoundUdo = "udo.cpu_bound", Other;
    ParallelismTooLow = "parallelism.too_low", Other;
    TinyVertices = "parallelism.tiny_vertices", Other;
    SmallFiles = "io.small_files", Other;
    VertexRetries = "failure.vertex_retries", Other;
    SlowMachine = "failure.slow_machine", Other;
    UserCodeFailure = "failure.user_code", Other;
    CompileFailure = "failure.compile", Other;
    LimitFailure = "failure.limit", Other;
    QueueWait = "queue.wait", Other;
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.code())
    }
}

/// Class of a problem, as the specification names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
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

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
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

/// What mending the cause would buy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Impact {
    /// Seconds of run time (for `queue.wait`: of the time in the queue).
    pub seconds_saved: f64,
    /// Share of the run time, 0..1; `None` if that is not known.
    pub share_of_elapsed: Option<f64>,
    /// How it was computed, in words.
    pub method: String,
}

/// A cause found in the job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is.
    pub cause: Cause,
    /// How much it matters.
    pub severity: Severity,
    /// Chance that it is right, 0..1, calibrated.
    pub confidence: f64,
    /// Stage in which it shows; `None` if it is about the whole job.
    pub stage: Option<String>,
    /// First and last 1-based script line of the statement; `None` if not located.
    pub script_lines: Option<(u32, u32)>,
    /// One sentence with its numbers.
    pub summary: Text,
    /// Facts that show it; never empty.
    pub evidence: Vec<Fact>,
    /// What mending it would buy; `None` if it cannot be estimated.
    pub impact: Option<Impact>,
}

/// A fact that a rule lacked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingInformation {
    /// What is missing: `per_vertex_data`, `gc_time`; one of [`job::info::Information`]'s codes.
    pub info: &'static str,
    /// File of the catalogue that would hold it.
    pub file: String,
    /// Whether that file is in the folder (and has not been read yet).
    pub present: bool,
    /// Causes that it would decide.
    pub would_decide: Vec<Cause>,
    /// Why it matters here.
    pub reason: Text,
    /// Share of the undecided impact that the file would settle, 0..1.
    pub relevance: f64,
    /// Parser that reads the file.
    pub parser: Option<String>,
}

/// What kind of change a suggestion asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SuggestionKind {
    /// The script is written differently.
    Rewrite,
    /// A hint is added or taken away.
    Hint,
    /// A parameter of the submission or the script changes.
    Parameter,
    /// Stored data gets another layout.
    Layout,
    /// Something has to be looked at first.
    Investigate,
}

/// What was checked about a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The new script parses without an error.
    pub parses: bool,
    /// Every output keeps its columns in name, order and type.
    pub columns_preserved: bool,
    /// Every hint in it belongs to the known grammar.
    pub hints_known: bool,
}

/// A change that would mend a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// Index into [`Diagnosis::findings`].
    pub finding: usize,
    /// What kind of change.
    pub kind: SuggestionKind,
    /// What to do, in one line.
    pub title: Text,
    /// How to do it.
    pub steps: Vec<Text>,
    /// Unified diff of the script.
    pub diff: Option<String>,
    /// What was checked; `Some` exactly where there is a diff.
    pub verified: Option<Verified>,
    /// What it would bring.
    pub gain: Text,
    /// What speaks for it.
    pub pros: Vec<Text>,
    /// What speaks against it.
    pub cons: Vec<Text>,
    /// Section and keywords by which experience on it is looked up.
    pub topic: String,
}

/// What became of one rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// It found its cause.
    Fired {
        /// How many findings.
        findings: usize,
    },
    /// Its facts are there and do not show the cause, or something else explains them.
    Cleared {
        /// By what, with found and expected values.
        by: Text,
    },
    /// It needs a fact that is not there.
    Abstained {
        /// Codes of the missing information.
        lacking: Vec<&'static str>,
    },
}

/// What became of the rule for one cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleOutcome {
    /// The rule's cause.
    pub cause: Cause,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Facts it looked at.
    pub facts: Vec<Fact>,
}

/// The verdict of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At least one finding.
    Problem,
    /// Every rule that could apply had its facts, and none found anything.
    Healthy,
    /// No finding, and a rule that matters lacked its facts.
    InsufficientInformation,
}

/// How complete the information is, as section 5 of the specification asks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Completeness {
    /// Share of the information that the problem type needs and that is there, 0..1.
    pub score: f64,
    /// Least score that suffices: 0.7 for skew and shuffle, 0.5 for other.
    pub minimum: f64,
    /// Whether `score` reaches `minimum` and no rule that matters is undecided.
    pub sufficient: bool,
    /// Share of the rules that are decided, 0..1.
    pub progress: f64,
    /// What is still missing, most relevant first.
    pub missing: Vec<MissingInformation>,
}

/// The result for one job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Problem, healthy, or cannot be known.
    pub verdict: Verdict,
    /// Ranked by seconds saved; failures first.
    pub findings: Vec<Finding>,
    /// Findings whose share of the run is too small to matter.
    pub notes: Vec<Finding>,
    /// One entry a rule.
    pub rules: Vec<RuleOutcome>,
    /// What is missing and where it would be.
    pub completeness: Completeness,
    /// Changes that would mend the findings.
    pub suggestions: Vec<Suggestion>,
}
