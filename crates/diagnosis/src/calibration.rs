//! Probability that a finding is right: logistic in the strength of its evidence and in the share at stake.
//!
//! The weights are fitted to simulated jobs of all mechanisms by the example `accuracy --fit`, which also measures the
//! calibration error with the mechanism of each job left out. The only inputs from a job are the strength and the share
//! that the rule states.

#[rustfmt::skip]
mod weights;

pub use weights::WEIGHTS;

/// Chance that a finding is right, by the strength of its evidence (0..1) and its share of the run.
pub(crate) fn confidence(strength: f64, share: Option<f64>) -> f64 {
    let x = features(strength, share);
    let sum: f64 = x.iter().zip(&WEIGHTS).map(|(x, w)| x * w).sum();
    (1.0 / (1.0 + (-sum).exp())).clamp(0.05, 0.99)
}

/// Inputs of the confidence: a constant, the strength, and the logarithm of the share of the run. With a small share, the
/// ordinary difference between two runs is a rival explanation. A failed job counts with its whole run.
pub fn features(strength: f64, share: Option<f64>) -> [f64; 3] {
    [1.0, strength, share.unwrap_or(1.0).clamp(0.01, 1.0).ln()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stronger_evidence_of_more_is_surer_and_nothing_is_certain() {
        let sure = confidence(1.0, Some(0.5));
        assert!(sure <= 0.99 && sure > 0.8, "{sure}");
        assert!(confidence(0.4, Some(0.5)) <= sure);
        assert!(confidence(1.0, Some(0.03)) <= sure);
        assert!(confidence(0.0, Some(0.02)) >= 0.05);
    }
}
