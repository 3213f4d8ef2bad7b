//! What changed between two runs: times, rows, bytes, vertices, estimates, the plan, the inputs, the
//! script, the findings, and the most probable reason of the difference.
//!
//! Works on what a run store keeps (report, shape, script), so that no job folder is needed. What a
//! side does not hold is named in `not_compared` and is no difference. Nothing here reads files or
//! prints.

mod findings;
mod inputs;
mod matching;
mod plan;
mod reason;
mod script;
mod stages;
mod totals;
mod wording;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::picture::ScriptText;
use crate::shape::JobShape;
use report::{JobState, Language, Report, Severity, Verdict};

/// Version of [`Comparison`]; adding a field is free.
pub const COMPARISON_VERSION: u32 = 1;

/// Changes below this share are taken for noise: two runs of the same script on the same data differ
/// by some percent.
pub(crate) const NOISE: f64 = 0.1;

/// One run to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Its report.
    pub report: Report,
    /// What it is compared by.
    pub shape: JobShape,
    /// Its script.
    pub script: Option<ScriptText>,
    /// Where all this comes from.
    pub origin: Origin,
}

/// Where a side comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The folder was read for this comparison.
    Folder,
    /// Kept with the run.
    Kept,
    /// The run was kept without it; its folder was read again.
    ReadAgain,
    /// The run was kept without it and its folder is gone or another job's: only what is drawn is known.
    Drawn,
}

/// What changed from run A to run B.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Always [`COMPARISON_VERSION`].
    pub schema_version: u32,
    /// Language of the texts.
    pub language: Language,
    /// The first run.
    pub a: Summary,
    /// The second run.
    pub b: Summary,
    /// Whether the two look like runs of one job: the same name but for digits, or a common input.
    pub same_job: bool,
    /// The difference and its most probable reason, in a sentence.
    pub headline: String,
    /// Reasons of the difference, the most probable first.
    pub reasons: Vec<Reason>,
    /// Numbers of the whole job that are known on a side.
    pub totals: Vec<Total>,
    /// Findings that are new, gone, worse, better or the same, in this order.
    pub findings: Vec<FindingChange>,
    /// Stages, the biggest change of time first.
    pub stages: Vec<StageChange>,
    /// What changed in the plan.
    pub plan: Vec<PlanChange>,
    /// Inputs, the biggest change first.
    pub inputs: Vec<InputChange>,
    /// Operators whose estimate, or the error of it, changed by a factor of two or more.
    pub estimates: Vec<EstimateChange>,
    /// What changed in the script.
    pub script: ScriptChange,
    /// What could not be compared, and why.
    pub not_compared: Vec<Gap>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Identifier of the run; `None` for a folder that was read for this comparison.
    pub run_id: Option<String>,
    /// Name of the job, its identifier or its folder.
    pub name: String,
    /// The folder.
    pub path: String,
    /// How the job ended.
    pub state: JobState,
    /// Verdict on it.
    pub verdict: Verdict,
    /// Run time in seconds.
    pub elapsed_seconds: Option<f64>,
    /// Where its numbers come from.
    pub origin: Origin,
}

/// The same number in both runs; `None` where a run does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// In run A.
    pub a: Option<f64>,
    /// In run B.
    pub b: Option<f64>,
}

impl Pair {
    pub(crate) fn new(a: Option<f64>, b: Option<f64>) -> Pair {
        Pair {
            a: a.filter(|v| v.is_finite()),
            b: b.filter(|v| v.is_finite()),
        }
    }

    /// `b - a`.
    pub fn difference(self) -> Option<f64> {
        Some(self.b? - self.a?)
    }

    /// `b / a`; `None` where A is 0 or a number is missing.
    pub fn ratio(self) -> Option<f64> {
        let (a, b) = (self.a?, self.b?);
        (a > 0.0).then(|| b / a)
    }

    /// Whether the numbers differ by more than noise.
    pub fn is_notable(self) -> bool {
        match (self.a, self.b) {
            (Some(a), Some(b)) => (b - a).abs() > NOISE * a.abs().max(b.abs()),
            _ => false,
        }
    }

    fn is_known(self) -> bool {
        self.a.is_some() || self.b.is_some()
    }
}

