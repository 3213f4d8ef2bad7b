//! Rule for `failure.compile`: the job failed to compile.
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
pub(crate) struct CompileFailure;

static ABOUT: About = About {
    cause: Cause::CompileFailure,
    what: both("作业编译失败", "the job failed to compile"),
    needs: &[Information::ErrorDetails],
    helps: &[Information::VertexEvents, Information::CompileResult],
    thresholds: &[],
    counter_evidence: &[
        both("作业没有失败", "the job did not fail"),
        both("错误属于另一类", "the error is of another kind"),
    ],
};

impl Rule for CompileFailure {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        if let Some(error) = failure::error_of(view.job, Cause::CompileFailure) {
            let summary = summarise(view, Some(error));
            result.found(
                view,
                failure_report::symptom(view, Cause::CompileFailure, Some(error), summary),
            );
        } else if view.failed()
            && view.job.errors.iter().all(|e| failure::kind(e).is_none())
            && failure::event_kind(view) == Some(Cause::CompileFailure)
        {
            let summary = summarise(view, None);
            result.found(
                view,
                failure_report::symptom(view, Cause::CompileFailure, None, summary),
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

fn summarise(_view: &View<'_>, error: Option<&job::model::JobError>) -> Text {
    let message = error.map_or("", |e| e.message.as_str());
    let line = error.and_then(|e| e.script_line);
    let place = line.map_or_else(Text::default, |l| text!("第 {l} 行", " at line {l}"));
    text!(
        "脚本{place}编译失败：{message}",
        "the script does not compile{place}: {message}",
        place = place
    )
}
