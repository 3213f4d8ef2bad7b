//! The result of a comparison. Run A comes first. A stage or input has its name in run B if it occurs there. Numbers are
//! measures of the book, in its units.

use std::collections::BTreeMap;

use report::measure::{Entity, Measure, Values, book};
use report::{Cause, JobEngine, JobState, Language, Severity, Verdict};
use serde::{Deserialize, Serialize};

/// Version of [`Comparison`]; adding a field doesn't change it. Since 2 the numbers of stages have the names and units of the
/// book of measures.
pub const COMPARISON_VERSION: u32 = 2;

/// Where the data of a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The folder was read for this comparison.
    Folder,
    /// Saved with the run.
    Kept,
    /// The run was saved without it; its folder was read again.
    ReadAgain,
    /// The run was saved without it, and its folder is missing or holds another job: only the drawn data is known.
    Drawn,
}

/// The changes from run A to run B.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub schema_version: u32,
    pub language: Language,
    pub a: RunHeader,
    pub b: RunHeader,
    /// Whether both look like runs of one job: the same name but for digits, or a common input.
    pub same_job: bool,
    /// The difference and its most likely reason, in one sentence.
    pub headline: String,
    /// The most likely first.
    pub reasons: Vec<Reason>,
    /// Numbers of the whole job that at least one run has.
    pub totals: Vec<Total>,
    /// Findings that are new, worse, better, gone or the same, in this order.
    pub findings: Vec<FindingChange>,
    /// The biggest change of time first.
    pub stages: Vec<StageChange>,
    pub plan: Vec<PlanChange>,
    /// The biggest change first.
    pub inputs: Vec<InputChange>,
    /// Operators with an estimate, or an estimation error, that changed by a factor of at least two.
    pub estimates: Vec<EstimateChange>,
    pub script: ScriptChange,
    pub not_compared: Vec<Gap>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// `None` for a folder that was read for this comparison.
    pub run_id: Option<String>,
    /// Name of the job, its identifier or its folder.
    pub name: String,
    /// The folder.
    pub path: String,
    pub state: JobState,
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<JobEngine>,
    /// Causes of its findings, most seconds saved first.
    #[serde(default)]
    pub causes: Vec<Cause>,
    pub elapsed_seconds: Option<f64>,
    /// From submission to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_seconds: Option<f64>,
    pub origin: Origin,
}

/// The same number in both runs; `None` if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub a: Option<f64>,
    pub b: Option<f64>,
}

impl Pair {
    pub(super) fn new(a: Option<f64>, b: Option<f64>) -> Pair {
        Pair {
            a: a.filter(|v| v.is_finite()),
            b: b.filter(|v| v.is_finite()),
        }
    }

    /// `b - a`.
    pub fn difference(self) -> Option<f64> {
        Some(self.b? - self.a?)
    }

    /// `b / a`; `None` if A is 0.
    pub fn ratio(self) -> Option<f64> {
        let (a, b) = (self.a?, self.b?);
        (a > 0.0).then(|| b / a)
    }

    /// Whether the numbers differ by more than noise.
    pub fn is_notable(self) -> bool {
        match (self.a, self.b) {
            (Some(a), Some(b)) => (b - a).abs() > super::NOISE * a.abs().max(b.abs()),
            _ => false,
        }
    }

    pub(super) fn is_known(self) -> bool {
        self.a.is_some() || self.b.is_some()
    }
}

/// Numbers of a thing that is in both runs, or in one, by the ids of their measures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pairs(BTreeMap<String, Pair>);

impl Pairs {
    /// The numbers of an entity that at least one run has.
    pub(super) fn of(entity: Entity, a: Option<&Values>, b: Option<&Values>) -> Pairs {
        let number = |values: Option<&Values>, measure| values.and_then(|v| v.get(measure));
        let pairs = book::of(entity).map(|measure| {
            let pair = Pair::new(number(a, measure), number(b, measure));
            (measure.id.to_owned(), pair)
        });
        Pairs(pairs.filter(|(_, pair)| pair.is_known()).collect())
    }

