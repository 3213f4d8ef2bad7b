//! Rule for `queue.wait`: the job mostly waited for capacity.

use job::info::Information;

use super::support::{Symptom, both};
use crate::impact::{Fix, Saved};
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::{Seconds, Share};
use report::{Cause, text};

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
    what: both(
        "作业大部分时间在等待资源",
        "the job mostly waited for capacity",
    ),
    needs: &[Information::QueueTime],
    helps: &[Information::JobTimes],
    thresholds: &[&MIN_SHARE],
    counter_evidence: &[
        both(
            "排队只占总时间的一小部分",
            "queueing is a small part of the total time",
        ),
        both("本地运行不排队", "a local run does not queue"),
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
                let reason = text!(
                    "没有文件说明作业何时提交、何时开始运行",
                    "no file records when the job was submitted and when it began to run"
                );
                result.lacks(Information::QueueTime, view, None, reason);
            }
            return result.cleared_by(text!("本地运行，没有排队", "a local run, without a queue"));
        };
        let total = total_seconds(view).unwrap_or(queued).max(queued);
        let share = if total > 0.0 { queued / total } else { 0.0 };
        if share >= view.limit(&MIN_SHARE) {
            result.found(view, symptom(view, queued, total, share));
        }
        result.cleared_by(text!(
            "排队 {time}，占总时间的 {share}",
            "it queued for {time}, {share} of the total time",
            time = Seconds(queued),
            share = Share(share)
        ))
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

fn symptom(view: &View<'_>, queued: f64, total: f64, share: f64) -> Symptom {
    let mut evidence = Vec::new();
    if let Some(source) = view.job.info.sources.get("queued_seconds") {
        let sentence = text!(
            "排队 {time}",
            "it queued for {time}",
            time = Seconds(queued)
        );
        evidence.push(view.number("QueuedTime", queued, "s", source.clone(), sentence));
        let limit = view.limit(&MIN_SHARE);
        let sentence = text!(
            "排队占总时间的 {share}",
            "queueing is {share} of the total time",
            share = Share(share)
        );
        evidence.push(
            view.number(
                "queued / total time",
                share,
                "ratio",
                source.clone(),
                sentence,
            )
            .expecting(format!("< {limit}")),
        );
    }
    Symptom {
        cause: Cause::QueueWait,
        stage: None,
        lines: None,
        summary: text!(
            "作业等待资源 {time}，占从提交到结束的 {time_2} 的 {share}",
            "the job waited {time} for capacity, {share} of the {time_2} from submission to end",
            time = Seconds(queued),
            time_2 = Seconds(total),
            share = Share(share)
        ),
        evidence,
        saved: Some(Saved {
            seconds: queued,
            share,
            fix: Fix::Capacity,
        }),
        method: "time between compilation and start",
        strength: 0.6 + 0.4 * share,
    }
}
