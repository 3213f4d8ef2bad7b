//! Small pieces of wording that both languages and all steps share: sentences, citations, shortened texts.

use std::ops::Range;

use report::format::{Names, cut, with_capital, with_unit};
use report::{Language, Localize, text};

/// `E12`, `F1`, `S3`: a letter and at most three digits.
pub(crate) fn is_id(word: &str) -> bool {
    let mut chars = word.chars();
    let first = chars.next().is_some_and(|c| matches!(c, 'E' | 'F' | 'S'));
    let rest = chars.as_str();
    first && (1..=3).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_digit())
}

/// Lines in the language of a report.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    language: Language,
    pub(crate) lines: Vec<String>,
}

impl Lines {
    pub(crate) fn new(language: Language) -> Lines {
        let lines = Vec::new();
        Lines { language, lines }
    }

    pub(crate) fn say(&mut self, line: impl Localize) {
        self.lines.push(line.localize(self.language));
    }

    /// Adds a line about the line before.
    pub(crate) fn detail(&mut self, line: impl Localize) {
        self.say(format!("  {}", line.localize(self.language)));
    }
}

/// An operator in a row of a stage: its id, with its keys in parentheses.
pub fn operator(id: &str, keys: &[String], language: Language) -> String {
    let keys = named(keys, language).map(|keys| text!("（{keys}）", " ({keys})"));
    id.to_owned() + &keys.localize(language)
}

/// A fragment as a sentence: a capital at its beginning (unless it begins with a name) and a stop
/// at its end.
pub(crate) fn sentence(text: &str, language: Language) -> String {
    let text = text.trim();
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let is_plain = first_word
        .chars()
        .all(|c| c.is_ascii_lowercase() || c == ',');
    let mut out = match is_plain {
        true => with_capital(text),
        false => text.to_owned(),
    };
    // Text of a file may be English; its stop would run into the Chinese that follows.
    if language == Language::Zh && out.ends_with('.') && !out.ends_with("..") {
        out.pop();
    }
    if !out.is_empty() && !out.ends_with(['.', '。', '!', '?', '！', '？', ':', '：']) {
        out.push(language.select('。', '.'));
    }
    out
}

/// The sentence that names the experience behind a text; empty without any.
pub(crate) fn citing(chunks: &[String], language: Language) -> String {
    let named = named(chunks, language);
    let cited = named.map(|chunks| text!("相关经验：{chunks}。", " Experience: {chunks}."));
    cited.localize(language)
}

/// Names, keys or ids in a row.
pub(crate) fn names<S: AsRef<str>>(items: &[S], language: Language) -> String {
    Names(items).localize(language)
}

/// Names, keys or ids in a row; `None` without any.
pub(crate) fn named<S: AsRef<str>>(items: &[S], language: Language) -> Option<String> {
    Some(names(items, language)).filter(|names| !names.is_empty())
}

/// The known numbers of a thing in a row, each with its unit; `None` without any.
pub(crate) fn amounts(numbers: &[(Option<f64>, &str)], language: Language) -> Option<String> {
    let known = numbers
        .iter()
        .filter_map(|(n, unit)| Some(with_unit((*n)?, unit, language)));
    named(&known.collect::<Vec<_>>(), language)
}

/// Whether a text cites something by its id.
pub fn cites(text: &str, id: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| word == id)
}

/// A term and its explanation.
pub(crate) fn labeled(term: &str, said: &str, language: Language) -> String {
    format!("{term}{}{said}", language.select("：", ": "))
}

/// A term that lines about it follow.
pub(crate) fn heading(term: &str, language: Language) -> String {
    format!("{term}{}", language.select("：", ":"))
}

/// Joins lines into one: text after a heading belongs to it, all other lines are separated.
pub(crate) fn run_on(lines: &[String], language: Language) -> String {
    let mut out = String::new();
    for line in lines {
        out.push_str(match (out.chars().next_back(), language) {
            (None | Some('：'), _) => "",
            (Some(':'), _) => " ",
            (_, Language::Zh) => "；",
            (_, Language::En) => "; ",
        });
        out.push_str(line.trim());
    }
    out
}

/// Cuts a text to `most` bytes and marks the cut with `…`; returns whether there was one.
pub(crate) fn shorten(text: &mut String, most: usize) -> bool {
    let kept = cut(text, most).len();
    let is_longer = kept < text.len();
    if is_longer {
        text.truncate(kept);
        text.push('…');
    }
    is_longer
}

pub(crate) fn joined(sentences: &[String], language: Language) -> String {
    sentences.join(language.select("", " "))
}

/// Words: runs of letters, digits and the marks that names hold.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let is_part =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '#' | '-' | '$');
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_part)?;
        let end_of = |from: usize, is_part: &dyn Fn(char) -> bool| {
            let length = text[from..].find(|c| !is_part(c));
            length.map_or(text.len(), |n| from + n)
        };
        let mut end = end_of(start, &is_part);
        // The id of a passage ends with its heading, which may be Chinese, and the number of a long section's part.
        if text[start..end].contains(".md#") {
            end = end_of(end, &|c| {
                c.is_alphanumeric() || matches!(c, '_' | '/' | '-' | '~')
            });
        }
        at = end;
        let word = text[start..end].trim_end_matches(['.', '-', '/', '#']);
        Some((start..start + word.len(), word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_become_sentences() {
        let en = |text| sentence(text, Language::En);
        assert_eq!(en("the stage is slow"), "The stage is slow.");
        assert_eq!(en("SV3_Combine is slow."), "SV3_Combine is slow.");
        assert_eq!(en("tables.json holds it"), "tables.json holds it.");
        let zh = |text| sentence(text, Language::Zh);
        assert_eq!(zh("倾斜"), "倾斜。");
        assert_eq!(
            zh("异常：Input string was null."),
            "异常：Input string was null。"
        );
        assert_eq!(zh("等待中..."), "等待中...");
    }

    #[test]
    fn lists_follow_the_language() {
        let chunks = ["a.md#x".to_owned(), "b.md#y".to_owned()];
        let (zh, en) = (citing(&chunks, Language::Zh), citing(&chunks, Language::En));
        assert_eq!(zh, "相关经验：a.md#x、b.md#y。");
        assert_eq!(en, " Experience: a.md#x, b.md#y.");
        assert_eq!(labeled("F1", "慢", Language::Zh), "F1：慢");
    }

    #[test]
    fn a_heading_is_not_set_apart_from_what_it_is_about() {
        let lines = ["Trips:", "  12 rows", "  by Id", "Points:", "  3 rows"].map(str::to_owned);
        let en = run_on(&lines, Language::En);
        assert_eq!(en, "Trips: 12 rows; by Id; Points: 3 rows");
        let lines = ["Trips：", "  12 行", "  按 Id"].map(str::to_owned);
        assert_eq!(run_on(&lines, Language::Zh), "Trips：12 行；按 Id");
    }
}
