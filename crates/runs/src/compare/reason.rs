//! Why the runs differ: parts of the difference, with a sentence each.

use super::claims::{findings, plan, settings};
use super::contrast::{Contrast, oriented};
use super::measured::{measured, unknown};
use super::shares::parts;
use super::{ComparedRun, Comparison, Reason, ReasonKind, wording};
use report::{Language, Text, text};

/// Two run times that differ by less than this share, or by less than [`SAME_SECONDS`], count as equal.
const SAME_TIME: f64 = 0.05;
const SAME_SECONDS: f64 = 2.0;
/// Smaller shares of the difference are left out.
const NOTHING: f64 = 0.02;
/// Reasons shown; the rest explain little.
const SHOWN: usize = 5;

/// Reasons of the difference, the most probable first; at least one. Their shares add up to at most 1.
pub(super) fn reasons(
    a: &ComparedRun,
    b: &ComparedRun,
    seen: &Comparison,
    language: Language,
) -> Vec<Reason> {
    let runs = oriented(a, b, seen, language);
    let failed = failure(&runs);
    if let Some(same) = no_difference(&runs).filter(|_| failed.is_none()) {
        return vec![same];
    }
    let mut left = parts(&runs, runs.delta.unwrap_or_default());
    let mut found = findings(&runs, &mut left);
    found.extend(settings(&runs, &mut left));
    found.extend(plan(&runs, &mut left));
    found.extend(measured(&runs, &left));
    found.retain(|r| r.share.is_none_or(|share| share >= NOTHING));
    found.sort_by(|x, y| {
        y.seconds
            .unwrap_or(0.0)
            .total_cmp(&x.seconds.unwrap_or(0.0))
    });
    // The unexplained rest is no reason.
    found.sort_by_key(|r| r.kind == ReasonKind::Unknown);
    found.splice(0..0, failed);
    if found.is_empty() {
        found.push(unknown(&runs, None));
    }
    found.truncate(SHOWN);
    found
}

fn failure(runs: &Contrast<'_>) -> Option<Reason> {
    let ended = |run: &ComparedRun| run.report.job.state;
    let broken = |run| ended(run).is_bad();
    let (slow, fast) = runs.names();
    let ((failed, name), (other, other_name)) = match (broken(runs.slow), broken(runs.fast)) {
        (true, false) => ((runs.slow, slow), (runs.fast, fast)),
        (false, true) => ((runs.fast, fast), (runs.slow, slow)),
        _ => return None,
    };
    let error = failed.summary.error.as_ref();
    let text = text!(
        "{name} {failed_state}，{other_name} {other_state}{because}",
        "{name} {failed_state}, {other_name} {other_state}{because}",
        failed_state = wording::state(ended(failed)),
        other_state = wording::state(ended(other)),
        because = error.map_or_else(Text::default, |e| text!("：{e}", ": {e}"))
    );
    let mut findings = failed.report.findings.iter();
    let cause = findings.find(|f| f.cause.code().starts_with("failure."));
    let stage = cause.and_then(|f| f.stage.as_ref());
    Some(Reason {
        cause: cause.map(|f| f.cause.code().to_owned()),
        ..runs.reason(ReasonKind::Failure, None, stage, text)
    })
}

fn no_difference(runs: &Contrast<'_>) -> Option<Reason> {
    let delta = runs.delta?;
    let slow = runs.slow;
    let whole = slow.report.job.elapsed_seconds? + slow.before().unwrap_or(0.0);
    let text = text!("两次运行用时相近", "both took about the same time");
    (delta < SAME_SECONDS || delta < SAME_TIME * whole)
        .then(|| runs.reason(ReasonKind::NoDifference, None, None, text))
}