    pub fn get(&self, measure: &Measure) -> Pair {
        self.0.get(measure.id).copied().unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    pub kind: ReasonKind,
    /// Seconds of the difference that it explains; the seconds of all reasons add up to at most the difference. `None` if not
    /// countable.
    pub seconds: Option<f64>,
    /// Share of the difference that it would explain, 0..1.
    pub share: Option<f64>,
    /// How likely it is that this is the reason, 0..1.
    pub confidence: f64,
    /// Stage, by its name in the slower run.
    pub stage: Option<String>,
    /// Cause of the finding that it is based on.
    pub cause: Option<String>,
    /// The reason in one sentence.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// One run ended with an error.
    Failure,
    /// A finding that only one run has, or that is worse in one.
    Finding,
    /// The script, and the plan with it.
    Script,
    /// The plan, with the same script.
    Plan,
    /// Settings of an application.
    Settings,
    /// More input.
    Data,
    /// Fewer vertices may run concurrently.
    Tokens,
    /// The job queued longer.
    Queue,
    /// Its script compiled longer.
    Compile,
    /// Vertices waited longer for a machine.
    Machines,
    /// Attempts were lost and repeated.
    LostWork,
    /// One vertex of a stage got more of its work.
    Imbalance,
    /// A stage got more rows, with the same input.
    Rows,
    /// A stage ran on another number of vertices.
    Vertices,
    /// Each row of a stage took longer.
    WorkPerRow,
    /// Time outside of stages.
    Driver,
    /// No known cause; the stage that grew the most is named.
    Unknown,
    /// The runs differ by no more than noise.
    NoDifference,
}

/// A number of the whole job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// Id of the measure.
    pub metric: String,
    #[serde(flatten)]
    pub values: Pair,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingChange {
    pub status: FindingStatus,
    /// Code of the cause.
    pub cause: String,
    pub id_a: Option<String>,
    pub id_b: Option<String>,
    pub stage: Option<String>,
    pub severity_a: Option<Severity>,
    pub severity_b: Option<Severity>,
    /// Seconds that fixing it would save.
    pub seconds: Pair,
    pub script_lines: Option<[u32; 2]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchedBy {
    Name,
    /// Their names differ; operators, keys and neighbors agree.
    Operators,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageChange {
    /// Name in A; `None` if only B has it.
    pub a: Option<String>,
    /// Name in B; `None` if only A has it.
    pub b: Option<String>,
    /// `None` if only one run has the stage.
    pub matched_by: Option<MatchedBy>,
    /// How certain the match is, 0..1.
    pub confidence: f64,
    /// Whether it is on the critical path of either run.
    pub critical: bool,
    /// Whether some number changed by more than noise.
    pub notable: bool,
    /// Change of its wall time where known, else of its slowest vertex.
    pub weight_seconds: f64,
    #[serde(flatten)]
    pub numbers: Pairs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanChangeKind {
    StageAppeared,
    StageGone,
    /// Rows cross in another way.
    ExchangeChanged,
    /// Rows are partitioned by other keys.
    KeysChanged,
    /// Rows go into another number of partitions.
    PartitionsChanged,
    ChannelAppeared,
    ChannelGone,
    OperatorAppeared,
    OperatorGone,
    /// An operator works on other keys.
    OperatorChanged,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanChange {
    pub kind: PlanChangeKind,
    /// Stage, channel (`SV1 → SV2`) or operator (`SV2/Join_5`).
    pub place: String,
    /// What it was in A.
    pub a: Option<String>,
    /// What it is in B.
    pub b: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputChange {
    pub name: String,
    pub in_a: bool,
    pub in_b: bool,
    /// Name in A if it differs (another day of the same log).
    pub name_in_a: Option<String>,
    #[serde(flatten)]
    pub numbers: Pairs,
    pub layout_a: Option<String>,
    pub layout_b: Option<String>,
}

/// An operator with a changed estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimateChange {
    pub stage: String,
    pub operator: String,
    /// Rows put out.
    pub rows: Pair,
    /// Rows that the optimizer expected.
    pub estimated: Pair,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ScriptChange {
    Same,
    Changed {
        /// Lines that only B has.
        added: usize,
        /// Lines that only A has.
        removed: usize,
        /// Unified diff.
        diff: String,
    },
    /// A run lacks its script.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// `rows`, `estimates`, `inputs`, `script`, `times`, `plan`.
    pub what: String,
    /// Why, and what to do about it.
    pub reason: String,
}
