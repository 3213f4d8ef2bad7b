//! The built-in embedder: no download, and it starts in microseconds.
//!
//! A vector has two parts. The first is a weighted sum of token vectors, fitted to point where a sentence
//! model's vector points (English meaning). The second is a sum of hashed n-grams (Chinese, identifiers, rare words).
//! Each part is normalized and weighted by the kinds of characters in the text: a Chinese text
//! consists of n-grams only. `scripts/make-embedder` makes the table.

mod file;
mod ngrams;
#[cfg(test)]
mod tests;
mod wordpiece;

use std::borrow::Cow;

use self::file::TokenTable;
use self::ngrams::{BUCKETS, Ngrams};
use super::{EmbedError, Embedder, VectorWeights};

static TABLE: &[u8] = include_bytes!("../../data/static-table.bin");

/// Increase it whenever this code computes different vectors for the same table.
const CODE_VERSION: u32 = 1;

/// The token part's share of the squared length for text in Latin script. Between .75 and .85 retrieval
/// hardly changes; identifiers need the rest.
const MEANING: f32 = 0.8;

/// Weight of a Chinese, Japanese or Korean character against a word in Latin script when the two share a vector: two
/// characters make a word, and names in a Chinese text (`Spark`, `SKEWJOIN`) say more than its other words.
/// Of 1, .4 and .2 the smaller found more on Chinese package descriptions (nDCG@10 .653, .687, .718).
const CHARACTER: f32 = 0.25;

/// Below this length a sum is rounding noise, not a direction.
const NOISE: f32 = 1e-6;

#[derive(Debug, Clone, Copy)]
pub(super) struct StaticTable {
    table: TokenTable<'static>,
}

impl StaticTable {
    pub(super) fn embedded() -> Self {
        StaticTable {
            table: TokenTable::parse(TABLE).expect("the table of the build is checked by a test"),
        }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let text = &*fold_width(text);
        let width = self.table.dimension();
        let mut vector = vec![0.0; width + BUCKETS];
        let (tokens, _) = vector.split_at_mut(width);
        let mut ngrams = Ngrams::new();
        let mut latin = 0.0;
        wordpiece::words(text, |word| {
            if !word.normal.starts_with(ngrams::is_cjk) {
                latin += self.word(word.raw, word.normal, tokens, &mut ngrams);
            }
        });
        let cjk = match text.is_ascii() {
            true => 0.0,
            false => ngrams.characters(text),
        };
        let share = latin / (latin + CHARACTER * cjk).max(NOISE);
        combine(&mut vector, &ngrams, share);
        vector
    }

    /// Adds a word to both parts and returns its information.
    fn word(&self, raw: &str, normal: &str, tokens: &mut [f32], ngrams: &mut Ngrams) -> f32 {
        let compound = compound_parts(raw).filter(|_| !self.knows(normal));
        let Some(parts) = compound else {
            return self.simple_word(normal, tokens, ngrams);
        };
        ngrams.word(normal, 1.0);
        let words = parts.map(str::to_lowercase);
        words
            .map(|word| self.simple_word(&word, tokens, ngrams))
            .sum()
    }

    fn simple_word(&self, word: &str, tokens: &mut [f32], ngrams: &mut Ngrams) -> f32 {
        let (mut known, mut information) = (false, 0.0f32);
        wordpiece::pieces(&self.table, word, |token| {
            known = true;
            information = information.max(self.table.information(token));
            self.table.add(token, tokens);
        });
        // Punctuation changes a meaning (`C++`) but has none.
        if !word.contains(char::is_alphanumeric) {
            return 0.0;
        }
        if !known {
            information = 1.0;
        }
        if information > 0.0 {
            ngrams.word(word, information);
        }
        information
    }

    fn knows(&self, word: &str) -> bool {
        let known = self.table.longest_prefix(word.as_bytes(), false);
        known.is_some_and(|(_, length)| length == word.len())
    }
}

impl Embedder for StaticTable {
    fn fingerprint(&self) -> String {
        let digest = self.table.digest().iter();
        let digest: String = digest.map(|byte| format!("{byte:02x}")).collect();
        format!("embedded-{CODE_VERSION}-{digest}")
    }

    fn dimension(&self) -> usize {
        self.table.dimension() + BUCKETS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    /// The best on the tuning part of our judgments, and on the plateau of public collections: .3 to .5 in English,
    /// up to .4 in Chinese.
    fn weights(&self) -> VectorWeights {
        VectorWeights {
            latin: 0.35,
            cjk: 0.25,
        }
    }
}

/// Normalizes, weights and joins both parts; `latin` is the share of the text that is not Chinese, Japanese or Korean.
fn combine(vector: &mut [f32], ngrams: &Ngrams, latin: f32) {
    let (tokens, hashed) = vector.split_at_mut(vector.len() - BUCKETS);
    hashed.copy_from_slice(&ngrams.sums);
    let (meaning, form) = (length(tokens), length(hashed));
    let share = match (meaning > NOISE, form > NOISE) {
        (true, true) => MEANING * latin,
        (true, false) if latin > 0.0 => 1.0,
        _ => 0.0,
    };
    scale(tokens, meaning, share.sqrt());
    scale(hashed, form, (1.0 - share).sqrt());
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|x| x * x).sum::<f32>().sqrt()
}

fn scale(vector: &mut [f32], length: f32, target: f32) {
    let factor = if length > NOISE { target / length } else { 0.0 };
    vector.iter_mut().for_each(|x| *x *= factor);
}

/// Full-width letters and signs (`ＳＣＯＰＥ`) as their ASCII forms.
fn fold_width(text: &str) -> Cow<'_, str> {
    let is_wide = |c: char| matches!(c, '\u{FF01}'..='\u{FF5E}');
    if text.is_ascii() || !text.contains(is_wide) {
        return Cow::Borrowed(text);
    }
    let narrow = |c: char| char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c);
    let folded = text.chars().map(|c| if is_wide(c) { narrow(c) } else { c });
    folded.collect::<String>().into()
}

/// The parts of an identifier in camel case (`maxRowCount`) if there are several and each has two letters or more
/// (`mRNA` and `IgG` stay whole).
fn compound_parts(raw: &str) -> Option<impl Iterator<Item = &str>> {
    let bytes = raw.as_bytes();
    if !raw.is_ascii() {
        return None;
    }
    let is_cut = |i: usize| bytes[i].is_ascii_uppercase() && bytes[i - 1].is_ascii_lowercase();
    let (mut start, mut n) = (0, 1);
    for i in 1..bytes.len() {
        if is_cut(i) {
            if i - start < 2 || bytes.len() - i < 2 {
                return None;
            }
            (start, n) = (i, n + 1);
        }
    }
    let mut start = 0;
    let parts = (1..=bytes.len()).filter_map(move |i| {
        let ends = i == bytes.len() || is_cut(i);
        ends.then(|| &raw[std::mem::replace(&mut start, i)..i])
    });
    (n > 1).then_some(parts)
}
