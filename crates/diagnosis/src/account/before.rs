//! Time from submission to the start of the run: from the states of the job, else from its recorded
//! times.

use job::model::JobInfo;
use report::SegmentKind;

use super::Span;

/// The job manager polls: shorter gaps between two steps are its own time.
pub(super) const POLL_S: f64 = 3.0;

/// Kind of the time that a job is in a state; `None` while it runs or has ended.
fn kind(state: &str) -> Option<SegmentKind> {
    match state.to_ascii_lowercase().as_str() {
        "new" | "accepted" | "compiling" => Some(SegmentKind::Compile),
        "queued" | "scheduling" => Some(SegmentKind::Queue),
        "waitingforcapacity" | "paused" => Some(SegmentKind::CapacityWait),
        "starting" => Some(SegmentKind::Startup),
        _ => None,
    }
}

/// Steps of the job before its run, by time.
pub(super) fn before(info: &JobInfo, start_s: f64) -> Vec<(SegmentKind, Span)> {
    let mut audited: Vec<(SegmentKind, Span)> = Vec::new();
    for (kind, span) in states(info).filter(|(_, span)| span.from < start_s) {
        match audited.last_mut() {
            Some((last, so_far)) if *last == kind && so_far.to == span.from => {
                so_far.to = span.to.min(start_s);
            }
            _ => audited.push((kind, span.until(start_s))),
        }
    }
    let waited = audited.iter().any(|(k, _)| *k != SegmentKind::Compile);
    if waited || (!audited.is_empty() && info.queued_seconds.unwrap_or(0.0) < POLL_S) {
        return audited;
    }
    let compiled = info.compile_seconds.unwrap_or(0.0).clamp(0.0, start_s);
    let queued = info.queued_seconds.unwrap_or(0.0);
    let queued = queued.clamp(0.0, start_s - compiled);
    vec![
        (SegmentKind::Compile, Span::new(0.0, compiled)),
        (SegmentKind::Queue, Span::new(start_s - queued, start_s)),
    ]
}

/// Spans of the run during which the whole job waited for capacity.
pub(super) fn waits(info: &JobInfo, run: Span) -> Vec<Span> {
    let inside = states(info).filter(|(_, span)| span.from >= run.from - POLL_S);
    inside
        .filter(|(kind, _)| matches!(kind, SegmentKind::Queue | SegmentKind::CapacityWait))
        .map(|(_, span)| span.until(run.to))
        .collect()
}

/// States outside the run, from one record to the next; seconds since submission.
fn states(info: &JobInfo) -> impl Iterator<Item = (SegmentKind, Span)> + '_ {
    let origin = info.submitted_ms;
    info.states.windows(2).filter_map(move |pair| {
        let at = |ms: i64| Some((ms - origin?) as f64 / 1000.0);
        let span = Span::new(at(pair[0].1)?.max(0.0), at(pair[1].1)?);
        Some((kind(&pair[0].0)?, span)).filter(|(_, s)| s.seconds() > 0.0)
    })
}
