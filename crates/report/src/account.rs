//! The time account: segments along the critical path, from submission to end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::{AU_HOUR, CORE_HOUR, Noun, TOKEN_HOUR, VERTEX_HOUR};
use crate::{JobEngine, StaticText, Text, text};

/// The elapsed time, split into segments that do not overlap and add up to `total_seconds`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeAccount {
    pub segments: Vec<Segment>,
    /// Share of `total_seconds` with a kind other than [`SegmentKind::Unexplained`], 0..1.
    pub explained_share: f64,
    /// Seconds saved with all findings fixed together; computed jointly, never their sum.
    pub avoidable_seconds: Option<f64>,
    /// Bounds of the best possible time of the job with its resources.
    #[serde(default)]
    pub at_best_seconds: Option<[f64; 2]>,
    /// Uses of large parts of the time without a finding, and why they are not a problem of the job; the resources that
    /// would do.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Run time with other resources or more input, by replay; ascending by count within each resource.
    #[serde(default)]
    pub curve: Vec<CurvePoint>,
}

/// A replayed run with another count of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    pub resource: CurveResource,
    /// Tokens or executors; for `input` the multiple of the present input.
    pub count: u64,
    /// Run time from start to end.
    pub seconds: f64,
    /// Token-hours, AU-hours or executor-core-hours that are held.
    pub cost: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CurveResource {
    /// Tokens of a SCOPE job, AUs of a U-SQL job.
    Tokens,
    Executors,
    /// The present resources, with more input.
    Input,
}

impl TimeAccount {
    /// Hours of tokens or executor cores that the run held, in use or idle; `None` if it cannot be replayed.
    pub fn held_hours(&self) -> Option<f64> {
        let now = |p: &&CurvePoint| p.resource == CurveResource::Input && p.count == 1;
        Some(self.curve.iter().find(now)?.cost)
    }

    /// Seconds of all segments.
    pub fn total_seconds(&self) -> f64 {
        self.segments.iter().map(|s| s.seconds).sum()
    }

    /// The segments that took time, summed by a key such as their kind and stage, in the sequence of each
    /// key's first segment.
    pub fn sums<'a, K: PartialEq>(&'a self, key: impl Fn(&'a Segment) -> K) -> Vec<TimeSum<'a>> {
        let mut sums: Vec<(K, TimeSum<'a>)> = Vec::new();
        for segment in self.segments.iter().filter(|s| s.seconds > 0.0) {
            let key = key(segment);
            match sums.iter_mut().find(|(known, _)| *known == key) {
                Some((_, sum)) => sum.others.push(segment),
                None => {
                    let (first, others) = (segment, Vec::new());
                    sums.push((key, TimeSum { first, others }));
                }
            }
        }
        sums.into_iter().map(|(_, sum)| sum).collect()
    }
}

/// Segments with something in common, in time order.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeSum<'a> {
    pub first: &'a Segment,
    pub others: Vec<&'a Segment>,
}

impl<'a> TimeSum<'a> {
    pub fn segments(&self) -> impl Iterator<Item = &'a Segment> + '_ {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    pub fn seconds(&self) -> f64 {
        self.segments().map(|s| s.seconds).sum()
    }
}

/// One segment of the critical path.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(default)]
    pub group: Option<SegmentGroup>,
    /// Its use within the kind, where the run shows it.
    #[serde(default)]
    pub detail: Option<SegmentDetail>,
    /// Bounds of the seconds that the same work needs; `None` if they can't be estimated.
    #[serde(default)]
    pub needed_seconds: Option<[f64; 2]>,
}

impl Segment {
    pub fn time_use(&self) -> TimeUse {
        TimeUse {
            kind: self.kind,
            detail: self.detail,
        }
    }
}

/// Kind of some time, and its use within the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeUse {
    pub kind: SegmentKind,
    pub detail: Option<SegmentDetail>,
}

impl TimeUse {
    /// Its title in a word or two of an engine: `sorting`, `committing`.
    pub fn title_in(self, engine: Option<JobEngine>) -> StaticText {
        match self.detail {
            Some(detail) => detail.title(),
            None => self.kind.title_in(engine),
        }
    }
}

/// Group of a segment: the kind of use of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SegmentGroup {
    Work,
    Overhead,
    Loss,
    Waiting,
    Driver,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
    #[default]
    Unexplained,
}

impl SegmentKind {
    /// Group of the kind; `None` for unexplained time.
    pub fn group(self) -> Option<SegmentGroup> {
        use SegmentKind::*;
        match self {
            Read | Compute | UserCode | Sort | Exchange => Some(SegmentGroup::Work),
            Startup | Spill | Gc | Compile => Some(SegmentGroup::Overhead),
            Straggler | Retry => Some(SegmentGroup::Loss),
            Queue | CapacityWait | Idle => Some(SegmentGroup::Waiting),
            Driver => Some(SegmentGroup::Driver),
            Unexplained => None,
        }
    }

