//! Rule for `skew.join_hot_key`: few values of a join key carry most rows of a join's vertices.
//!
//! Unevenness, its cost and its kind are found once for all five skew rules, in [`crate::measurements::skew`].

use job::info::Information;

use super::skew_report;
use super::support::both;
use crate::measurements::skew::{MIN_NAMED_RATIO, MIN_RATIO};
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use report::Cause;

/// The rule.
pub(crate) struct JoinHotKey;

static ABOUT: About = About {
    cause: Cause::JoinHotKey,
    what: both(
        "少数连接键值占了连接所在顶点的大部分行",
        "few values of a join key carry most rows of a join's vertices",
    ),
    needs: &[Information::StageGraph, Information::PerVertexData],
    helps: &[
        Information::TableStatistics,
        Information::RuntimeCounters,
        Information::VertexEvents,
    ],
    thresholds: &[&MIN_RATIO, &MIN_NAMED_RATIO],
    counter_evidence: &[
        both(
            "输入均匀：慢是因为行宽、用户代码或机器",
            "even input: wide rows, user code or the machine make it slow",
        ),
        both(
            "只有一个顶点：最大值等于总数，不能说明倾斜",
            "only one vertex: its maximum is the total and proves nothing",
        ),
        both(
            "拉平输入几乎不省时间",
            "even input would save almost nothing",
        ),
    ],
};

impl Rule for JoinHotKey {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        skew_report::examine(view, Cause::JoinHotKey)
    }
}
