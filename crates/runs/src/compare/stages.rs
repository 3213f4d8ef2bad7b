//! The numbers of each stage in both runs.

use report::measure::{Entity, Measure, book};

use super::matching::StagePair;
use super::{ComparedRun, Pair, Pairs, StageChange};

/// Measures of a stage's time, the best first.
const TIMES: [&Measure; 3] = [&book::SPAN, &book::MAX_RUN, &book::BUSY];

/// A stage is notable if one of these amounts changes.
const AMOUNTS: [&Measure; 5] = [
    &book::VERTICES,
    &book::ROWS_IN,
    &book::ROWS_OUT,
    &book::BYTES_READ,
    &book::BYTES_WRITTEN,
];

/// Smaller growth of a stage, in seconds, is noise at any ratio.
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
    let mut change = StageChange {
        a: old.map(|s| s.name.clone()),
        b: new.map(|s| s.name.clone()),
        matched_by: pair.matched_by,
        confidence: pair.confidence,
        critical: old.is_some_and(|s| s.critical) || new.is_some_and(|s| s.critical),
        notable: false,
        weight_seconds: 0.0,
        numbers: Pairs::of(
            Entity::Stage,
            old.map(|s| &s.values),
            new.map(|s| &s.values),
        ),
    };
    change.weight_seconds = weight(&change);
    change.notable = is_notable(&change);
    change
}

/// Difference of a stage's times in seconds; the whole time if only one run has the stage.
fn weight(change: &StageChange) -> f64 {
    let whole = change.a.is_none() || change.b.is_none();
    let of = |pair: Pair| {
        if whole {
            pair.b.or(pair.a.map(|a| -a))
        } else {
            pair.difference()
        }
    };
    let mut times = TIMES.iter().map(|measure| change.numbers.get(measure));
    times.find_map(of).map_or(0.0, |ms| ms / 1e3)
}

fn is_notable(change: &StageChange) -> bool {
    if change.a.is_none() || change.b.is_none() {
        return true;
    }
    let notable = |measure: &&Measure| change.numbers.get(measure).is_notable();
    let time = change.weight_seconds.abs() >= LEAST_SECONDS && TIMES.iter().any(notable);
    time || AMOUNTS.iter().any(notable)
}
