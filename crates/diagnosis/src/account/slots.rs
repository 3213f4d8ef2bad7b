//! Reasons why ready tasks of an application wait.

use job::model::{Application, SlotsOverTime};
use report::SegmentDetail;

use super::Span;
use crate::view::View;

/// With at least this share of the slots in use, an application is busy with other tasks.
const BUSY: f64 = 0.9;

/// With less than this share of the most slots, executors are missing.
const FEW_SLOTS: f64 = 0.7;

/// Slots, and starts and ends of tasks, in seconds since submission.
pub(super) struct Slots<'a> {
    app: &'a Application,
    origin: i64,
    offered: SlotsOverTime,
    starts: Moments,
    ends: Moments,
}

/// Ascending times, each with the sum of all times up to it.
struct Moments(Vec<(f64, f64)>);

impl Moments {
    fn of(mut times: Vec<f64>) -> Moments {
        times.sort_unstable_by(f64::total_cmp);
        let summed = times.into_iter().scan(0.0, |sum, at| {
            *sum += at;
            Some((at, *sum))
        });
        Moments(summed.collect())
    }

    /// Seconds from each moment before `at` until `at`, added up.
    fn since(&self, at: f64) -> f64 {
        let count = self.0.partition_point(|(time, _)| *time <= at);
        let sum = count.checked_sub(1).map_or(0.0, |last| self.0[last].1);
        count as f64 * at - sum
    }
}

impl<'a> Slots<'a> {
    pub(super) fn of(view: &View<'_>, app: &'a Application) -> Slots<'a> {
        let origin = view.job.info.submitted_ms.unwrap_or(0);
        let since = |ms: i64| (ms - origin) as f64 / 1000.0;
        let tasks = || app.stages.iter().flat_map(|s| &s.attempts);
        Slots {
            app,
            origin,
            offered: app.slots_over_time(),
            starts: Moments::of(tasks().map(|t| since(t.launched_ms)).collect()),
            ends: Moments::of(tasks().map(|t| since(t.finished_ms)).collect()),
        }
    }

    /// The reason why tasks of a stage wait during a span. Executors that come after its end are not missing before.
    pub(super) fn reason(&self, stage: usize, span: Span) -> SegmentDetail {
        let middle = self.origin + ((span.from + span.to) * 500.0) as i64;
        let there = f64::from(self.offered.at(middle));
        let held = |at: f64| self.starts.since(at) - self.ends.since(at);
        let most = self
            .offered
            .most_until(self.app.stages[stage].completed_ms.unwrap_or(i64::MAX));
        let running = (held(span.to) - held(span.from)) / span.seconds().max(f64::MIN_POSITIVE);
        if running < BUSY * there {
            SegmentDetail::Scheduling
        } else if there < FEW_SLOTS * f64::from(most) {
            SegmentDetail::Executors
        } else {
            SegmentDetail::Slots
        }
    }
}
