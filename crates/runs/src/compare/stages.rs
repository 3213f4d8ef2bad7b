//! The numbers of each stage in both runs.

use super::matching::StagePair;
use super::{ComparedRun, Pair, StageChange};
use crate::StageSummary;

/// A stage that grew by less than this many seconds is noise, whatever its ratio.
const LEAST_SECONDS: f64 = 1.0;

/// Every stage of either run, the biggest change of time first.
pub(super) fn changes(a: &ComparedRun, b: &ComparedRun, pairs: &[StagePair]) -> Vec<StageChange> {
    let mut changes: Vec<StageChange> = pairs.iter().map(|pair| change(a, b, *pair)).collect();
    changes.sort_by(|x, y| y.weight_seconds.abs().total_cmp(&x.weight_seconds.abs()));
    changes
}

fn change(a: &ComparedRun, b: &ComparedRun, pair: StagePair) -> StageChange {
    let old = pair.a.and_then(|i| a.summary.stages.get(i));
    let new = pair.b.and_then(|j| b.summary.stages.get(j));
    let both = |value: &dyn Fn(&StageSummary) -> Option<f64>| {
        Pair::new(old.and_then(value), new.and_then(value))
    };
    let seconds =
        |value: &dyn Fn(&StageSummary) -> Option<f64>| both(&|s| value(s).map(|ms| ms / 1000.0));
    let mut change = StageChange {
        a: old.map(|s| s.name.clone()),
        b: new.map(|s| s.name.clone()),
        matched_by: pair.matched_by,
        confidence: pair.confidence,
        critical: old.is_some_and(|s| s.critical) || new.is_some_and(|s| s.critical),
        notable: false,
        weight_seconds: 0.0,
        span_seconds: seconds(&|s| s.span_ms),
        busy_seconds: seconds(&|s| s.busy_ms),
        max_seconds: seconds(&|s| s.max_ms),
        max_over_mean: both(&|s| s.max_over_mean),
        wait_seconds: seconds(&|s| s.wait_ms),
        vertices: both(&|s| s.vertices.map(|n| n as f64)),
        rows_in: both(&|s| s.rows_in),
        rows_out: both(&|s| s.rows_out),
        bytes_read: both(&|s| s.bytes_read),
        bytes_written: both(&|s| s.bytes_written),
        gc_share: both(&|s| s.gc_share),
        spills: both(&|s| s.spills.map(|n| n as f64)),
        lost_seconds: seconds(&|s| s.wasted_ms),
    };
    change.weight_seconds = weight(&change);
    change.notable = is_notable(&change);
    change
}

/// Seconds by which a stage counts; a stage that only one run has counts with all of its time.
fn weight(change: &StageChange) -> f64 {
    let whole = change.a.is_none() || change.b.is_none();
    let of = |pair: Pair| {
        if whole {
            pair.b.or(pair.a.map(|a| -a))
        } else {
            pair.difference()
        }
    };
    [change.span_seconds, change.max_seconds, change.busy_seconds]
        .into_iter()
        .find_map(of)
        .unwrap_or(0.0)
}

fn is_notable(change: &StageChange) -> bool {
    if change.a.is_none() || change.b.is_none() {
        return true;
    }
    let time = change.weight_seconds.abs() >= LEAST_SECONDS
        && [change.span_seconds, change.max_seconds, change.busy_seconds]
            .iter()
            .any(|p| p.is_notable());
    let amounts = [
        change.vertices,
        change.rows_in,
        change.rows_out,
        change.bytes_read,
        change.bytes_written,
    ];
    time || amounts.iter().any(|p| p.is_notable())
}
