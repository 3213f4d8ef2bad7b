//! Runs slower than the job's own spread allows.
//!
//! A run's deviation is the logarithm of its time against the median logarithm of the good runs before it, in units of their
//! spread. A single run far outside is a regression; so is a sum of smaller deviations (CUSUM).

/// Good runs that the spread is computed from, the latest.
pub(super) const WINDOW: usize = 20;
/// With fewer runs, no run is called a regression.
pub const LEAST: usize = 4;
/// Ordinary spread of the run time of a recurring job: the median of 9,561 published pipelines.
const ORDINARY: f64 = 0.23;
/// Number of runs that the ordinary spread counts as: few runs say little about their own.
const PRIOR: f64 = 6.0;
/// Deviation of a single run that is a regression.
const FAR: f64 = 3.0;
/// Deviation that is still ordinary for a series of runs, and the sum of the rest that is a regression.
const ALLOWED: f64 = 0.75;
const SUM: f64 = 4.0;
/// Deviation at which the job is back to normal.
const NORMAL: f64 = 1.0;

/// A run compared with the good runs before it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Standing {
    /// Median of the good runs before it; `None` if there are too few.
    pub usual: Option<f64>,
    pub is_regression: bool,
    /// The first run of a regression.
    pub is_first: bool,
}

/// The median of the logarithms of some values, and their spread.
fn level(logs: &[f64]) -> Option<(f64, f64)> {
    if logs.is_empty() {
        return None;
    }
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    let count = n as f64;
    let mean = sorted.iter().sum::<f64>() / count;
    let variance: f64 = sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    let variance = (count * variance + PRIOR * ORDINARY * ORDINARY) / (count + PRIOR);
    // The median of few runs is uncertain itself.
    Some((median, (variance * (1.0 + 1.57 / count)).sqrt()))
}

/// How each value of a series, oldest first, stands against the good ones before it; `least` good ones are needed.
pub fn standings(series: impl IntoIterator<Item = Option<f64>>, least: usize) -> Vec<Standing> {
    let mut good: Vec<f64> = Vec::new();
    let (mut sum, mut is_regressed) = (0.0, false);
    let mut stand = |value: Option<f64>| {
        let Some(log) = value.filter(|v| *v > 0.0).map(f64::ln) else {
            return Standing::default();
        };
        let window = &good[good.len().saturating_sub(WINDOW)..];
        let Some((median, spread)) = level(window).filter(|_| window.len() >= least) else {
            good.push(log);
            return Standing::default();
        };
        let deviation = (log - median) / spread;
        sum = (sum + deviation.min(FAR) - ALLOWED).max(0.0);
        let is_first = !is_regressed && (deviation >= FAR || sum >= SUM);
        is_regressed |= is_first;
        if is_regressed && !is_first && deviation < NORMAL {
            is_regressed = false;
            sum = 0.0;
        }
        if is_first {
            sum = 0.0;
        }
        if !is_regressed && sum < SUM / 2.0 {
            good.push(log);
        }
        Standing {
            usual: Some(median.exp()),
            is_regression: is_regressed,
            is_first,
        }
    };
    series.into_iter().map(&mut stand).collect()
}

/// Whether a value is outside of a series' own spread, in either direction.
pub(super) fn is_outside(value: f64, series: &[f64]) -> bool {
    let logs: Vec<f64> = series
        .iter()
        .filter(|v| **v > 0.0)
        .map(|v| v.ln())
        .collect();
    level(&logs)
        .is_some_and(|(median, spread)| value > 0.0 && (value.ln() - median).abs() > FAR * spread)
}
