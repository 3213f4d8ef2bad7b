//! Rule for `failure.compile`: the job failed to compile.
//!
//! Which kind of failure it is, is told once for the three failure rules in [`crate::signs::failure`].

use job::info::Information;

use super::failure_report;
use super::support::says;
use crate::facts::text;
use crate::model::Cause;
use crate::rule::{About, Examination, Rule};
use crate::signs::failure;
use crate::view::View;

/// The rule.
pub(crate) struct CompileFailure;

static ABOUT: About = About {
    cause: Cause::CompileFailure,
    what: says("作业编译失败", "the job failed to compile"),
    needs: &[Information::ErrorDetails],
    helps: &[Information::VertexEvents, Information::CompileResult],
    thresholds: &[],
    counter_evidence: &[
        says("作业没有失败", "the job did not fail"),
        says("错误属于另一类", "the error is of another kind"),
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
                failure_report::draft(view, Cause::CompileFailure, Some(error), summary),
            );
        } else if view.failed()
            && view.job.errors.iter().all(|e| failure::kind(e).is_none())
            && failure::event_kind(view) == Some(Cause::CompileFailure)
        {
            let summary = summarise(view, None);
            result.found(
                view,
                failure_report::draft(view, Cause::CompileFailure, None, summary),
            );
        } else if failure::unknown(view) {
            let reason = text(
                "作业失败，但没有错误文件说明原因",
                "the job failed, and no file says of what",
            );
            result.lacks(Information::ErrorDetails, view, None, reason);
        }
        result.cleared_by("作业没有因此失败", "the job did not fail of this")
    }
}

fn summarise(_view: &View<'_>, error: Option<&job::model::JobError>) -> crate::model::Text {
    let message = error.map_or("", |e| e.message.as_str());
    let line = error.and_then(|e| e.script_line);
    let (zh, en) = line.map_or((String::new(), String::new()), |l| {
        (format!("第 {l} 行"), format!(" at line {l}"))
    });
    text(
        format!("脚本{zh}编译失败：{message}"),
        format!("the script does not compile{en}: {message}"),
    )
}
