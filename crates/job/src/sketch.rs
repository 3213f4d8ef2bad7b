//! A distribution in bounded memory: exact up to some thousand values, then a histogram with
//! logarithmic buckets (relative error of a percentile at most 1/64).

use crate::runs::Distribution;

/// Values kept one by one before the histogram takes over: 8 KiB, the size of the histogram.
const EXACT: usize = 1_024;
/// Buckets per power of two.
const STEPS: usize = 32;
const BUCKETS: usize = 64 * STEPS;

/// Minimum, maximum, sum and percentiles of a stream of whole numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketch {
    count: u64,
    total: f64,
    min: u64,
    max: u64,
    exact: Vec<u64>,
    buckets: Vec<u32>,
}

impl Sketch {
    pub(crate) fn add(&mut self, value: u64) {
        (self.min, self.max) = match self.count {
            0 => (value, value),
            _ => (self.min.min(value), self.max.max(value)),
        };
        self.count += 1;
        self.total += value as f64;
        if self.buckets.is_empty() {
            self.exact.push(value);
            if self.exact.len() == EXACT {
                self.buckets = vec![0; BUCKETS];
                for value in std::mem::take(&mut self.exact) {
                    self.buckets[bucket(value)] += 1;
                }
            }
        } else {
            let slot = &mut self.buckets[bucket(value)];
            *slot = slot.saturating_add(1);
        }
    }

    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Sketch>() + self.exact.capacity() * 8 + self.buckets.len() * 4
    }

    /// Whether it has exactly one value.
    pub(crate) fn is_first(&self) -> bool {
        self.count == 1
    }

    pub(crate) fn absorb(&mut self, other: Sketch) {
        if other.buckets.is_empty() {
            other.exact.into_iter().for_each(|value| self.add(value));
            return;
        }
        if self.buckets.is_empty() {
            let exact = std::mem::take(self);
            *self = other;
            exact.exact.into_iter().for_each(|value| self.add(value));
            return;
        }
        for (slot, n) in self.buckets.iter_mut().zip(other.buckets) {
            *slot = slot.saturating_add(n);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.total += other.total;
    }

    pub(crate) fn distribution(mut self) -> Distribution {
        self.exact.sort_unstable();
        Distribution {
            count: self.count,
            total: self.total,
            min: self.min as f64,
            p50: self.percentile(0.5),
            p95: self.percentile(0.95),
            max: self.max as f64,
        }
    }

    /// Smallest value with at least the share of the values at or below it.
    fn percentile(&self, share: f64) -> f64 {
        let rank = ((self.count as f64 * share).ceil() as u64).max(1);
        if self.buckets.is_empty() {
            return self.exact.get(rank as usize - 1).map_or(0.0, |v| *v as f64);
        }
        let mut seen = 0;
        for (at, n) in self.buckets.iter().enumerate() {
            seen += u64::from(*n);
            if seen >= rank {
                return middle(at).clamp(self.min as f64, self.max as f64);
            }
        }
        self.max as f64
    }
}

/// Values below `STEPS` have a bucket each; above, `STEPS` buckets a power of two.
fn bucket(value: u64) -> usize {
    if value < STEPS as u64 {
        return value as usize;
    }
    let power = 63 - value.leading_zeros() as usize;
    let shift = power - STEPS.trailing_zeros() as usize;
    (shift + 1) * STEPS + ((value >> shift) as usize - STEPS)
}

fn middle(bucket: usize) -> f64 {
    if bucket < STEPS {
        return bucket as f64;
    }
    let (shift, step) = (bucket / STEPS - 1, bucket % STEPS + STEPS);
    (step as f64 + 0.5) * (1_u64 << shift) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact() {
        let mut sketch = Sketch::default();
        (1..=100).for_each(|v| sketch.add(v));
        let got = sketch.distribution();
        let found = [got.min, got.p50, got.p95, got.max];
        assert_eq!((got.count, found), (100, [1.0, 50.0, 95.0, 100.0]));
    }

    #[test]
    fn many_values_are_close() {
        let mut sketch = Sketch::default();
        (0..1_000_000_u64).for_each(|v| sketch.add(v * v));
        let got = sketch.distribution();
        for (share, value) in [(0.5, got.p50), (0.95, got.p95)] {
            let exact = (1e6 * share) * (1e6 * share);
            let error = (value - exact).abs() / exact;
            assert!(error < 1.0 / 64.0, "{value} for {exact}");
        }
        assert_eq!(got.max, 999_999.0 * 999_999.0);
    }

    #[test]
    fn parts_give_the_same_as_the_whole() {
        let of = |from: u64, to: u64| {
            let mut sketch = Sketch::default();
            (from..to).for_each(|v| sketch.add(v * 37 % 10_007));
            sketch
        };
        let whole = of(0, 10_000).distribution();
        for cut in [0, 10, 5_000, 9_990] {
            let mut left = of(0, cut);
            left.absorb(of(cut, 10_000));
            assert_eq!(left.distribution(), whole, "{cut}");
        }
    }

    #[test]
    fn buckets_cover_every_number() {
        assert!(bucket(u64::MAX) < BUCKETS);
        for value in [0, 63, 64, 65, 127, 128, 1 << 20, (1 << 40) + 12_345] {
            let error = (middle(bucket(value)) - value as f64).abs();
            assert!(error <= value as f64 / 64.0, "{value}");
        }
    }

    #[test]
    fn nothing_is_all_zero() {
        assert_eq!(Sketch::default().distribution(), Distribution::default());
    }
}
