//! Recognizes names, numbers of stages, settings and paths by their spelling.

use crate::vocabulary::{WORDS, phrases_at};
use crate::word::Word::{self, Filler, Not, Other};
use std::ops::Range;
use std::sync::LazyLock;

use crate::subject::Kind;

#[rustfmt::skip]
const KINDS: &[(Kind, &[&str], &[&str])] = &[
    (Kind::Stage, &["阶段"], &["stage", "stages"]),
    (Kind::Operator, &["算子"], &["operator"]),
    (Kind::Input, &["表", "输入"], &["table", "input", "dataset"]),
    (Kind::Column, &["列", "字段", "键"], &["column", "field", "key"]),
    (Kind::File, &["文件"], &["file"]),
];

/// Characters of "第 3 个阶段" after its number.
pub(crate) const STAGE: &[char] = &['个', '阶', '段', 's', 't', 'a', 'g', 'e', ' '];

/// A path without its folders, and without its ending.
pub(crate) fn short(path: &str) -> impl Iterator<Item = &str> {
    let file = path.rsplit('/').next().filter(|f| *f != path);
    let base = path
        .rsplit('/')
        .next()
        .and_then(|f| f.rsplit_once('.'))
        .map(|(base, _)| base);
    file.into_iter().chain(base)
}

/// `stage 3` and `阶段 3`, whether or not there is such a stage.
pub(crate) fn stage_numbers(lower: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, word) in lower.match_indices('第') {
        let rest = &lower[at + word.len()..];
        let number = rest.trim_start();
        let unit = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let tail = unit.trim_start().trim_start_matches('个').trim_start();
        let names = ["阶段", "stage"]
            .iter()
            .find_map(|name| tail.strip_prefix(name));
        if let Some(after) = names.filter(|_| number.len() > unit.len()) {
            found.push(at..lower.len() - after.len());
        }
    }
    for word in ["stage", "阶段"] {
        for (at, _) in lower.match_indices(word) {
            let rest = &lower[at + word.len()..];
            let blanks = rest.len() - rest.trim_start_matches(' ').len();
            let digits = rest[blanks..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            if digits > 0 {
                found.push(at..at + word.len() + blanks + digits);
            }
        }
    }
    found
}

pub(crate) fn is_stage_number(name: &str) -> bool {
    let lower = name.to_lowercase();
    let rest = lower
        .strip_prefix("stage")
        .or_else(|| lower.strip_prefix("阶段"))
        .or_else(|| Some(lower.strip_prefix('第')?.trim_end_matches(STAGE)));
    rest.is_some_and(|r| !r.trim().is_empty() && r.trim().bytes().all(|b| b.is_ascii_digit()))
}

/// `spark.sql.shuffle.partitions`.
pub(crate) fn is_setting(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower
        .strip_prefix("spark.")
        .is_some_and(|rest| !rest.is_empty())
}

pub(crate) fn is_capital(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_ascii_uppercase())
        && letters.any(|c| c.is_ascii_lowercase())
}

/// Whether a word is in capitals with underscores: `ROW_NUMBER`.
pub(crate) fn is_constant(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_';
    word.contains('_') && word.chars().all(is_part)
}

/// Whether a word can only be a name: `Join_5`, `ClickLog`, `tables.json`, `SV3`.
pub(crate) fn is_name(word: &str) -> bool {
    let has = |test: fn(&u8) -> bool| word.bytes().any(|b| test(&b));
    let letters = has(u8::is_ascii_alphabetic);
    let pairs = word.as_bytes().windows(2);
    let has_hump = pairs
        .clone()
        .any(|p| p[0].is_ascii_lowercase() && p[1].is_ascii_uppercase());
    let is_file = word.rsplit_once('.').is_some_and(|(base, end)| {
        !base.is_empty()
            && (2..=6).contains(&end.len())
            && end.bytes().all(|b| b.is_ascii_alphabetic())
    });
    let is_id = word.len() <= 5
        && matches!(word.as_bytes(), [b'E' | b'F' | b'S' | b'N', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit));
    let is_numbered = word.len() > 2
        && word.as_bytes()[..2].eq_ignore_ascii_case(b"sv")
        && word.as_bytes()[2].is_ascii_digit();
    letters
        && (word.contains('_') || word.contains(' ') || has_hump || is_file || is_id || is_numbered)
}

/// A word of a question with its surroundings.
pub(crate) struct Place<'q> {
    pub(crate) question: &'q str,
    pub(crate) span: Range<usize>,
}