/// Why the runs differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What kind of reason.
    pub kind: ReasonKind,
    /// Seconds of the difference that it would explain, at most all of them; `None` if not countable.
    pub seconds: Option<f64>,
    /// Share of the difference that it would explain, 0..1.
    pub share: Option<f64>,
    /// How probable it is that this is the reason, 0..1.
    pub confidence: f64,
    /// Stage that it is about, by its name in the slower run.
    pub stage: Option<String>,
    /// Cause of the finding that it rests on.
    pub cause: Option<String>,
    /// In a sentence.
    pub text: String,
}

/// Kind of a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// One run ended with an error.
    Failure,
    /// A finding that only one run has, or that is worse in one.
    Finding,
    /// The script, and the plan with it.
    Script,
    /// The plan, without the script.
    Plan,
    /// More input.
    Data,
    /// Fewer vertices may run at once.
    Tokens,
    /// Waiting for the job's turn.
    Queue,
    /// Vertices waited longer for a machine.
    Machines,
    /// Attempts were lost and repeated.
    LostWork,
    /// One vertex of a stage got more of its work.
    Imbalance,
    /// Each row of a stage took longer.
    WorkPerRow,
    /// None of these: the stage that grew most is named.
    Unknown,
    /// The runs do not differ by more than noise.
    NoDifference,
}

/// A number of the whole job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Total {
    /// Which number.
    pub metric: TotalMetric,
    /// Its values.
    #[serde(flatten)]
    pub values: Pair,
}

/// Which number of the whole job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TotalMetric {
    /// Run time.
    ElapsedSeconds,
    /// Time in the queue.
    QueuedSeconds,
    /// Compilation.
    CompileSeconds,
    /// Time that all vertices ran.
    VertexSeconds,
    /// Time of attempts that were lost.
    LostSeconds,
    /// Vertices that may run at once.
    Tokens,
    /// Stages.
    Stages,
    /// Completed vertices.
    Vertices,
    /// Rows of all inputs.
    InputRows,
    /// Bytes of all inputs.
    InputBytes,
    /// Bytes that crossed between stages.
    ShuffledBytes,
}

/// How a finding changed from A to B.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    /// Only B has it.
    New,
    /// Both have it; in B it costs more.
    Worse,
    /// Both have it; in B it costs less.
    Better,
    /// Only A has it.
    Gone,
    /// Both have it, and it costs about the same.
    Same,
}

/// A finding of one run or both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingChange {
    /// How it changed.
    pub status: FindingStatus,
    /// Code of the cause.
    pub cause: String,
    /// Its id in A.
    pub id_a: Option<String>,
    /// Its id in B.
    pub id_b: Option<String>,
    /// Stage, by its name in B where B has it.
    pub stage: Option<String>,
    /// Severity in A.
    pub severity_a: Option<Severity>,
    /// Severity in B.
    pub severity_b: Option<Severity>,
    /// Seconds that mending it would save.
    pub seconds: Pair,
    /// Script lines, in B where B has it.
    pub script_lines: Option<[u32; 2]>,
}

/// How two stages were found to be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchedBy {
    /// They have the same name.
    Name,
    /// Their names differ; operators, keys and neighbours agree.
    Operators,
}

/// A stage of both runs, or of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageChange {
    /// Name in A; `None` if only B has it.
    pub a: Option<String>,
    /// Name in B; `None` if only A has it.
    pub b: Option<String>,
    /// How the two were matched; `None` if only one run has the stage.
    pub matched_by: Option<MatchedBy>,
    /// How sure the match is, 0..1.
    pub confidence: f64,
    /// Whether it decided when the job ended, in either run.
    pub critical: bool,
    /// Whether some number changed by more than noise.
    pub notable: bool,
    /// Seconds by which it counts: change of its wall time where known, else of its slowest vertex.
    pub weight_seconds: f64,
    /// Seconds from its first vertex's creation to its last one's end.
    pub span_seconds: Pair,
    /// Seconds that its vertices ran, summed.
    pub busy_seconds: Pair,
    /// Seconds that its slowest vertex ran.
    pub max_seconds: Pair,
    /// Slowest vertex over the mean one.
    pub max_over_mean: Pair,
    /// Mean seconds that a vertex waited and started up.
    pub wait_seconds: Pair,
    /// Completed vertices.
    pub vertices: Pair,
    /// Rows that came in.
    pub rows_in: Pair,
    /// Rows that went out.
    pub rows_out: Pair,
    /// Bytes read.
    pub bytes_read: Pair,
    /// Bytes written.
    pub bytes_written: Pair,
    /// Share of the time in garbage collection.
    pub gc_share: Pair,
    /// Operators that spilled.
    pub spills: Pair,
    /// Seconds of lost attempts.
    pub lost_seconds: Pair,
}

