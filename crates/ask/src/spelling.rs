//! Recognizes names, numbers of stages, settings and paths by their spelling.

use std::ops::Range;

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
