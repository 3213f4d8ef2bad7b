//! Reads a query: terms with weights, the text to embed, and the remarks that explain both.
//!
//! People ask in sentences, paste counters and scripts, and misspell words. Chinese phrases that only ask are left out, and names of engines
//! lose weight. Less weight for numbers and code, more for names, and more vectors for short queries brought no gain on the tuning judgments.

mod homophones;
mod spelling;

use std::collections::{BTreeMap, HashSet};

use crate::analyze;
use crate::glossary::{Expansion, Glossary, Named};
use crate::store::lexical::{Lexical, Weighted, Words};

/// Weight, relative to a word of the query, that all names added by the glossary for one thing in one script share: a
/// translation may be ambiguous, and five names of a thing should count no more than the thing. Of .25,
/// .4 and .6, .4 found most on the tuning judgments.
const EXPANSION_WEIGHT: f32 = 0.4;

/// Weight of a term of an engine's name. Chosen on the tuning judgments.
const PRODUCT: f32 = 0.3;

/// Weight of a pair of words or a piece of one where queries are compared with questions.
const FINER_WEIGHT: f32 = 0.5;

/// Weight of a single Chinese character there: it is less specific than a pair.
const CHARACTER_WEIGHT: f32 = 0.5;

/// Characters of a Chinese word, on average.
const CJK_WORD: f32 = 2.0;

/// A misspelt word of a query; `to` is the stem under which the index knows the word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    pub from: String,
    pub to: String,
}

/// The vocabulary of the index; a store that cannot be read has none, which the search itself reports.
pub(crate) trait Vocabulary {
    /// How many chunks have `term`.
    fn chunks(&self, term: &str) -> u64;

    /// Terms that start with `first`, each with its number of chunks.
    fn starting_with(&self, first: char) -> BTreeMap<String, u64>;
}

impl Vocabulary for Lexical {
    fn chunks(&self, term: &str) -> u64 {
        self.frequency(term).unwrap_or_default()
    }

    fn starting_with(&self, first: char) -> BTreeMap<String, u64> {
        Lexical::starting_with(self, first).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    pub(crate) words: Words,
    /// For the embedder, without the words from the glossary.
    pub(crate) text: String,
    pub(crate) expansions: Vec<Expansion>,
    pub(crate) corrections: Vec<Correction>,
    /// The system that the query names.
    pub(crate) named: Option<Named>,
    /// The user's own terms, corrected, with their weights; terms from the glossary are no evidence of a fit.
    pub(crate) own: Vec<(String, f32)>,
}

pub(crate) fn read(text: &str, glossary: &Glossary, vocabulary: &dyn Vocabulary) -> Reading {
    let mut corrections = Vec::new();
    // A correction must not change the name of a system that the index doesn't know.
    let named = glossary.named(text);
    let text = spelling::correct(text, vocabulary, &mut corrections);
    let text = homophones::correct(&text, vocabulary, &mut corrections);
    let expansions = glossary.expand(&text);
    let own = own_terms(&text, &glossary.product_terms(&text));
    Reading {
        words: words(&text, &own, &expansions),
        named: named.or_else(|| glossary.named(&text)),
        text,
        expansions,
        corrections,
        own,
    }
}

/// The terms of `text`, each once. `products` are terms of the names of engines: they decide the engine, and nearly every page about it has
/// them.
fn own_terms(text: &str, products: &[String]) -> Vec<Weighted> {
    let mut seen = HashSet::new();
    let mut terms = analyze::terms(&analyze::without_asking(text));
    terms.retain(|term| seen.insert(term.clone()));
    let weighted = terms.into_iter().map(|term| {
        let is_product = products.contains(&term);
        (term, if is_product { PRODUCT } else { 1.0 })
    });
    weighted.collect()
}

impl Reading {
    /// Weighted features for comparing the query with questions; the query's own terms come first.
    pub(crate) fn features(&self) -> Vec<(String, f32)> {
        let finer = analyze::finer_features(&self.text);
        let finer = finer.into_iter().map(|feature| (feature, FINER_WEIGHT));
        let own = self.own.iter().map(|(term, weight)| {
            let is_alone = analyze::is_character(term);
            let factor = if is_alone { CHARACTER_WEIGHT } else { 1.0 };
            (term.clone(), factor * weight)
        });
        own.chain(finer).collect()
    }
}

/// Deduplicated terms of the query, and terms from the glossary with less weight.
fn words(text: &str, own: &[(String, f32)], expansions: &[Expansion]) -> Words {
    let mut terms: Vec<(String, f32)> = Vec::new();
    let mut seen = HashSet::new();
    let added = expansions.iter().flat_map(expansion_terms);
    for (term, weight) in own.iter().cloned().chain(added) {
        if seen.insert(term.clone()) {
            terms.push((term, weight));
        }
    }
    let mut pairs = analyze::pairs(text);
    pairs.sort();
    pairs.dedup();
    Words {
        terms,
        pairs,
        ..Words::default()
    }
}

/// A Chinese name of four characters is two words in seven terms, which together weigh as much
/// as two words; else a question in English would mostly ask for Chinese.
fn expansion_terms(expansion: &Expansion) -> Vec<(String, f32)> {
    let terms = analyze::terms(&expansion.name);
    let mut weight = EXPANSION_WEIGHT / expansion.rivals.max(1) as f32;
    let characters = expansion.name.chars();
    let characters = characters.filter(|&c| analyze::is_cjk(c)).count();
    if characters > 0 {
        weight *= (characters as f32 / CJK_WORD).max(1.0) / terms.len().max(1) as f32;
    }
    terms.into_iter().map(|term| (term, weight)).collect()
}

#[cfg(test)]
mod tests;
