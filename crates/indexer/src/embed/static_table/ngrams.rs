//! Hashed n-grams: characters for Chinese, Japanese and Korean, word-bounded letters for everything else (identifiers
//! above all). The hash of a feature gives its bucket and sign, so that dot products of the sums
//! estimate the overlap of texts without a vocabulary.

use super::file::{FNV_OFFSET, fnv1a, spread};
use super::wordpiece::is_chinese;

/// The error of an estimated overlap is about 1/√BUCKETS of the lengths.
pub(super) const BUCKETS: usize = 256;

/// Shortest and longest letter n-gram, boundaries included.
const SHORTEST: usize = 3;
const LONGEST: usize = 5;

/// The whole word's share of its weight; its n-grams share the rest. Whole words say more,
/// n-grams find other forms of the word and misspellings.
const WHOLE_WORD: f32 = 0.7;

/// Longer words are hashes or encoded data; only their start counts. In bytes.
const LONGEST_WORD: usize = 48;

/// Weight of one character relative to a pair: in Chinese, pairs are close to words.
const SINGLE: f32 = 0.4;

/// Characters that say little: Chinese particles, pronouns and question words.
const COMMON: &str = "的了是在和与或及也就都而着过被把对为以于其之此这那个些们我你他她它有无不没要会能可该应请\
    吗呢吧啊么什怎哪谁几多少何如因所从到由向给让使用中上下里时后前很更最太还又再只才并但";

/// Weight of a character of [`COMMON`].
const COMMON_WEIGHT: f32 = 0.2;

pub(super) struct Ngrams {
    pub(super) sums: [f32; BUCKETS],
}

impl Ngrams {
    pub(super) fn new() -> Self {
        Ngrams {
            sums: [0.0; BUCKETS],
        }
    }

    fn add(&mut self, hash: u32, weight: f32) {
        let hash = spread(hash);
        let sign = if hash >> 31 == 0 { weight } else { -weight };
        self.sums[hash as usize % BUCKETS] += sign;
    }

    /// Adds a lower-case word and its n-grams of 3 to 5 letters, with `<` and `>` as boundaries.
    pub(super) fn word(&mut self, word: &str, weight: f32) {
        let letters = &word.as_bytes()[..word.len().min(LONGEST_WORD)];
        let whole = letters.iter().copied().fold(FNV_OFFSET ^ 1, fnv1a);
        self.add(whole, weight * WHOLE_WORD);

        let n = letters.len() + 2;
        let at = |i: usize| match i {
            0 => b'<',
            _ if i == n - 1 => b'>',
            _ => letters[i - 1],
        };
        let sizes = SHORTEST..=LONGEST;
        let count: usize = sizes.map(|size| (n + 1).saturating_sub(size)).sum();
        if count == 0 {
            return;
        }
        // As if independent: the n-grams of a long word together weigh as much as the n-grams of a
        // short one.
        let share = weight * (1.0 - WHOLE_WORD) / (count as f32).sqrt();
        for start in 0..=n - SHORTEST {
            let mut hash = FNV_OFFSET ^ 2;
            for end in start..(start + LONGEST).min(n) {
                hash = fnv1a(hash, at(end));
                if end + 1 - start >= SHORTEST {
                    self.add(hash, share);
                }
            }
        }
    }

    /// Adds the single characters and pairs of the Chinese, Japanese and Korean runs of `text`; returns their weight.
    pub(super) fn characters(&mut self, text: &str) -> f32 {
        let (mut previous, mut total) = (None, 0.0);
        for c in text.chars() {
            if !is_cjk(c) {
                previous = None;
                continue;
            }
            let weight = match COMMON.contains(c) {
                true => COMMON_WEIGHT,
                false => 1.0,
            };
            total += weight;
            let single = character_hash(FNV_OFFSET ^ 3, c);
            self.add(single, SINGLE * weight);
            if let Some((before, other)) = previous {
                let weight = f32::max(weight, other) * weight.min(other).sqrt();
                self.add(character_hash(before, c), weight);
            }
            previous = Some((single, weight));
        }
        total
    }
}

fn character_hash(hash: u32, c: char) -> u32 {
    u32::from(c).to_le_bytes().into_iter().fold(hash, fnv1a)
}

/// Scripts without spaces between words, or with inflected words (Korean).
pub(super) fn is_cjk(c: char) -> bool {
    is_chinese(c)
        || matches!(c, '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{AC00}'..='\u{D7A3}')
}
