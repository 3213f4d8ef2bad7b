//! Rule for `failure.limit`: the job failed on a limit: vertex time, memory, temporary data.
//!
//! [`crate::measurements::failure`] classifies the failure once for all three failure rules.

use job::info::Information;

use super::failure_report;
use super::support::both;
use crate::measurements::failure;
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use report::{Cause, text};

/// The rule.
pub(crate) struct LimitFailure;

static ABOUT: About = About {
    cause: Cause::LimitFailure,
    what: both(
        "作业触及限制：顶点时间、内存或临时数据",
        "the job failed on a limit: vertex time, memory, temporary data",
    ),
    needs: &[Information::ErrorDetails],
    helps: &[Information::VertexEvents, Information::CompileResult],
    thresholds: &[],
    counter_evidence: &[
        both("作业没有失败", "the job did not fail"),
        both("错误属于另一类", "the error is of another kind"),
    ],
};

impl Rule for LimitFailure {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        if let Some(error) = failure::error_of(view.job, Cause::LimitFailure) {
            let summary = summarise(view, Some(error));
            result.found(
                view,
                failure_report::symptom(view, Cause::LimitFailure, Some(error), summary),
            );
        } else if view.failed()
            && view.job.errors.iter().all(|e| failure::kind(e).is_none())
            && failure::event_kind(view) == Some(Cause::LimitFailure)
        {
            let summary = summarise(view, None);
            result.found(
                view,
                failure_report::symptom(view, Cause::LimitFailure, None, summary),
            );
        } else if failure::unknown(view) {
            let reason = text!(
                "作业失败，但没有错误文件说明原因",
                "the job failed, and no file gives the reason"
            );
            result.lacks(Information::ErrorDetails, view, None, reason);
        }
        result.cleared_by(text!(
            "作业没有因此失败",
            "the job did not fail because of this"
        ))
    }
}

fn summarise(view: &View<'_>, error: Option<&job::model::JobError>) -> report::Text {
    let stage = failure::stage_of(view, error)
        .map(|s| view.name(s))
        .unwrap_or("the job");
    let message = error
        .map(|e| e.description.clone().unwrap_or_else(|| e.message.clone()))
        .unwrap_or_default();
    text!(
        "{stage} 触及限制：{message}",
        "{stage} hit a limit: {message}"
    )
}
