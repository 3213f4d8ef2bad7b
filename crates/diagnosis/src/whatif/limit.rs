//! The reason why a run does not get faster with more resources.

use report::format::{Noun, Seconds};
use report::{Text, text};
use serde::Serialize;

use super::{Curve, Resource};
use crate::impact::{StageWork, schedule};

/// Least ratio to the median run time for a single vertex to be the reason.
const CLEARLY_LONGER: f64 = 1.5;

/// The longest part of the critical path, and its kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Limit {
    Serial {
        stage: String,
        seconds: f64,
    },
    LargestVertex {
        stage: String,
        seconds: f64,
    },
    /// A stage that runs all its vertices at once.
    Stage {
        stage: String,
        seconds: f64,
    },
    /// Time between the stages: the driver with its waits, or the job manager.
    Between {
        seconds: f64,
    },
}

impl Limit {
    pub fn reason(&self, resource: Resource) -> Text {
        let is_spark = resource != Resource::Tokens;
        let (vertex_zh, vertex_en) = match is_spark {
            true => ("Task", "task"),
            false => ("顶点", "vertex"),
        };
        match self {
            Limit::Serial { stage, seconds } => text!(
                "{stage} 只有一个 {vertex_zh}，用 {time}",
                "{stage} is a single {vertex_en} of {time}",
                vertex_zh = vertex_zh,
                time = Seconds(*seconds),
            ),
            Limit::LargestVertex { stage, seconds } => text!(
                "{stage} 最慢的 {vertex_zh} 用 {time}",
                "the slowest {vertex_en} of {stage} takes {time}",
                vertex_zh = vertex_zh,
                time = Seconds(*seconds),
            ),
            Limit::Stage { stage, seconds } => text!(
                "{stage} 已经全部同时运行，用 {time}",
                "all of {stage} runs at once and takes {time}",
                time = Seconds(*seconds),
            ),
            Limit::Between { seconds } if is_spark => text!(
                "首尾相接的 Stage 之间共有 {time} 花在交接上",
                "from stage to stage, the longest chain waits {time} in all",
                time = Seconds(*seconds),
            ),
            Limit::Between { seconds } => text!(
                "各阶段之间的交接用 {time}",
                "handing over between the stages takes {time}",
                time = Seconds(*seconds),
            ),
        }
    }
}

impl Curve {
    /// The count that would do, the count beyond which nothing changes, and the reason.
    pub fn conclusion(&self, noun: Noun) -> Text {
        let enough = text!(
            "超过 {enough} 后不再变快",
            "beyond {enough} nothing changes",
            enough = noun.count(self.enough as f64),
        );
        let all = match self.would_do < self.now.min(self.enough) {
            true => text!(
                "{count} 就够（最多慢 5 %）；{enough}",
                "{count} would do (at most 5 % longer); {enough}",
                count = noun.count(self.would_do as f64),
                enough = enough,
            ),
            false => enough,
        };
        match &self.limit {
            None => all,
            Some(limit) => text!(
                "{all}：{why}",
                "{all}: {why}",
                all = all,
                why = limit.reason(self.resource),
            ),
        }
    }
}

/// The limit of the work on `slots` slots; `None` without work.
pub(super) fn of(work: &[StageWork], slots: usize, names: &[String]) -> Option<Limit> {
    let spans = schedule(work, slots, |_| {});
    let ends = spans.iter().enumerate();
    let mut at = Some(ends.max_by(|a, b| a.1.end.total_cmp(&b.1.end))?.0);
    let mut between = 0.0;
    let mut longest: Option<(usize, f64)> = None;
    while let Some(stage) = at {
        let own = spans[stage].end - spans[stage].ready;
        if longest.is_none_or(|(_, seconds)| own > seconds) {
            longest = Some((stage, own));
        }
        between += work[stage].handover_s;
        let inputs = work[stage]
            .inputs
            .iter()
            .copied()
            .filter(|i| *i < spans.len());
        // An input ends before its reader is ready, so the walk ends.
        let before = inputs.filter(|i| spans[*i].end <= spans[stage].ready);
        at = before.max_by(|a, b| spans[*a].end.total_cmp(&spans[*b].end));
        at = at.filter(|next| spans[*next].end > 0.0 && *next != stage);
    }
    let (stage, seconds) = longest?;
    if between > seconds {
        return Some(Limit::Between { seconds: between });
    }
    let mut runs: Vec<f64> = work[stage].vertices.iter().map(|v| v.total_s()).collect();
    runs.sort_by(f64::total_cmp);
    let (median, largest) = (*runs.get(runs.len() / 2)?, *runs.last()?);
    let stage = names.get(stage).cloned().unwrap_or_default();
    Some(match runs.len() {
        1 => Limit::Serial { stage, seconds },
        _ if largest > CLEARLY_LONGER * median => Limit::LargestVertex { stage, seconds },
        _ => Limit::Stage { stage, seconds },
    })
}
