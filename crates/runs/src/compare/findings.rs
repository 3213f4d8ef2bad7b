//! Findings that are new, gone, worse or better.

use super::matching::{StagePair, partner};
use super::{ComparedRun, FindingChange, FindingStatus, Pair};
use report::Finding;

/// Every finding of either run: new and worse ones first, the costliest of each kind first. Findings of one cause at one place are
/// the same, then those of one cause elsewhere: the stages of two plans rarely match exactly. A run without the finding may have it
/// as a note, since it costs little there.
pub(super) fn changes(a: &ComparedRun, b: &ComparedRun, pairs: &[StagePair]) -> Vec<FindingChange> {
    let mut old: Vec<&Finding> = a.report.findings.iter().collect();
    let mut new: Vec<&Finding> = b.report.findings.iter().collect();
    let mut changes: Vec<FindingChange> = Vec::new();
    for anywhere in [false, true] {
        let is_same = |x: &Finding, y: &Finding| anywhere || same_place(x, y, a, b, pairs);
        new.retain(|found| {
            let same = |old: &&Finding| old.cause == found.cause && is_same(old, found);
            let at = old.iter().position(same);
            changes.extend(at.map(|at| change(Some(old.remove(at)), Some(found))));
            at.is_none()
        });
    }
    let note = |run: &ComparedRun, cause| {
        let notes = run.report.notes.iter();
        notes.clone().find(|n| n.cause == cause).cloned()
    };
    changes.extend(
        new.into_iter()
            .map(|found| change(note(a, found.cause).as_ref(), Some(found))),
    );
    changes.extend(
        old.into_iter()
            .map(|found| change(Some(found), note(b, found.cause).as_ref())),
    );
    let cost = |c: &FindingChange| {
        let (a, b) = (c.seconds.a.unwrap_or(0.0), c.seconds.b.unwrap_or(0.0));
        (b - a).abs()
    };
    changes.sort_by(|x, y| {
        x.status
            .cmp(&y.status)
            .then_with(|| cost(y).total_cmp(&cost(x)))
    });
    changes
}

fn same_place(
    old: &Finding,
    new: &Finding,
    a: &ComparedRun,
    b: &ComparedRun,
    pairs: &[StagePair],
) -> bool {
    let index =
        |run: &ComparedRun, stage: &Option<String>| run.summary.stage_named(stage.as_ref()?);
    match (index(a, &old.stage), index(b, &new.stage)) {
        (Some(i), Some(j)) => partner(pairs, i) == Some(j),
        _ => old.stage == new.stage,
    }
}

fn change(old: Option<&Finding>, new: Option<&Finding>) -> FindingChange {
    let seconds = |f: Option<&Finding>| f.and_then(|f| f.impact.as_ref()).map(|i| i.seconds_saved);
    let seconds = Pair::new(seconds(old), seconds(new));
    let status = match (old, new) {
        (None, _) => FindingStatus::New,
        (_, None) => FindingStatus::Gone,
        (Some(old), Some(new)) => compared(old, new, seconds),
    };
    let shown = new.or(old);
    FindingChange {
        status,
        cause: shown.map(|f| f.cause.code().to_owned()).unwrap_or_default(),
        id_a: old.map(|f| f.id.clone()),
        id_b: new.map(|f| f.id.clone()),
        stage: shown.and_then(|f| f.stage.clone()),
        severity_a: old.map(|f| f.severity),
        severity_b: new.map(|f| f.severity),
        seconds,
        script_lines: shown.and_then(|f| f.script_lines),
    }
}

/// By seconds where both have them, else by severity.
fn compared(old: &Finding, new: &Finding, seconds: Pair) -> FindingStatus {
    if let Some(difference) = seconds.difference() {
        return match difference {
            _ if !seconds.is_notable() => FindingStatus::Same,
            d if d > 0.0 => FindingStatus::Worse,
            _ => FindingStatus::Better,
        };
    }
    match new.severity.cmp(&old.severity) {
        std::cmp::Ordering::Greater => FindingStatus::Worse,
        std::cmp::Ordering::Less => FindingStatus::Better,
        std::cmp::Ordering::Equal => FindingStatus::Same,
    }
}
