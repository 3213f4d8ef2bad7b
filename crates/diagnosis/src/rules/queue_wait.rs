//! Rule for `queue.wait`: the job mostly waited for capacity.

use job::info::Information;

use super::support::{Draft, says};
use crate::facts::{number, percent, seconds, text};
use crate::impact::Saved;
use crate::model::Cause;
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;

/// Time in the queue over the time from submission to end.
pub(crate) static MIN_SHARE: Threshold = Threshold {
    name: "queue.min_share",
    default: 0.25,
    unit: "share",
    reason_zh: "短作业排队几十秒很正常；排队占总时间四分之一以上才值得处理",
    reason_en: "short jobs commonly queue for half a minute; from a quarter of the total time on it matters",
    source: "report contract (mostly waited); healthy simulated jobs queue up to 13 %",
};

/// The rule.
pub(crate) struct QueueWait;

static ABOUT: About = About {
    cause: Cause::QueueWait,
    what: says(
        "作业大部分时间在等待资源",
        "the job mostly waited for capacity",
    ),
    needs: &[Information::QueueTime],
    helps: &[Information::JobTimes],
    thresholds: &[&MIN_SHARE],
    counter_evidence: &[
        says(
            "排队只占总时间的一小部分",
            "queueing is a small part of the total time",
        ),
        says("本地运行不排队", "a local run does not queue"),
    ],
};

impl Rule for QueueWait {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        let info = &view.job.info;
        let Some(queued) = info.queued_seconds else {
            if !view.failed() && !super::is_local(view) {
                let reason = text(
                    "没有文件说明作业何时提交、何时开始运行",
                    "no file tells when the job was submitted and when it began to run",
                );
                result.lacks(Information::QueueTime, view, None, reason);
            }
            return result.cleared_by("本地运行，没有排队", "a local run, without a queue");
        };
        let total = total_seconds(view).unwrap_or(queued).max(queued);
        let share = if total > 0.0 { queued / total } else { 0.0 };
        if share >= view.limit(&MIN_SHARE) {
            result.found(view, draft(view, queued, total, share));
        }
        result.cleared_by(
            format!("排队 {}，占总时间的 {}", seconds(queued), percent(share)),
            format!(
                "it queued for {}, {} of the total time",
                seconds(queued),
                percent(share)
            ),
        )
    }
}

/// Seconds from submission to end.
fn total_seconds(view: &View<'_>) -> Option<f64> {
    let info = &view.job.info;
    match (info.submitted_ms, info.ended_ms) {
        (Some(from), Some(to)) if to > from => Some((to - from) as f64 / 1000.0),
        _ => Some(
            info.elapsed_seconds?
                + info.queued_seconds.unwrap_or(0.0)
                + info.compile_seconds.unwrap_or(0.0),
        ),
    }
}

fn draft(view: &View<'_>, queued: f64, total: f64, share: f64) -> Draft {
    let mut evidence = Vec::new();
    if let Some(source) = view.job.info.sources.get("queued_seconds") {
        let says = text(
            format!("排队 {}", seconds(queued)),
            format!("it queued for {}", seconds(queued)),
        );
        evidence.push(number("QueuedTime", queued, "s", source.clone(), says));
        let limit = view.limit(&MIN_SHARE);
        let says = text(
            format!("排队占总时间的 {}", percent(share)),
            format!("queueing is {} of the total time", percent(share)),
        );
        evidence.push(
            number("queued / total time", share, "ratio", source.clone(), says)
                .expecting(format!("< {limit}")),
        );
    }
    Draft {
        cause: Cause::QueueWait,
        stage: None,
        lines: None,
        summary: text(
            format!(
                "作业等待资源 {}，占从提交到结束的 {} 的 {}",
                seconds(queued),
                seconds(total),
                percent(share)
            ),
            format!(
                "the job waited {} for capacity, {} of the {} from submission to end",
                seconds(queued),
                percent(share),
                seconds(total)
            ),
        ),
        evidence,
        saved: Some(Saved {
            seconds: queued,
            share,
        }),
        method: "time between compilation and start",
        strength: 0.6 + 0.4 * share,
    }
}
