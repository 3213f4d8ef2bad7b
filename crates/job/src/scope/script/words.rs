//! Word lists of the grammar.

use std::sync::OnceLock;

use foldhash::HashSet;

use super::lexer::is_mixed_case;

/// Words between blanks, looked up by their hash.
pub(super) struct Words {
    text: &'static str,
    set: OnceLock<HashSet<&'static str>>,
}

impl Words {
    pub(super) const fn new(text: &'static str) -> Words {
        Words {
            text,
            set: OnceLock::new(),
        }
    }

    pub(super) fn contain(&self, word: &str) -> bool {
        let split = || self.text.split_ascii_whitespace().collect();
        self.set.get_or_init(split).contains(word)
    }

    /// Like [`Words::contain`], for keywords: most names are rejected by their case before the lookup.
    pub(super) fn contain_keyword(&self, word: &str) -> bool {
        !is_mixed_case(word) && self.contain(word)
    }
}
