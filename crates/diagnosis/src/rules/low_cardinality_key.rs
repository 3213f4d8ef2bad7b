//! Rule for `skew.low_cardinality_key`: fewer distinct key values than partitions: some vertices get nothing.
//!
//! Unevenness, its cost and its kind are found once for all five skew rules, in [`crate::measurements::skew`].

use job::info::Information;

use super::skew_report;
use super::support::both;
use crate::measurements::skew::{MIN_NAMED_RATIO, MIN_RATIO, VALUES_PER_PARTITION};
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use report::Cause;

/// The rule.
pub(crate) struct LowCardinalityKey;

static ABOUT: About = About {
    cause: Cause::LowCardinalityKey,
    what: both(
        "键的不同值少于分区数，部分顶点没有数据",
        "fewer distinct key values than partitions: some vertices get nothing",
    ),
    needs: &[Information::StageGraph, Information::PerVertexData],
    helps: &[
        Information::TableStatistics,
        Information::RuntimeCounters,
        Information::VertexEvents,
    ],
    thresholds: &[&MIN_RATIO, &MIN_NAMED_RATIO, &VALUES_PER_PARTITION],
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

impl Rule for LowCardinalityKey {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        skew_report::examine(view, Cause::LowCardinalityKey)
    }
}
