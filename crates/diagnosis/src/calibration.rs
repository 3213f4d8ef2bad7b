//! How often a finding of some cause is right.
//!
//! The counts come from simulated jobs with known causes; `calibration/calibrate.py` makes them
//! anew, says on which seeds, and measures the calibration error on a seed that it kept back. They
//! know nothing of the job at hand but what the rule itself says of its evidence.

use report::Cause;

/// Chance that a finding is right, by cause, strength of its evidence and share of the run.
///
/// The share of right findings, with half a right and half a wrong one added (Jeffreys' prior), so
/// that few or no errors among few findings do not read as certainty.
pub(crate) fn confidence(cause: Cause, strength: f64, share: Option<f64>) -> f64 {
    let (right, all) = counted(cause);
    let base = (right + 0.5) / (all + 1.0);
    // Where little is at stake the ordinary difference between two runs is a rival explanation.
    // The simulated jobs hold no such case (their decoys cost under 2 %), so this is a judgement.
    let doubt = match share {
        Some(share) if share < 0.03 => 0.12,
        Some(share) if share < 0.05 => 0.06,
        _ => 0.0,
    };
    // Evidence from one source only, such as totals without the events themselves.
    let thin = if strength < 0.55 { 0.1 } else { 0.0 };
    (base - doubt - thin).clamp(0.05, 0.99)
}

/// Findings that were right, and all findings, over 600 jobs of the seeds 11, 12 and 13.
fn counted(cause: Cause) -> (f64, f64) {
    match cause {
        Cause::Misestimate | Cause::UserCodeFailure | Cause::LateFilter => (16.0, 16.0),
        Cause::CompileFailure | Cause::PartitionLayout => (17.0, 17.0),
        Cause::LimitFailure => (15.0, 15.0),
        Cause::SlowMachine
        | Cause::MemoryEstimateTooLow
        | Cause::QueueWait
        | Cause::NullOrDefaultKey => (18.0, 18.0),
        Cause::VertexRetries | Cause::CpuBoundUdo => (19.0, 19.0),
        Cause::HeapPressure => (20.0, 20.0),
        Cause::SmallFiles => (11.0, 11.0),
        Cause::JoinExplosion => (25.0, 25.0),
        Cause::Spill => (12.0, 12.0),
        Cause::TinyVertices => (16.0, 16.0),
        Cause::ParallelismTooLow | Cause::SerialGather | Cause::LowCardinalityKey => (22.0, 22.0),
        Cause::MissedBroadcast => (13.0, 13.0),
        Cause::RedundantRepartition | Cause::UnalignedInput => (14.0, 14.0),
        Cause::UnusedColumns => (24.0, 24.0),
        Cause::GroupHotKey => (31.0, 31.0),
        Cause::JoinHotKey => (10.0, 10.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_high_but_never_certain() {
        for cause in Cause::ALL {
            let c = confidence(*cause, 0.9, Some(0.4));
            assert!((0.9..=0.99).contains(&c), "{cause}: {c}");
            assert!(confidence(*cause, 0.9, Some(0.02)) < c, "{cause}");
        }
    }
}
