//! Rule for `skew.null_or_default_key`: the hot value is null, empty or a default.
//!
//! Unevenness, its cost and its kind are found once for all five skew rules, in [`crate::measurements::skew`].

use job::info::Information;

use super::skew_report;
use super::support::both;
use crate::measurements::skew::{DEFAULT_EXPLAINS, MIN_NAMED_RATIO, MIN_RATIO};
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use report::Cause;

/// The rule.
pub(crate) struct NullOrDefaultKey;

static ABOUT: About = About {
    cause: Cause::NullOrDefaultKey,
    what: both(
        "热点值是空值、空串或默认值",
        "the hot value is null, empty or a default",
    ),
    needs: &[Information::StageGraph, Information::PerVertexData],
    helps: &[
        Information::TableStatistics,
        Information::RuntimeCounters,
        Information::VertexEvents,
    ],
    thresholds: &[&MIN_RATIO, &MIN_NAMED_RATIO, &DEFAULT_EXPLAINS],
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

impl Rule for NullOrDefaultKey {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        skew_report::examine(view, Cause::NullOrDefaultKey)
    }
}
