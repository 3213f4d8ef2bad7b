//! BERT's uncased tokenizer: splits text into words and vocabulary pieces, as the Hugging Face `tokenizers` library
//! does, without building lists.

use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_normalization::char::decompose_canonical;

use super::file::TokenTable;

/// BERT's limit: a longer word has no pieces.
const LONGEST_WORD: usize = 100;

pub(super) struct Word<'a> {
    /// As written.
    pub(super) raw: &'a str,
    /// Lower-case, without accents, as in the vocabulary.
    pub(super) normal: &'a str,
}

/// Calls `each` for every word: runs between white space, single punctuation marks and single Chinese characters.
pub(super) fn words(text: &str, mut each: impl FnMut(Word<'_>)) {
    let mut splitter = Splitter {
        text,
        start: 0,
        normal: String::with_capacity(32),
    };
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() {
            if splitter.normal.is_empty() {
                splitter.start = at;
            }
            splitter.normal.push(char::from(byte.to_ascii_lowercase()));
            at += 1;
            continue;
        }
        // `at` advances by whole characters, so it stays on a boundary.
        let Some(c) = text[at..].chars().next() else {
            break;
        };
        let next = at + c.len_utf8();
        splitter.character(c, at, next, &mut each);
        at = next;
    }
    splitter.flush(text.len(), &mut each);
}

/// Calls `each` for every piece of a word; a word that the vocabulary cannot spell has none.
pub(super) fn pieces(table: &TokenTable<'_>, word: &str, mut each: impl FnMut(u32)) {
    if word.len() > LONGEST_WORD && word.chars().count() > LONGEST_WORD {
        return;
    }
    let mut found = [0; LONGEST_WORD];
    let (mut n, mut rest) = (0, word.as_bytes());
    while !rest.is_empty() {
        let Some((token, length)) = table.longest_prefix(rest, n > 0) else {
            return;
        };
        // A piece has at least one character, so there are at most 100.
        found[n] = token;
        n += 1;
        rest = &rest[length..];
    }
    found[..n].iter().for_each(|&token| each(token));
}

/// Collects the letters of the current word.
struct Splitter<'a> {
    text: &'a str,
    /// Start of the current word in `text`.
    start: usize,
    normal: String,
}

impl Splitter<'_> {
    fn character(&mut self, c: char, at: usize, next: usize, each: &mut impl FnMut(Word<'_>)) {
        match class(c) {
            Class::Space => self.flush(at, each),
            Class::Removed => {}
            Class::Chinese => {
                self.flush(at, each);
                self.letters(c, at, next, each);
                self.flush(next, each);
            }
            Class::Other => self.letters(c, at, next, each),
        }
    }

    /// Removes accents and folds case; the result may be punctuation or space, which ends the word.
    fn letters(&mut self, c: char, at: usize, next: usize, each: &mut impl FnMut(Word<'_>)) {
        decompose_canonical(c, |part| {
            if !part.is_ascii() && get_general_category(part) == Category::NonspacingMark {
                return;
            }
            for lower in part.to_lowercase() {
                if lower.is_whitespace() {
                    self.flush(at, each);
                } else if is_punctuation(lower) {
                    self.flush(at, each);
                    self.start = at;
                    self.normal.push(lower);
                    self.flush(next, each);
                } else {
                    if self.normal.is_empty() {
                        self.start = at;
                    }
                    self.normal.push(lower);
                }
            }
        });
    }

    fn flush(&mut self, end: usize, each: &mut impl FnMut(Word<'_>)) {
        if !self.normal.is_empty() {
            each(Word {
                raw: self.text.get(self.start..end).unwrap_or_default(),
                normal: &self.normal,
            });
            self.normal.clear();
        }
    }
}

enum Class {
    Space,
    Removed,
    Chinese,
    Other,
}

fn class(c: char) -> Class {
    match c {
        ' ' | '\t' | '\n' | '\r' => Class::Space,
        '!'..='~' => Class::Other,
        '\u{fffd}' => Class::Removed,
        _ if is_chinese(c) => Class::Chinese,
        _ if c.is_whitespace() && !c.is_control() => Class::Space,
        _ if is_invisible(c) => Class::Removed,
        _ => Class::Other,
    }
}

/// Control, format and private-use characters, which the tokenizer drops.
fn is_invisible(c: char) -> bool {
    use Category::{Control, Format, PrivateUse};
    matches!(get_general_category(c), Control | Format | PrivateUse)
}

fn is_punctuation(c: char) -> bool {
    use Category::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation,
        InitialPunctuation, OpenPunctuation, OtherPunctuation,
    };
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    matches!(
        get_general_category(c),
        ClosePunctuation
            | ConnectorPunctuation
            | DashPunctuation
            | FinalPunctuation
            | InitialPunctuation
            | OpenPunctuation
            | OtherPunctuation
    )
}

/// The blocks that BERT treats as Chinese characters.
pub(super) fn is_chinese(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2B73F}' | '\u{2B740}'..='\u{2B81F}' | '\u{2B820}'..='\u{2CEAF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{2F800}'..='\u{2FA1F}')
}
