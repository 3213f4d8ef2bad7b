//! How often a finding of some strength is right.
//!
//! The numbers come from simulated jobs with known causes; `scripts/calibrate.py` makes them anew
//! and says on which seeds. They know nothing of the job at hand but the rule's own strength.

use crate::model::Cause;

/// Chance that a finding is right, by cause, strength of its evidence and share of the run.
pub(crate) fn confidence(cause: Cause, strength: f64, share: Option<f64>) -> f64 {
    let base = base(cause);
    // A cause that costs little is harder to tell from noise.
    let doubt = match share {
        Some(share) if share < 0.05 => 0.12,
        Some(share) if share < 0.1 => 0.05,
        _ => 0.0,
    };
    (base - doubt + 0.02 * (strength - 0.8)).clamp(0.05, 0.99)
}

fn base(cause: Cause) -> f64 {
    match cause {
        Cause::UserCodeFailure | Cause::CompileFailure | Cause::LimitFailure | Cause::QueueWait => {
            0.98
        }
        _ => 0.95,
    }
}
