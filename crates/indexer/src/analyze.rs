//! The analyzer of the index: turns mixed Chinese and English text and identifiers into terms.

mod script;
mod stop;

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

pub(crate) use script::{cjk_share, detect_language, is_cjk};
pub(crate) use stop::without_asking;

/// Stored with the index. Increase it whenever [`terms`] returns different terms.
pub(crate) const VERSION: &str = "mixed-3";

/// Longest term kept, in bytes: hashes and base64 blocks only fill the dictionary.
const MAX_TERM_BYTES: usize = 128;

/// Terms of `text`, in text order: stemmed English words without stop words, identifiers whole and in parts,
/// Chinese, Japanese and Korean as single characters and pairs.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for_each_term(text, |term| out.push(term.to_owned()));
    out
}

/// As [`terms`], handing each term to `emit`.
pub(crate) fn for_each_term(text: &str, mut emit: impl FnMut(&str)) {
    for_each_role(text, |term, _| emit(term));
}

/// Joins the words of a pair. No word contains it, and it is no white space.
const BETWEEN: char = '\u{1f}';

/// Whether a term is a single Chinese, Japanese or Korean character: less specific than a pair.
pub(crate) fn is_character(term: &str) -> bool {
    let mut characters = term.chars();
    characters.next().is_some_and(is_cjk) && characters.next().is_none()
}

/// Adjacent words of `text` as one term each, without stop words: `hot key` says more than `hot` and `key`. CJK
/// text has its pairs among the [`terms`].
pub(crate) fn pairs(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut before: Option<String> = None;
    for_each_role(text, |term, role| match role {
        Role::Word => {
            if let Some(before) = before.replace(term.to_owned()) {
                out.push(format!("{before}{BETWEEN}{term}"));
            }
        }
        Role::Character => before = None,
        Role::Whole => {}
    });
    out
}

/// Features for comparing two questions, in addition to their [`terms`], without repeats: pairs of words as written, and pieces of words.
/// Misspelt and related words share pieces.
pub(crate) fn finer_features(text: &str) -> Vec<String> {
    let text = fold(text).to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    let words: Vec<&str> = words
        .filter(|word| !word.is_empty() && word.len() <= MAX_TERM_BYTES)
        .collect();
    let pairs = words
        .windows(2)
        .map(|pair| format!("{}{BETWEEN}{}", pair[0], pair[1]));
    let mut out: Vec<String> = pairs.collect();
    for word in words.iter().filter(|word| word.len() >= PIECE) {
        let marked = format!("{EDGE}{word}{EDGE}");
        let pieces =
            (0..=marked.len() - PIECE).map(|at| format!("{EDGE}{}", &marked[at..at + PIECE]));
        out.extend(pieces);
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// `PIECE` is the length of a piece in characters. `EDGE` marks the ends of a word and the start of each
/// piece; no word contains it.
const PIECE: usize = 4;
const EDGE: char = '\u{1e}';

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A word, or a part of an identifier.
    Word,
    /// An identifier as a whole, in addition to its parts.
    Whole,
    /// A CJK character or a pair of them.
    Character,
}

/// As [`terms`], handing each term with its role to `emit`.
pub(crate) fn for_each_role(text: &str, mut emit: impl FnMut(&str, Role)) {
    let folded = fold(text);
    let mut rest = folded.as_str();
    while let Some(first) = rest.chars().next() {
        let run = if is_cjk(first) {
            let run = prefix(rest, is_cjk);
            cjk_terms(run, &mut emit);
            run
        } else if first.is_alphanumeric() {
            let run = prefix(rest, |c| (c.is_alphanumeric() && !is_cjk(c)) || is_joint(c));
            compound_terms(run.trim_end_matches(is_joint), &mut emit);
            run
        } else {
            &rest[..first.len_utf8()]
        };
        rest = &rest[run.len()..];
    }
}

/// Full-width to half-width, ligatures and accented letters to plain ones. Keeps case, which splits identifiers.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    // Decomposition is only wanted for Latin accents; recomposing keeps Hangul syllables whole.
    text.nfkd()
        .filter(|c| !is_combining_mark(*c) || is_kana_mark(*c))
        .nfc()
        .collect()
}

/// The voiced-sound marks of kana are part of the letter, not an accent.
fn is_kana_mark(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}')
}

/// Characters that join the parts of an identifier, a version or a hyphenated word.
fn is_joint(c: char) -> bool {
    matches!(c, '_' | '.' | '-' | '\'' | '’')
}

fn prefix(text: &str, keep: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c: char| !keep(c));
    &text[..end.unwrap_or(text.len())]
}

/// Single characters and pairs: no dictionary to load, and no word boundary to get wrong.
fn cjk_terms(run: &str, emit: &mut impl FnMut(&str, Role)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
    let end = |i: usize| starts.get(i).copied().unwrap_or(run.len());
    for i in 0..starts.len() {
        let single = &run[starts[i]..end(i + 1)];
        if !stop::is_chinese(single) {
            emit(single, Role::Character);
        }
        if i + 1 < starts.len() {
            emit(&run[starts[i]..end(i + 2)], Role::Character);
        }
    }
}