    /// Use of the time, in a word or two: `sorting`.
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
            SegmentKind::Exchange => ("Shuffle", "exchange"),
            SegmentKind::Straggler => ("长尾", "straggler"),
            SegmentKind::Retry => ("重试", "retries"),
            SegmentKind::Driver => ("作业管理器", "job manager"),
            SegmentKind::Idle => ("空闲", "idle"),
            SegmentKind::Unexplained => ("未解释", "unexplained"),
        };
        Text { zh, en }
    }

    /// Its title in the words of an engine.
    pub fn title_in(self, engine: Option<JobEngine>) -> StaticText {
        let (zh, en) = match self {
            SegmentKind::Driver if engine == Some(JobEngine::Spark) => ("Driver", "driver"),
            SegmentKind::CapacityWait if engine == Some(JobEngine::Spark) => {
                ("等待 Executor", "wait for executors")
            }
            _ => return self.title(),
        };
        Text { zh, en }
    }

    /// Whether the job waited for a machine or for work.
    pub fn is_wait(self) -> bool {
        use SegmentKind::{CapacityWait, Idle, Queue};
        matches!(self, Queue | CapacityWait | Idle)
    }
}

/// Work of the driver, or the reason why ready tasks waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SegmentDetail {
    /// From the start of an SQL execution to its first job: analysis, optimization, listing files.
    Planning,
    /// From the last job of an execution that writes to its end.
    Commit,
    BetweenJobs,
    AfterLastJob,
    /// Executors were missing.
    Executors,
    /// Every slot ran another task.
    Slots,
    /// Slots were idle: tasks waited for the executors with their data, or for the driver.
    Scheduling,
}

impl SegmentDetail {
    pub fn title(self) -> StaticText {
        let (zh, en) = match self {
            SegmentDetail::Planning => ("规划", "planning"),
            SegmentDetail::Commit => ("提交输出", "committing"),
            SegmentDetail::BetweenJobs => ("Job 之间", "between jobs"),
            SegmentDetail::AfterLastJob => ("最后一个 Job 之后", "after the last job"),
            SegmentDetail::Executors => ("等待 Executor", "wait for executors"),
            SegmentDetail::Slots => ("等待槽位", "wait for slots"),
            SegmentDetail::Scheduling => ("等待调度", "wait for scheduling"),
        };
        Text { zh, en }
    }
}

/// Cost of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    pub vertex_hours: Option<f64>,
    /// Hours of attempts with lost work, and of work that fixing the findings would avoid.
    pub wasted_vertex_hours: Option<f64>,
    /// `vertex-hour`, `AU-hour` or `executor-core-hour`.
    pub unit: String,
}

impl Cost {
    /// The hours that ran work, next to the hours that the run held.
    pub fn used(&self, held: Option<f64>) -> Option<Text> {
        let used = hours_of(&self.unit).count(self.vertex_hours?);
        let unit = match self.unit.as_str() {
            "executor-core-hour" => CORE_HOUR,
            "AU-hour" => AU_HOUR,
            _ => TOKEN_HOUR,
        };
        Some(match held {
            None => text!("用了 {used}", "{used} used", used = used),
            Some(held) => text!(
                "占用 {held}，用了 {used}",
                "{held} held, {used} used",
                held = unit.count(held),
                used = used
            ),
        })
    }
}

/// The noun of a [`Cost::unit`].
pub fn hours_of(unit: &str) -> Noun {
    match unit {
        "AU-hour" => AU_HOUR,
        "executor-core-hour" => CORE_HOUR,
        _ => VERTEX_HOUR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_summed_by_what_they_have_in_common_and_nothing_is_lost() {
        let parts = [
            (SegmentKind::Compile, None, 9.0),
            (SegmentKind::Exchange, Some("SV2"), 3.0),
            (SegmentKind::Sort, Some("SV2"), 2.0),
            (SegmentKind::Exchange, Some("SV2"), 4.0),
            (SegmentKind::Exchange, Some("SV3"), 1.0),
        ];
        let segment = |(kind, stage, seconds): (SegmentKind, Option<&str>, f64)| Segment {
            kind,
            stage: stage.map(str::to_owned),
            start_seconds: 0.0,
            seconds,
            ..Segment::default()
        };
        let account = TimeAccount {
            segments: parts.map(segment).to_vec(),
            explained_share: 1.0,
            ..TimeAccount::default()
        };
        let seconds =
            |sums: Vec<TimeSum<'_>>| sums.iter().map(TimeSum::seconds).collect::<Vec<_>>();
        assert_eq!(
            seconds(account.sums(|s| (s.kind, &s.stage))),
            [9.0, 7.0, 2.0, 1.0]
        );
        assert_eq!(seconds(account.sums(|s| s.kind)), [9.0, 8.0, 2.0]);
        assert_eq!(account.total_seconds(), 19.0);
    }
}
