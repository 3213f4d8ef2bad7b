//! Confidence intervals by resampling queries, with a fixed seed.

use serde::{Deserialize, Serialize};

use super::metrics::mean;

/// With this many, the ends of a 95 % interval move by about a tenth of its width from seed to seed.
const RESAMPLES: usize = 2000;

const SEED: u64 = 0x5eed_2026;

/// The mean difference between two series over the same queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub mean: f64,
    pub ci95: [f64; 2],
    /// Whether the interval excludes 0.
    pub significant: bool,
}

pub(crate) fn mean_interval(values: &[f64]) -> [f64; 2] {
    if values.is_empty() {
        return [0.0, 0.0];
    }
    let mut random = SEED;
    let mut resampled = |_| {
        let picked = (0..values.len()).map(|_| values[below(&mut random, values.len())]);
        picked.sum::<f64>() / values.len() as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(&mut resampled).collect();
    means.sort_by(f64::total_cmp);
    [means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]]
}

/// `a - b`, query by query.
pub(crate) fn paired(a: &[f64], b: &[f64]) -> Difference {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let ci95 = mean_interval(&differences);
    Difference {
        mean: mean(&differences),
        ci95,
        significant: ci95[0] > 0.0 || ci95[1] < 0.0,
    }
}

/// SplitMix64, reduced to `0..n`. The bias of the remainder is far below the noise of a resample.
fn below(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % n as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_mean_and_is_repeatable() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 10) / 10.0).collect();
        let [low, high] = mean_interval(&values);
        assert!(
            low < 0.45 && 0.45 < high && high - low < 0.15,
            "{low} {high}"
        );
        assert_eq!(mean_interval(&values), [low, high]);
        assert_eq!(mean_interval(&[]), [0.0, 0.0]);
    }

    #[test]
    fn a_steady_difference_is_significant_and_none_is_not() {
        let a = [0.5, 0.6, 0.7, 0.8];
        let b = [0.4, 0.5, 0.6, 0.7];
        assert!(paired(&a, &b).significant);
        assert!(!paired(&a, &a).significant);
    }
}
