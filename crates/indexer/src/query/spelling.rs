//! Corrects misspelt English words against the vocabulary of the index.

use super::{Correction, Vocabulary};
use crate::analyze;

/// Shorter words have too many neighbors.
const SHORTEST: usize = 4;

/// From this length on, two mistakes are allowed.
const LONG: usize = 8;

/// A word in fewer chunks may be misspelt itself.
const MIN_CHUNKS: u64 = 3;

/// A mistake in an ending keeps the stemmer from removing it: up to this many letters may follow the stem.
const ENDING: usize = 4;
const STEM: usize = 5;

/// `text` with its misspelt words replaced by the stems that they most likely stand for.
pub(super) fn correct(
    text: &str,
    vocabulary: &dyn Vocabulary,
    corrections: &mut Vec<Correction>,
) -> String {
    let is_part =
        |c: char| c.is_alphanumeric() && !analyze::is_cjk(c) || matches!(c, '_' | '.' | '@');
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c| !is_part(c)) {
        let word = piece.trim_end_matches(|c| c == '.' || !is_part(c));
        let Some(to) = corrected(word, vocabulary) else {
            out.push_str(piece);
            continue;
        };
        out.push_str(&to);
        out.push_str(piece[word.len()..].trim_start_matches('.'));
        let from = word.to_owned();
        corrections.push(Correction { from, to });
    }
    out
}

/// `None` for a word that is known, no plain word, or like none in the vocabulary.
fn corrected(word: &str, vocabulary: &dyn Vocabulary) -> Option<String> {
    let is_plain = word.bytes().all(|b| b.is_ascii_alphabetic());
    // Capitals inside a word make it a name.
    if !is_plain || word.len() < SHORTEST || word.bytes().skip(1).any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let lower = word.to_lowercase();
    let [stem] = analyze::terms(&lower).try_into().ok()?;
    if vocabulary.chunks(&stem) > 0 {
        return None;
    }
    let near = |(term, chunks): (String, u64)| {
        let distance = distance(&lower, &stem, &term)?;
        (chunks >= MIN_CHUNKS).then_some((distance, u64::MAX - chunks, term))
    };
    let known = vocabulary.starting_with(lower.chars().next()?);
    known
        .into_iter()
        .filter_map(near)
        .min()
        .map(|(_, _, term)| term)
}

/// Mistakes between a word and a term of the vocabulary; `None` if too many.
fn distance(word: &str, stem: &str, term: &str) -> Option<usize> {
    if term.len() < SHORTEST || !term.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    if term.len() >= STEM && word.starts_with(term) && word.len() <= term.len() + ENDING {
        return Some(1);
    }
    let allowed = if stem.len() >= LONG { 2 } else { 1 };
    let distance = strsim::osa_distance(stem, term);
    (distance <= allowed).then_some(distance)
}