/// What kind of thing changed in the plan.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PlanChangeKind {
    /// A stage that only B has.
    StageAppeared,
    /// A stage that only A has.
    StageGone,
    /// Rows cross in another way.
    ExchangeChanged,
    /// Rows are partitioned by other keys.
    KeysChanged,
    /// Rows go into another number of partitions.
    PartitionsChanged,
    /// A channel that only B has.
    ChannelAppeared,
    /// A channel that only A has.
    ChannelGone,
    /// An operator that only B has.
    OperatorAppeared,
    /// An operator that only A has.
    OperatorGone,
    /// An operator works on other keys.
    OperatorChanged,
}

/// One change of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanChange {
    /// What kind of thing changed.
    pub kind: PlanChangeKind,
    /// Stage, channel (`SV1 → SV2`) or operator (`SV2/Join_5`), by its name in B where B has it.
    pub place: String,
    /// What it was in A.
    pub a: Option<String>,
    /// What it is in B.
    pub b: Option<String>,
}

/// An input of both runs, or of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InputChange {
    /// Name.
    pub name: String,
    /// Whether A reads it.
    pub in_a: bool,
    /// Whether B reads it.
    pub in_b: bool,
    /// Name in A where an input of another name stands in its place (another day of the same log).
    pub name_in_a: Option<String>,
    /// Rows.
    pub rows: Pair,
    /// Bytes.
    pub bytes: Pair,
    /// Files.
    pub files: Pair,
    /// How it is stored in A.
    pub layout_a: Option<String>,
    /// How it is stored in B.
    pub layout_b: Option<String>,
}

/// An operator whose estimate changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimateChange {
    /// Stage, by its name in B.
    pub stage: String,
    /// Operator, by its name in B.
    pub operator: String,
    /// Rows that it put out.
    pub rows: Pair,
    /// Rows that the optimizer expected.
    pub estimated: Pair,
}

/// What changed in the script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ScriptChange {
    /// Both runs have the same text.
    Same,
    /// The texts differ.
    Changed {
        /// Lines that only B has.
        added: usize,
        /// Lines that only A has.
        removed: usize,
        /// Unified diff.
        diff: String,
    },
    /// A run does not hold its script.
    Unknown,
}

/// Something that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// What: `rows`, `estimates`, `inputs`, `script`, `times`, `plan`.
    pub what: String,
    /// Why, and what to do about it.
    pub reason: String,
}

/// Compares two runs.
pub fn compare(a: &Side, b: &Side, language: Language) -> Comparison {
    let pairs = matching::stages(&a.shape, &b.shape);
    let mut comparison = Comparison {
        schema_version: COMPARISON_VERSION,
        language,
        a: summary(a),
        b: summary(b),
        same_job: inputs::same_job(a, b),
        headline: String::new(),
        reasons: Vec::new(),
        totals: totals::totals(a, b),
        findings: findings::changes(a, b, &pairs),
        stages: stages::changes(a, b, &pairs),
        plan: plan::changes(a, b, &pairs),
        inputs: inputs::changes(a, b),
        estimates: plan::estimates(a, b, &pairs),
        script: script::change(a, b),
        not_compared: wording::gaps(a, b, language),
    };
    comparison.reasons = reason::reasons(a, b, &comparison, language);
    comparison.headline = wording::headline(&comparison);
    comparison
}

fn summary(side: &Side) -> Summary {
    let job = &side.report.job;
    let name = job.name.as_ref().or(job.id.as_ref()).unwrap_or(&job.path);
    Summary {
        run_id: (side.origin != Origin::Folder).then(|| side.report.run_id.clone()),
        name: name.clone(),
        path: job.path.clone(),
        state: job.state,
        verdict: side.report.verdict,
        elapsed_seconds: job.elapsed_seconds,
        origin: side.origin,
    }
}

/// JSON Schema of [`Comparison`].
pub fn schema() -> serde_json::Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Comparison>().to_value()
}

#[cfg(test)]
mod tests;
