//! From what the rules saw to findings and notes: what only follows from another cause is dropped,
//! the rest is ranked by what it costs.

use crate::calibration::confidence;
use crate::rule::{Candidate, Examination};
use crate::settings::{MIN_SHARE, Settings};
use report::{Cause, Finding};

/// Causes that show in a stage because another one is there: (what follows, what it follows
/// from). The first needs no fix once the second is fixed.
const FOLLOWS: &[(Cause, &[Cause])] = &[
    (
        Cause::Spill,
        &[
            Cause::Misestimate,
            Cause::ParallelismTooLow,
            Cause::SerialGather,
            Cause::JoinExplosion,
        ],
    ),
    (
        Cause::ParallelismTooLow,
        &[
            Cause::Misestimate,
            Cause::SerialGather,
            Cause::RedundantRepartition,
        ],
    ),
    (Cause::Misestimate, &[Cause::MissedBroadcast]),
    (Cause::TinyVertices, &[Cause::SmallFiles]),
    (Cause::VertexRetries, &[Cause::MemoryEstimateTooLow]),
    (Cause::RedundantRepartition, &[Cause::MissedBroadcast]),
];

/// Findings, ranked; and what is too small to be one.
pub(crate) struct Weighed {
    pub(crate) findings: Vec<Candidate>,
    pub(crate) notes: Vec<Candidate>,
}

/// Weighs the candidates of all rules.
pub(crate) fn weigh(
    examined: &[(Cause, Examination)],
    settings: &Settings,
    failure: Option<&Failure>,
) -> Weighed {
    let candidates: Vec<&Candidate> = examined.iter().flat_map(|(_, e)| &e.candidates).collect();
    let min_share = settings.get(&MIN_SHARE);
    let matters = |f: &Finding| share(f).is_none_or(|s| s >= min_share);
    let large: Vec<&Candidate> = candidates
        .iter()
        .copied()
        .filter(|c| matters(&c.finding))
        .collect();
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let mut weighed = candidate.clone();
        let finding = &mut weighed.finding;
        finding.confidence = confidence(finding.cause, candidate.strength, share(finding));
        let answers = match failure {
            None => finding.impact.is_some(),
            Some(failure) => explains(finding, failure),
        };
        if answers && matters(finding) && !follows(finding, &large) {
            findings.push(weighed);
        } else {
            notes.push(weighed);
        }
    }
    findings.sort_by(rank);
    keep_best_of_each_cause(&mut findings, &mut notes);
    notes.sort_by(rank);
    Weighed { findings, notes }
}

/// What is known of a job that failed.
pub(crate) struct Failure {
    /// Whether it failed on a limit.
    pub(crate) on_limit: bool,
    /// Stage that failed.
    pub(crate) stage: Option<String>,
}

/// Whether a cause can be why a job failed: the failure itself, and what drives a stage into a
/// limit. What else made it slow is beside the point, and its run is no measure of it.
fn explains(finding: &Finding, failure: &Failure) -> bool {
    use Cause::{
        CompileFailure, CpuBoundUdo, GroupHotKey, JoinExplosion, JoinHotKey, LimitFailure,
        LowCardinalityKey, NullOrDefaultKey, PartitionLayout, UserCodeFailure,
    };
    match finding.cause {
        UserCodeFailure | CompileFailure | LimitFailure => true,
        JoinHotKey | GroupHotKey | NullOrDefaultKey | LowCardinalityKey | PartitionLayout => {
            failure.on_limit
        }
        JoinExplosion | CpuBoundUdo => failure.on_limit && finding.stage == failure.stage,
        _ => false,
    }
}

/// Share of the run; `None` for a failed job, where everything that was found counts.
fn share(finding: &Finding) -> Option<f64> {
    finding.impact.as_ref().and_then(|i| i.share_of_elapsed)
}

/// Whether a larger finding in the same stage, or one that names no other, explains this one.
fn follows(finding: &Finding, all: &[&Candidate]) -> bool {
    let Some((_, from)) = FOLLOWS.iter().find(|(cause, _)| *cause == finding.cause) else {
        return false;
    };
    all.iter().any(|other| {
        let other = &other.finding;
        from.contains(&other.cause)
            && other.stage == finding.stage
            && share(other).unwrap_or(1.0) >= share(finding).unwrap_or(0.0) * 0.5
    })
}

/// Failures first, then the most seconds saved, then the order of the contract.
pub(crate) fn rank(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    let (a, b) = (&a.finding, &b.finding);
    let failure = |f: &Finding| {
        matches!(
            f.cause,
            Cause::UserCodeFailure | Cause::CompileFailure | Cause::LimitFailure
        )
    };
    let saved = |f: &Finding| f.impact.as_ref().map_or(0.0, |i| i.seconds_saved);
    failure(b)
        .cmp(&failure(a))
        .then(saved(b).total_cmp(&saved(a)))
        .then(a.cause.cmp(&b.cause))
}

/// A cause that shows in several stages is one finding, in the stage where it costs most; the
/// others are notes.
fn keep_best_of_each_cause(findings: &mut Vec<Candidate>, notes: &mut Vec<Candidate>) {
    let mut seen: Vec<Cause> = Vec::new();
    notes.extend(findings.extract_if(.., |c| {
        let again = seen.contains(&c.finding.cause);
        seen.push(c.finding.cause);
        again
    }));
}
