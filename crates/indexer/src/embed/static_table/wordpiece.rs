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

/// Calls `each` for every word: runs between white space, single punctuation marks and single Chinese characters. Accents and case are
/// removed; the result may be punctuation or space, which ends the word.
pub(super) fn words(text: &str, mut each: impl FnMut(Word<'_>)) {
    // Start of the current word, and its letters.
    let (mut start, mut normal) = (0, String::with_capacity(32));
    let mut flush = |normal: &mut String, start: usize, end: usize| {
        if !normal.is_empty() {
            let raw = text.get(start..end).unwrap_or_default();
            each(Word { raw, normal });
            normal.clear();
        }
    };
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        if c.is_ascii_alphanumeric() {
            if normal.is_empty() {
                start = at;
            }
            normal.push(c.to_ascii_lowercase());
            continue;
        }
        if is_space(c) {
            flush(&mut normal, start, at);
            continue;
        }
        if is_removed(c) {
            continue;
        }
        decompose_canonical(c, |part| {
            if !part.is_ascii() && get_general_category(part) == Category::NonspacingMark {
                return;
            }
            for lower in part.to_lowercase() {
                let is_alone = is_punctuation(lower) || is_chinese(lower);
                if is_alone || lower.is_whitespace() {
                    flush(&mut normal, start, at);
                }
                if lower.is_whitespace() {
                    continue;
                }
                if normal.is_empty() {
                    start = at;
                }
                normal.push(lower);
                if is_alone {
                    flush(&mut normal, start, next);
                }
            }
        });
    }
    flush(&mut normal, start, text.len());
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

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r') || c.is_whitespace() && !c.is_control()
}

/// Control, format and private-use characters, which the tokenizer drops.
fn is_removed(c: char) -> bool {
    use Category::{Control, Format, PrivateUse};
    c == '\u{fffd}'
        || !c.is_ascii_graphic() && matches!(get_general_category(c), Control | Format | PrivateUse)
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