/// A word, or an identifier: whole (lower-cased) and its parts.
fn compound_terms(run: &str, emit: &mut impl FnMut(&str, Role)) {
    let mut parts = Vec::new();
    for piece in run.split(is_joint) {
        split_case(piece, &mut parts);
    }
    let is_word = parts.len() == 1 && parts[0].len() == run.len();
    // A possessive or hyphenated word is split into its parts. An identifier is kept whole as well.
    let is_prose = run.contains(['-', '\'', '’']) && !run.contains(['_', '.']);
    if !is_word && !is_prose {
        let whole = run.to_lowercase();
        if whole.len() <= MAX_TERM_BYTES {
            emit(&whole, Role::Whole);
        }
    }
    for part in &parts {
        word_term(part, emit);
    }
}

/// Splits at case changes (`maxRowCount`, `XMLReader`), and a trailing number from its word (`Combine3`), which is
/// also kept with it, since `SV3` and `p53` are names.
fn split_case<'a>(piece: &'a str, parts: &mut Vec<&'a str>) {
    if piece.is_empty() {
        return;
    }
    let digits = piece.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = piece.split_at(digits.unwrap_or(piece.len()));
    if is_unit(unit) {
        parts.extend([number, unit].into_iter().filter(|part| !part.is_empty()));
        return;
    }
    let chars: Vec<(usize, char)> = piece.char_indices().collect();
    let mut start = 0;
    for i in 1..chars.len() {
        let (at, c) = chars[i];
        let before = chars[i - 1].1;
        let after = chars.get(i + 1).map(|&(_, c)| c);
        let lower_to_upper = before.is_lowercase() && c.is_uppercase();
        let acronym_ends =
            before.is_uppercase() && c.is_uppercase() && after.is_some_and(char::is_lowercase);
        // `RNAs`, `IDs`: the plural of an acronym is not a boundary.
        let plural = after == Some('s') && i + 2 == chars.len();
        if lower_to_upper || (acronym_ends && !plural) {
            parts.push(&piece[start..at]);
            start = at;
        }
    }
    parts.push(&piece[start..]);
}

/// Whether `word` is a unit that is written right behind a number or after a space, in any case: `128KB`, `128 kB`.
fn is_unit(word: &str) -> bool {
    const UNITS: [&str; 12] = [
        "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib", "ms", "min", "sec",
    ];
    UNITS.iter().any(|unit| word.eq_ignore_ascii_case(unit))
}

fn word_term(part: &str, emit: &mut impl FnMut(&str, Role)) {
    let lower = part.to_lowercase();
    if lower.is_empty() || lower.len() > MAX_TERM_BYTES || stop::is_english(&lower) {
        return;
    }
    static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    match lower.bytes().all(|b| b.is_ascii_alphabetic()) {
        true => emit(&STEMMER.stem(&lower), Role::Word),
        false => emit(&lower, Role::Word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_identifiers_and_characters_become_terms() {
        for (text, expect) in [
            ("The joins are running", "join run"),
            // identifiers are kept whole and in parts
            ("maxRowCount", "maxrowcount max row count"),
            ("SV3_Combine", "sv3_combine sv3 combin"),
            ("SKEWJOIN", "skewjoin"),
            ("XMLReader", "xmlreader xml reader"),
            (
                "E_RUNTIME_USER_EXPRESSIONEVALUATION",
                "e_runtime_user_expressionevaluation e runtim user expressionevalu",
            ),
            ("skew.join_hot_key", "skew.join_hot_key skew join hot key"),
            // a number is found with and without its unit
            ("128KB", "128kb 128 kb"),
            ("128 kB, 4 MiB", "128 kb 4 mib"),
            // prose is not taken for one
            ("hot-key.", "hot key"),
            ("job's end.", "job end"),
            ("miRNAs", "mirnas mi rnas"),
            // single characters and pairs
            ("数据倾斜", "数 数据 据 据倾 倾 倾斜 斜"),
            // full-width letters and accents fold
            ("ＳＫＥＷ倾斜", "skew 倾 倾斜 斜"),
            ("naïve café", "naiv cafe"),
            ("", ""),
            (" ,.!？。 _ - ", ""),
        ] {
            assert_eq!(terms(text).join(" "), expect, "terms of {text:?}");
        }
    }

    #[test]
    fn questions_share_pairs_and_pieces() {
        let shown = |text| {
            finer_features(text)
                .join(" ")
                .replace(EDGE, "^")
                .replace(BETWEEN, "+")
        };
        assert_eq!(shown("The join, 倾斜"), "^^joi ^join ^oin^ the+join");
        assert_eq!(shown("为什么 a"), "");
    }

    #[test]
    fn neighbouring_words_make_pairs() {
        let hot = ["hot\u{1f}key", "key\u{1f}join"];
        assert_eq!(pairs("The hot keys of a join"), hot);
        assert_eq!(pairs("SV3_Combine 倾斜 join"), ["sv3\u{1f}combin"]);
        assert!(pairs("数据倾斜").is_empty());
    }
}
