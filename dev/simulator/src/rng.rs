//! Randomness: a sequential generator for choices, and noise that is a pure function of its place.
//!
//! Noise must not be drawn from a sequence: the run with a cause and the run without it would then draw
//! different numbers, and their difference would no longer be the effect of the cause. The functions of
//! this module use no platform mathematics (`libm` is plain Rust), so that a seed gives the same bytes on
//! every machine.

/// Mixes a 64-bit value (the finalizer of SplitMix64).
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hashes a text with a seed (FNV-1a, then mixed).
pub(crate) fn hash_text(seed: u64, text: &str) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325 ^ seed;
    for byte in text.bytes() {
        h = (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix(h)
}

/// Turns 64 random bits into a number in [0, 1).
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// Uniform noise in [0, 1) that depends only on its place.
pub(crate) fn noise(seed: u64, place: &str, index: u64) -> f64 {
    unit(mix(hash_text(seed, place) ^ mix(index)))
}

/// Approximately normal noise (mean 0, deviation 1): the sum of twelve uniform numbers.
pub(crate) fn normal(seed: u64, place: &str, index: u64) -> f64 {
    let start = hash_text(seed, place) ^ mix(index);
    (0..12).map(|i| unit(mix(start ^ mix(i)))).sum::<f64>() - 6.0
}

/// A factor around 1 with the given spread of its logarithm.
pub(crate) fn wobble(seed: u64, place: &str, index: u64, spread: f64) -> f64 {
    libm::exp(spread * normal(seed, place, index))
}

/// A sequential generator (SplitMix64), for the choices that make a job.
#[derive(Debug, Clone)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    /// Starts a sequence.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        unit(self.next())
    }

    /// A number in [low, high).
    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number in [low, high].
    pub(crate) fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// True with the given probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of the items.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[(self.next() % items.len() as u64) as usize]
    }

    /// An index below `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        (self.next() % len as u64) as usize
    }

    /// A GUID in upper case.
    pub(crate) fn guid(&mut self) -> String {
        guid(self.next(), self.next())
    }
}

/// Formats 128 bits as a GUID in upper case.
pub(crate) fn guid(high: u64, low: u64) -> String {
    format!(
        "{:08X}-{:04X}-{:04X}-{:04X}-{:012X}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_depends_on_its_place_only() {
        assert_eq!(noise(1, "a", 2), noise(1, "a", 2));
        assert_ne!(noise(1, "a", 2), noise(1, "a", 3));
        assert_ne!(noise(1, "a", 2), noise(1, "b", 2));
    }

    #[test]
    fn sequence_is_fixed() {
        let mut rng = Rng::new(42);
        assert_eq!(rng.guid(), Rng::new(42).guid());
        let mean = (0..10_000).map(|_| rng.unit()).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
