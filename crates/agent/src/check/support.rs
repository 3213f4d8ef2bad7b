//! Whether a statement of the program says what a sentence of a model says. Statements are compared by their words, so a sentence
//! with a new conclusion has no support, even if its names and numbers are right.

use std::collections::HashSet;

use super::concepts::negation;
use super::news::units;
use super::verdict::pieces;
use crate::wording::is_id;

/// Share of the words of a sentence that one statement has to contain.
const SUPPORTED: f64 = 0.75;

/// Letters of a word that inflections leave alone.
const STEM: usize = 5;

/// Words that say nothing without others, or that point at the program's own advice.
const FUNCTION_WORDS: &str = "the and that this these those its has have had was were are been being will would \
    can could may might should which with from for into than then there they them their also \
    such about because due does did only but when while not since apply first suggestion start";

/// Whether a text has words with a meaning.
pub(super) fn has_words(text: &str) -> bool {
    !Statement::of(text).words.is_empty()
}

/// The statements that a sentence may restate.
#[derive(Debug, Default)]
pub(super) struct Statements(Vec<Statement>);

#[derive(Debug)]
struct Statement {
    words: HashSet<String>,
    is_negated: bool,
}

impl Statements {
    /// Adds the sentences of a text.
    pub(super) fn add(&mut self, text: &str) {
        pieces(text)
            .into_iter()
            .for_each(|piece| self.add_whole(&text[piece]));
    }

    /// Adds a text as one statement.
    pub(super) fn add_whole(&mut self, text: &str) {
        self.0.push(Statement::of(text));
    }

    /// Whether one statement has most words of a sentence, and denies if the sentence does.
    pub(super) fn support(&self, sentence: &str) -> bool {
        let said = Statement::of(sentence);
        let needed = SUPPORTED * said.words.len() as f64;
        self.0.iter().any(|known| {
            let common = said.words.intersection(&known.words).count();
            known.is_negated == said.is_negated && common as f64 >= needed
        })
    }
}

impl Statement {
    fn of(sentence: &str) -> Statement {
        let units = units(sentence);
        let is_latin = |unit: &String| unit.is_ascii();
        let latin = units.iter().filter(|unit| is_latin(unit));
        let is_function = |w: &str| FUNCTION_WORDS.split(' ').any(|word| word == w);
        let mut words: HashSet<String> = latin
            .filter(|w| w.len() > 2 && !is_function(w))
            .filter(|w| !is_id(&w.to_uppercase()) && w.chars().any(char::is_alphabetic))
            .map(|w| w.chars().take(STEM).collect())
            .collect();
        let pairs = units.windows(2).filter(|pair| !pair.iter().any(is_latin));
        words.extend(pairs.map(<[String]>::concat));
        Statement {
            words,
            is_negated: negation(&sentence.to_lowercase()).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restated_facts_have_support_and_conclusions_have_none() {
        let mut known = Statements::default();
        known.add("The filter on DwellMs in SV3_Combine_Split drops 89 % of the rows, but only after they have been exchanged.");
        known.add(
            "Salting spreads a hot key over several vertices. 过滤条件在交换之后才丢弃大部分行。",
        );
        for (text, is_supported) in [
            (
                "In SV3_Combine_Split the DwellMs filter drops 89 % of its rows after exchanging them [F1].",
                true,
            ),
            (
                "The filter on DwellMs in SV3_Combine_Split is not being used after the shuffle.",
                false,
            ),
            (
                "The filter in SV3_Combine_Split does not drop the rows.",
                false,
            ),
            ("Salting will spread the hot key over vertices [S1].", true),
            ("SV3_Combine_Split needs a larger buffer.", false),
            ("过滤条件在交换之后才丢弃行 [F1]。", true),
            ("该过滤条件没有丢弃行。", false),
        ] {
            assert_eq!(known.support(text), is_supported, "{text}");
        }
    }
}
