//! Uses of the driver's time between the stages of an application.

use job::model::Application;
use report::SegmentDetail;

use super::Span;
use crate::impact::Cover;
use crate::measurements::driver::writes;

/// Spans of an application, in seconds since submission.
pub(super) struct DriverTime {
    planning: Cover,
    committing: Cover,
    in_jobs: Cover,
    first_job: f64,
    last_job: f64,
}

impl DriverTime {
    pub(super) fn of(app: &Application, origin_ms: i64) -> DriverTime {
        let at = |ms: i64| (ms - origin_ms) as f64 / 1000.0;
        // submission of the first job of each execution, and end of its last one
        let mut jobs: Vec<Option<(i64, i64)>> = vec![None; app.executions.len()];
        for job in &app.jobs {
            let end = job.ended_ms.unwrap_or(i64::MAX);
            let Some(known) = job.execution.and_then(|e| jobs.get_mut(e)) else {
                continue;
            };
            let (first, last) = known.unwrap_or((job.submitted_ms, end));
            *known = Some((first.min(job.submitted_ms), last.max(end)));
        }
        let executions = || app.executions.iter().zip(&jobs);
        let planning = executions().filter_map(|(e, jobs)| {
            let until = jobs.map_or(e.ended_ms, |(first, _)| Some(first))?;
            Some((at(e.started_ms?), at(until)))
        });
        let committing = executions().filter_map(|(e, jobs)| {
            let (_, last) = (*jobs)?;
            Some((at(last), at(e.ended_ms?))).filter(|_| writes(e))
        });
        let spans = app.jobs.iter().filter_map(|j| {
            let ended = j.ended_ms?;
            Some((at(j.submitted_ms), at(ended)))
        });
        let spans: Vec<(f64, f64)> = spans.collect();
        DriverTime {
            planning: Cover::of(planning),
            committing: Cover::of(committing),
            first_job: spans.iter().map(|s| s.0).fold(f64::INFINITY, f64::min),
            last_job: app
                .jobs
                .iter()
                .map(|j| j.ended_ms.map_or(f64::INFINITY, at))
                .reduce(f64::max)
                .unwrap_or(f64::INFINITY),
            in_jobs: Cover::of(spans.into_iter()),
        }
    }

    /// Divides a span of the driver's time by its uses.
    pub(super) fn divide(&self, span: Span) -> Vec<(Option<SegmentDetail>, Span)> {
        let mut parts = Vec::new();
        let of_commits = self.committing.inside(span.from, span.to);
        each(span, of_commits, &mut |commits, part| match commits {
            true => parts.push((Some(SegmentDetail::Commit), part)),
            false => {
                let of_plans = self.planning.inside(part.from, part.to);
                each(part, of_plans, &mut |plans, part| match plans {
                    true => parts.push((Some(SegmentDetail::Planning), part)),
                    false => self.rest(part, &mut parts),
                });
            }
        });
        parts
    }

    /// Divides time without planning and committing.
    fn rest(&self, span: Span, parts: &mut Vec<(Option<SegmentDetail>, Span)>) {
        let of_jobs = self.in_jobs.inside(span.from, span.to);
        each(span, of_jobs, &mut |in_job, part| {
            let detail = match in_job {
                true => None,
                false if part.from >= self.last_job => Some(SegmentDetail::AfterLastJob),
                false if part.from >= self.first_job => Some(SegmentDetail::BetweenJobs),
                false => None,
            };
            parts.push((detail, part));
        });
    }
}

/// Calls a function for each stretch of a span, in time order, with whether the stretch is one of the `inside`.
fn each(span: Span, inside: Vec<(f64, f64)>, book: &mut impl FnMut(bool, Span)) {
    let mut done = span.from;
    for (from, to) in inside {
        if from > done {
            book(false, Span::new(done, from));
        }
        book(true, Span::new(from, to));
        done = to;
    }
    if span.to > done {
        book(false, Span::new(done, span.to));
    }
}

#[cfg(test)]
mod tests {
    use job::model::{DriverJob, Execution, SparkNode};

    use super::*;

    /// A job from and to these seconds, of the execution if there is one.
    fn job(from: i64, to: i64, execution: Option<usize>) -> DriverJob {
        DriverJob {
            submitted_ms: from * 1000,
            ended_ms: Some(to * 1000),
            execution,
            ..DriverJob::default()
        }
    }

    #[test]
    fn a_write_is_planned_before_its_first_job_and_committed_after_its_last() {
        let write = SparkNode {
            name: "Execute InsertIntoHadoopFsRelationCommand".to_owned(),
            ..SparkNode::default()
        };
        let execution = Execution {
            started_ms: Some(10_000),
            ended_ms: Some(40_000),
            plan: vec![write],
            ..Execution::default()
        };
        let app = Application {
            executions: vec![execution],
            jobs: vec![job(3, 5, None), job(15, 20, Some(0)), job(22, 30, Some(0))],
            ..Application::default()
        };
        let uses = DriverTime::of(&app, 0).divide(Span::new(0.0, 50.0));
        let uses: Vec<_> = uses.iter().map(|(d, s)| (*d, s.from, s.to)).collect();
        assert_eq!(
            uses,
            [
                (None, 0.0, 3.0),
                (None, 3.0, 5.0),
                (Some(SegmentDetail::BetweenJobs), 5.0, 10.0),
                (Some(SegmentDetail::Planning), 10.0, 15.0),
                (None, 15.0, 20.0),
                (Some(SegmentDetail::BetweenJobs), 20.0, 22.0),
                (None, 22.0, 30.0),
                (Some(SegmentDetail::Commit), 30.0, 40.0),
                (Some(SegmentDetail::AfterLastJob), 40.0, 50.0),
            ]
        );
    }
}
