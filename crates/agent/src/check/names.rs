//! Names in prose: stages, files, causes, ids, hints and all text in backticks must occur in the step's input.

use std::collections::HashSet;
use std::ops::Range;

use job::script::hints;
use report::Cause;

use crate::wording::{is_id, words};

/// The claimed kind of a name, in Chinese and in English.
type What = (&'static str, &'static str);

/// A name that is not known, and what it claims to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unknown {
    pub(super) span: Range<usize>,
    pub(super) what: What,
}

/// Every name that an answer may use.
#[derive(Debug, Default)]
pub(super) struct Names {
    words: HashSet<String>,
    evidence: HashSet<String>,
    chunks: HashSet<String>,
}

/// Endings that make a word a file name of the job.
const FILE_ENDINGS: &[&str] = &[
    ".xml", ".json", ".script", ".usql", ".txt", ".cs", ".abr", ".ss", ".dll",
];

/// Whether a word begins like the code of a cause: `skew.`.
fn is_cause(word: &str) -> bool {
    let family = |code: &'static str| code.split_inclusive('.').next();
    let mut families = Cause::ALL.iter().filter_map(|c| family(c.code()));
    families.any(|family| word.starts_with(family))
}

impl Names {
    /// Collects the words of `texts`, and the ids that may be cited.
    pub(super) fn new<'a>(
        texts: impl IntoIterator<Item = &'a str>,
        ids: impl IntoIterator<Item = &'a String>,
        chunks: impl IntoIterator<Item = &'a str>,
    ) -> Names {
        let mut names = Names::default();
        for text in texts {
            names.words.insert(text.to_lowercase());
            let words = words(text).map(|(_, word)| word.to_lowercase());
            names.words.extend(words);
        }
        names.evidence.extend(ids.into_iter().cloned());
        names.chunks.extend(chunks.into_iter().map(str::to_owned));
        names
    }

    /// Whether a name occurs in the step's input.
    pub(super) fn knows(&self, name: &str) -> bool {
        let name = name.trim().trim_start_matches('@').to_lowercase();
        name.is_empty()
            || self.words.contains(&name)
            || words(&name).all(|(_, word)| self.words.contains(word))
    }

    /// Whether an id of evidence, a finding or a suggestion exists.
    pub(super) fn knows_id(&self, id: &str) -> bool {
        self.evidence.contains(id)
    }

    /// Whether a chunk was given to the step.
    pub(super) fn knows_chunk(&self, chunk: &str) -> bool {
        self.chunks.contains(chunk)
    }

    /// The names of a text that are not known.
    pub(super) fn unknown(&self, text: &str) -> Vec<Unknown> {
        let mut found = Vec::new();
        for (span, word) in words(text) {
            let what = self.fault_of(text, &span, word);
            found.extend(what.map(|what| Unknown { span, what }));
        }
        for span in quoted(text) {
            let inside = &text[span.clone()];
            let mut known = found.iter();
            let overlaps =
                known.any(|u: &Unknown| u.span.start < span.end && span.start < u.span.end);
            if is_identifier(inside) && !overlaps && !self.knows(inside) && !is_hint(inside) {
                found.push(Unknown {
                    span,
                    what: ("名称", "name"),
                });
            }
        }
        found.sort_by_key(|u| u.span.start);
        found
    }

    fn fault_of(&self, text: &str, span: &Range<usize>, word: &str) -> Option<What> {
        let lower = word.to_lowercase();
        let (is_known, what) = if is_id(word) {
            (self.knows_id(word), ("编号", "id"))
        } else if word.contains(".md#") || word.contains(".md") && word.contains('/') {
            (self.knows_chunk(word), ("经验", "experience"))
        } else if is_cause(word) {
            let is_code = Cause::from_code(word.trim_end_matches('.')).is_some();
            (is_code || self.knows(word), ("原因", "cause"))
        } else if is_stage(word) {
            (self.knows(word), ("阶段", "stage"))
        } else if FILE_ENDINGS.iter().any(|end| lower.ends_with(end)) {
            (self.knows(word), ("文件", "file"))
        } else if is_called_hint(text, span, word) {
            (is_hint(word) || self.knows(word), ("提示", "hint"))
        } else {
            return None;
        };
        (!is_known).then_some(what)
    }
}

