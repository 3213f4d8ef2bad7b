//! Where the time went: segments along the critical path, from submission to end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{StaticText, Text};

/// The elapsed time, split into segments that do not overlap and add up to `total_seconds`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeAccount {
    pub segments: Vec<Segment>,
    /// Share of `total_seconds` whose kind is not [`SegmentKind::Unexplained`], 0..1.
    pub explained_share: f64,
    /// Seconds saved with all findings fixed together; computed jointly, never their sum.
    pub avoidable_seconds: Option<f64>,
}

impl TimeAccount {
    /// Seconds of all segments.
    pub fn total_seconds(&self) -> f64 {
        self.segments.iter().map(|s| s.seconds).sum()
    }
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

impl SegmentKind {
    /// What the time went into, in a word or two: `sorting`.
    pub fn title(self) -> StaticText {
        let (zh, en) = match self {
            SegmentKind::Compile => ("编译", "compilation"),
            SegmentKind::Queue => ("排队", "queue"),
            SegmentKind::CapacityWait => ("等待资源", "capacity wait"),
            SegmentKind::Startup => ("启动", "start-up"),
            SegmentKind::Read => ("读取", "reading"),
            SegmentKind::Compute => ("计算", "computing"),
            SegmentKind::UserCode => ("用户代码", "user code"),
            SegmentKind::Sort => ("排序", "sorting"),
            SegmentKind::Spill => ("落盘", "spilling"),
            SegmentKind::Gc => ("垃圾回收", "garbage collection"),
            SegmentKind::Exchange => ("洗牌", "exchange"),
            SegmentKind::Straggler => ("长尾", "straggler"),
            SegmentKind::Retry => ("重试", "retries"),
            SegmentKind::Driver => ("作业管理器", "job manager"),
            SegmentKind::Idle => ("空闲", "idle"),
            SegmentKind::Unexplained => ("未解释", "unexplained"),
        };
        Text { zh, en }
    }

    /// Whether the job stood still for want of a machine or of work.
    pub fn is_wait(self) -> bool {
        use SegmentKind::{CapacityWait, Idle, Queue};
        matches!(self, Queue | CapacityWait | Idle)
    }
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