impl Place<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.question[self.span.clone()]
    }

    pub(crate) fn is_quoted(&self) -> bool {
        let before = self.question[..self.span.start].chars().next_back();
        let mut earlier = self.question[..self.span.start].chars().rev().skip(1);
        // the apostrophe of "why's" is no quotation mark
        let is_word = earlier.next().is_some_and(char::is_alphanumeric);
        matches!(before, Some('`' | '"' | '“' | '「')) || before == Some('\'') && !is_word
    }

    pub(crate) fn is_chinese(&self) -> bool {
        report::Language::of(self.question) == report::Language::Zh
    }

    pub(crate) fn begins_sentence(&self) -> bool {
        let before = self.question[..self.span.start].trim_end();
        before.is_empty() || before.ends_with(['.', '?', '!', '。', '？', '！', '，', ','])
    }

    /// The kind named by the word before or after.
    pub(crate) fn kind(&self) -> Option<Kind> {
        let trimmed: &[char] = &[
            ' ', '`', '"', '“', '”', '\'', '「', '」', '：', ':', '这', '个', '该', '的', '是',
        ];
        let [before, after] = [
            self.question[..self.span.start].trim_end_matches(trimmed),
            self.question[self.span.end..].trim_start_matches(trimmed),
        ]
        .map(str::to_lowercase);
        let is_part = |c: char| c.is_ascii_alphanumeric();
        let is_end = |word: &str| {
            before
                .strip_suffix(word)
                .is_some_and(|head| !head.ends_with(is_part))
        };
        let is_start = |word: &str| {
            after
                .strip_prefix(word)
                .is_some_and(|tail| !tail.starts_with(is_part))
        };
        let is_next = |zh: &[&str], en: &[&str]| {
            let is_near = |w: &&str| before.ends_with(*w) || after.starts_with(*w);
            zh.iter().any(is_near) || en.iter().any(|w| is_end(w) || is_start(w))
        };
        let found = KINDS.iter().find(|(_, zh, en)| is_next(zh, en));
        found.map(|(kind, ..)| *kind)
    }
}

/// Letters of a word that may be misspelled, and of the word that is meant.
const MISSPELLED: usize = 4;
const MEANT: usize = 5;

/// Letters at the end of a word that make another form of it.
const FORMS: &str = "sdrnyeg";

/// Words of content that a misspelled word may stand for.
static SPELLINGS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let content = WORDS.iter().filter(|(words, ..)| {
        let is_plain = |word: &Word| matches!(word, Filler | Other | Not);
        !words.iter().all(is_plain)
    });
    let words = content.flat_map(|(_, _, en)| en.split('|'));
    let words = words.map(|word| word.trim_end_matches('*'));
    words
        .filter(|word| word.len() >= MEANT && word.bytes().all(|b| b.is_ascii_lowercase()))
        .collect()
});

/// A text in small letters, with the words of the vocabulary in place of misspelled ones: "spil", "whcih".
pub(crate) fn corrected(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'' | '/');
    let mut corrected = String::new();
    for piece in text.split_inclusive(|c| !is_part(c)) {
        let word = piece.trim_end_matches(|c| !is_part(c));
        let lower = piece.to_lowercase();
        let is_word = word.len() >= MISSPELLED
            && word[1..].bytes().all(|b| b.is_ascii_lowercase())
            && word.as_bytes()[0].is_ascii_alphabetic()
            && !phrases_at(&lower, 0)
                .any(|(phrase, _)| !phrase.is_loose || !phrase.text.ends_with('*'));
        // "move" is a form of "moved"
        let is_form = |word: &str, meant: &str| {
            let same = word
                .bytes()
                .zip(meant.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            let end = word
                .get(same..)
                .filter(|end| !end.is_empty())
                .or(meant.get(same..));
            let is_end = same + 1 >= word.len().max(meant.len());
            is_end && end.is_some_and(|end| FORMS.contains(end))
        };
        let meant = SPELLINGS.iter().filter(|_| is_word).find(|meant| {
            let word = &lower[..word.len()];
            let is_near = strsim::osa_distance(word, meant) == 1;
            lower.starts_with(&meant[..1]) && is_near && !is_form(word, meant)
        });
        match meant {
            Some(meant) => corrected.push_str(&lower.replacen(&lower[..word.len()], meant, 1)),
            None => corrected.push_str(&lower),
        }
    }
    corrected
}
