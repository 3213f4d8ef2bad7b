//! Where the time went: segments along the critical path, from submission to end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The elapsed time, split into segments that do not overlap and add up to `total_seconds`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeAccount {
    pub segments: Vec<Segment>,
    /// Share of `total_seconds` whose kind is not [`SegmentKind::Unexplained`], 0..1.
    pub explained_share: f64,
    /// Seconds saved with all findings fixed together; computed jointly, never their sum.
    pub avoidable_seconds: Option<f64>,
}

/// One segment of the critical path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    pub kind: SegmentKind,
    pub stage: Option<String>,
    /// Seconds since submission.
    pub start_seconds: f64,
    pub seconds: f64,
    /// Finding that claims it.
    pub finding: Option<String>,
    /// Ids of evidence.
    pub evidence: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    Compile,
    Queue,
    /// Vertices were ready, tokens were not.
    CapacityWait,
    Startup,
    Read,
    Compute,
    UserCode,
    Sort,
    Spill,
    Gc,
    Exchange,
    Straggler,
    Retry,
    Driver,
    Idle,
    Unexplained,
}

/// What the run cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    pub vertex_hours: Option<f64>,
    /// Hours of attempts whose work was lost, and of work that findings would avoid.
    pub wasted_vertex_hours: Option<f64>,
    /// `vertex-hour`, `AU-hour` or `executor-core-hour`.
    pub unit: String,
}
