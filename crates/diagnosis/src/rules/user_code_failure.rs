//! Rule for `failure.user_code`: the job failed in user code: expression, file and line.
//!
//! [`crate::measurements::failure`] classifies the failure once for all three failure rules.

use job::info::Information;

use super::failure_report;
use super::support::both;
use crate::measurements::failure;
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use report::{Cause, Text, text};

/// The rule.
pub(crate) struct UserCodeFailure;

static ABOUT: About = About {
    cause: Cause::UserCodeFailure,
    what: both(
        "作业在用户代码中失败：表达式、文件与行",
        "the job failed in user code: expression, file and line",
    ),
    needs: &[Information::ErrorDetails],
    helps: &[Information::VertexEvents, Information::CompileResult],
    thresholds: &[],
    counter_evidence: &[
        both("作业没有失败", "the job did not fail"),
        both("错误属于另一类", "the error is of another kind"),
    ],
};

impl Rule for UserCodeFailure {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        if let Some(error) = failure::error_of(view.job, Cause::UserCodeFailure) {
            let summary = summarise(view, Some(error));
            result.found(
                view,
                failure_report::symptom(view, Cause::UserCodeFailure, Some(error), summary),
            );
        } else if view.failed()
            && view.job.errors.iter().all(|e| failure::kind(e).is_none())
            && failure::event_kind(view) == Some(Cause::UserCodeFailure)
        {
            let summary = summarise(view, None);
            result.found(
                view,
                failure_report::symptom(view, Cause::UserCodeFailure, None, summary),
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

fn summarise(view: &View<'_>, error: Option<&job::model::JobError>) -> Text {
    let stage = failure::stage_of(view, error)
        .map(|s| view.name(s))
        .unwrap_or("the job");
    let message = error.map_or("", |e| e.message.as_str());
    let place = error.and_then(|e| e.expression.clone().or_else(|| e.class_name.clone()));
    let place = place.map_or_else(Text::default, |p| text!("（{p}）", " ({p})"));
    text!(
        "{stage} 的用户代码{place}抛出异常：{message}",
        "the user code of {stage}{place} threw: {message}",
        place = place
    )
}