fn quoted(text: &str) -> Vec<Range<usize>> {
    let ticks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
    let spans = ticks.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]);
    spans.filter(|span| !span.is_empty()).collect()
}

/// One word that looks like a name and not like a piece of code.
fn is_identifier(text: &str) -> bool {
    let text = text.trim_start_matches('@');
    text.len() > 2
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

/// Whether a word has the form of a stage name, as `SV3_Combine`.
fn is_stage(word: &str) -> bool {
    let Some(rest) = word.strip_prefix("SV") else {
        return false;
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && rest[digits..].starts_with('_') && rest.len() > digits + 1
}

/// A word in capitals that the sentence calls a hint.
fn is_called_hint(text: &str, span: &Range<usize>, word: &str) -> bool {
    let capitals = word.len() >= 4 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let around = |rest: &str| {
        let rest = rest
            .trim_start_matches([' ', '`', '"', ']', '）', '」'])
            .to_lowercase();
        rest.starts_with("hint") || rest.starts_with("提示")
    };
    let before = text[..span.start]
        .trim_end_matches([' ', '`', '"', '[', '（', '「', '：', ':'])
        .to_lowercase();
    capitals && (around(&text[span.end..]) || before.ends_with("hint") || before.ends_with("提示"))
}

/// Whether the grammar of hints knows a word: a hint, one of its arguments or a join strategy.
fn is_hint(word: &str) -> bool {
    let upper = word.to_uppercase();
    hints::find(&upper).is_some()
        || hints::JOIN_STRATEGIES.contains(&upper.as_str())
        || hints::KNOWN
            .iter()
            .any(|hint| hint.arguments.contains(&upper.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(text: &str) -> Vec<(String, &'static str)> {
        let names = Names::new(
            [
                "SV3_Combine reads Join_5 on UserId",
                "tables.json",
                "SELECT UserId FROM Clicks",
            ],
            &["E1", "F1", "S1"].map(str::to_owned),
            [
                "experience/skew.md#fix",
                "experience/skew-zh.md#修复/用-skewjoin-提示",
                "experience/skew-zh.md#修复/加盐~2",
            ],
        );
        let unknown = names.unknown(text).into_iter();
        unknown
            .map(|u| (text[u.span].to_owned(), u.what.1))
            .collect()
    }

    #[test]
    fn what_was_seen_is_known() {
        for text in [
            "SV3_Combine is hot [E1], see F1 and tables.json; `UserId` of `Clicks`, cause skew.join_hot_key.",
            "Add the SKEWJOIN hint, see [experience/skew.md#fix].",
            "使用 `SKEWJOIN` 提示（S1）。",
            "先加提示 [experience/skew-zh.md#修复/用-skewjoin-提示]。",
            "经验：experience/skew-zh.md#修复/用-skewjoin-提示、experience/skew.md#fix；",
            "经验：experience/skew-zh.md#修复/加盐~2；",
        ] {
            assert_eq!(unknown(text), [], "{text}");
        }
    }

    #[test]
    fn what_was_not_is_named_with_what_it_claims_to_be() {
        for (text, name, what) in [
            ("SV9_Ghost is slow", "SV9_Ghost", "stage"),
            ("see E44", "E44", "id"),
            ("read secrets.xml", "secrets.xml", "file"),
            ("this is skew.bad_luck", "skew.bad_luck", "cause"),
            ("use the FASTJOIN hint", "FASTJOIN", "hint"),
            ("添加 TURBO 提示", "TURBO", "hint"),
            (
                "[experience/none.md#x] says",
                "experience/none.md#x",
                "experience",
            ),
            (
                "见 [experience/skew-zh.md#取舍]。",
                "experience/skew-zh.md#取舍",
                "experience",
            ),
            ("group by `CustomerZip`", "CustomerZip", "name"),
        ] {
            assert_eq!(unknown(text), [(name.to_owned(), what)], "{text}");
        }
    }
}
