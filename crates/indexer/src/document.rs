//! A document of the knowledge base: its path, front matter and kind.

use std::{fmt, iter};

use report::Language;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::analyze;
use crate::model::{Confidence, Engine, Kind};

/// A document as read; the path is relative to the knowledge folder.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    /// Questions that a program made for the page.
    pub(crate) generated: Vec<String>,
}

impl Source {
    /// Drops a byte order mark, and makes the path use `/`.
    pub(crate) fn new(path: &str, text: String) -> Source {
        Source {
            path: path.replace('\\', "/"),
            text: text
                .strip_prefix('\u{feff}')
                .map(str::to_owned)
                .unwrap_or(text),
            generated: Vec::new(),
        }
    }
}

/// Every field is optional here; the linter reports missing ones.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FrontMatter {
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) engine: Engine,
    pub(crate) problem_type: Option<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) causes: Vec<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) operators: Vec<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) keywords: Vec<String>,
    /// Questions and pasted lines that the document answers.
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) questions: Vec<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) steps: Vec<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) related: Vec<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) source: Vec<String>,
    pub(crate) confidence: Option<Confidence>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) reviewed: Vec<String>,
}

pub(crate) struct Document<'a> {
    pub(crate) path: &'a str,
    pub(crate) kind: Kind,
    pub(crate) language: Language,
    pub(crate) front: FrontMatter,
    /// The text of the front matter.
    pub(crate) yaml: Option<&'a str>,
    pub(crate) body_start: usize,
    pub(crate) text: &'a str,
    /// Questions that a program made.
    pub(crate) generated: &'a [String],
    /// Why the front matter cannot be read.
    pub(crate) front_errors: Vec<Problem>,
}

/// A place in a document that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) reason: String,
}

impl<'a> Document<'a> {
    /// The line of a case that its author must still fill in, counted from 0.
    fn unfinished(&self) -> Option<usize> {
        let mut lines = self.text.lines().filter(|_| self.kind == Kind::Case);
        lines.position(|line| line.contains(report::FILL_IN))
    }

    pub(crate) fn parse(source: &'a Source) -> Document<'a> {
        let (yaml, body_start) = split_front_matter(&source.text);
        let (front, front_errors) = match yaml.map(front_matter) {
            None => (FrontMatter::default(), Vec::new()),
            Some(Ok(front)) => (front, Vec::new()),
            Some(Err(errors)) => (FrontMatter::default(), errors),
        };
        let body = &source.text[body_start..];
        let stated = front.language.as_deref().and_then(Language::parse);
        let language = stated.unwrap_or_else(|| analyze::detect_language(body));
        Document {
            path: &source.path,
            kind: kind_of(&source.path),
            language,
            front,
            yaml,
            body_start,
            text: &source.text,
            generated: &source.generated,
            front_errors,
        }
    }

    pub(crate) fn body(&self) -> &'a str {
        &self.text[self.body_start..]
    }
}

/// # Errors
/// All of them, with their lines: each key is read by itself once the whole cannot be read.
fn front_matter(yaml: &str) -> Result<FrontMatter, Vec<Problem>> {
    let read = |text: &str| serde_saphyr::from_str::<Option<FrontMatter>>(text);
    let whole = match read(yaml) {
        Ok(front) => return Ok(front.unwrap_or_default()),
        Err(error) => problem(&error, yaml, OPENING),
    };
    let starts_entry = |line: &str| !line.starts_with([' ', '\t', '-', '#', '\r', '\n']);
    let mut entries: Vec<(usize, String)> = Vec::new();
    for (number, line) in yaml.split_inclusive('\n').enumerate() {
        match entries.last_mut() {
            Some((_, entry)) if !starts_entry(line) => entry.push_str(line),
            _ => entries.push((number, line.to_owned())),
        }
    }
    let entries = entries.iter();
    let errors = entries.filter_map(|(at, entry)| {
        let error = read(entry).err()?;
        Some(problem(&error, entry, OPENING + at))
    });
    let errors: Vec<Problem> = errors.collect();
    // As with a key that occurs twice.
    Err(if errors.is_empty() {
        vec![whole]
    } else {
        errors
    })
}

/// The line `---` before the front matter.
const OPENING: usize = 1;

/// `before` is the number of lines before `read`. An unclosed construct is reported at the start of `read`, not at its end.
fn problem(error: &serde_saphyr::Error, read: &str, before: usize) -> Problem {
    let line = error.location().map_or(1, |at| at.line() as usize);
    let line = match (1..=read.lines().count()).contains(&line) {
        true => line,
        false => 1,
    };
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    // the parser's own place counts from the start of `read`
    let reason = match first.split_once(": ") {
        Some((place, reason)) if place.starts_with("line ") => reason,
        _ => first,
    };
    Problem {
        line: before + line,
        reason: reason.to_owned(),
    }
}

/// The syntax error or open place that prevents `source` from being indexed as intended.
pub(crate) fn broken(source: &Source) -> Option<Problem> {
    if source.path.ends_with(".toml") {
        return toml_table(&source.text).err();
    }
    let document = Document::parse(source);
    if let Some(at) = document.unfinished() {
        return Some(Problem {
            line: at + 1,
            reason: report::say!("案例尚未写完", "the case is unfinished"),
        });
    }
    let first = document.front_errors.into_iter().next()?;
    Some(Problem {
        reason: format!("the front matter cannot be read: {}", first.reason),
        ..first
    })
}

/// Whether it is a case that an update leaves out until it is complete.
pub(crate) fn is_unfinished(source: &Source) -> bool {
    !source.path.ends_with(".toml") && Document::parse(source).unfinished().is_some()
}

pub(crate) fn toml_table(text: &str) -> Result<toml::Table, Problem> {
    text.parse::<toml::Table>().map_err(toml_problem(text))
}

/// The tables in all arrays of a table: the entries of a catalogue.
pub(crate) fn entries(table: &toml::Table) -> impl Iterator<Item = &toml::Table> {
    let entries = table.values().filter_map(toml::Value::as_array).flatten();
    entries.filter_map(toml::Value::as_table)
}

/// For `map_err`.
pub(crate) fn toml_problem(text: &str) -> impl Fn(toml::de::Error) -> Problem + '_ {
    move |error| {
        let at = error.span().map_or(0, |span| span.start);
        Problem {
            line: line_at(text.as_bytes(), at.min(text.len())),
            reason: error.message().to_owned(),
        }
    }
}

pub(crate) fn kind_of(path: &str) -> Kind {
    match path.split('/').next() {
        Some("experience") => Kind::Experience,
        Some("cases") => Kind::Case,
        _ => Kind::Document,
    }
}

/// Language of the person who asks: in a question in Chinese, a pasted error or script is most of the text, and "报错" may be all of the rest.
pub(crate) fn language_of_query(text: &str) -> Language {
    match text.contains(analyze::is_cjk) {
        true => Language::Zh,
        false => Language::En,
    }
}

/// A string of TOML or YAML: their escapes are supersets of JSON's.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Name of the file without folder and `.md`.
pub(crate) fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_end_matches(".md")
}

/// The line of the byte offset `at`, from 1.
pub(crate) fn line_at(text: &[u8], at: usize) -> usize {
    1 + text[..at].iter().filter(|&&byte| byte == b'\n').count()
}

/// The YAML between two `---` lines at the start, and the offset of the rest. Without a closing line, there is no
/// front matter.
pub(crate) fn split_front_matter(text: &str) -> (Option<&str>, usize) {
    let Some(first) = text.split_inclusive('\n').next() else {
        return (None, 0);
    };
    if first.trim_end() != "---" || !first.ends_with('\n') {
        return (None, 0);
    }
    let start = first.len();
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (Some(&text[start..at]), at + line.len());
        }
        at += line.len();
    }
    (None, 0)
}

/// Reads `causes: skew.join_hot_key` as well as a list; numbers and dates are read as text.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    deserializer.deserialize_any(OneOrMany)
}

struct OneOrMany;

impl<'de> Visitor<'de> for OneOrMany {
    type Value = Vec<String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string or a list of strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
        iter::from_fn(|| items.next_element().transpose()).collect()
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<String>, E> {
        Ok(Vec::new())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<String>, E> {
        Ok(vec![text.to_owned()])
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Vec<String>, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Vec<String>, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Vec<String>, E> {
        self.visit_str(&value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_read_and_its_lists_may_be_single() {
        let source = Source::new(
            "experience\\a.md",
            "---\nid: a\ntitle: 标题\nlanguage: zh\ncauses: skew.join_hot_key\noperators: [JOIN, REDUCE]\n\
             confidence: general knowledge\nreviewed: 2026-01-02\n---\n# 标题\n"
                .to_owned(),
        );
        let document = Document::parse(&source);
        assert_eq!(document.front_errors, []);
        assert_eq!(document.path, "experience/a.md");
        assert_eq!(document.kind, Kind::Experience);
        assert_eq!(document.language, Language::Zh);
        assert_eq!(document.front.causes, ["skew.join_hot_key"]);
        assert_eq!(document.front.operators, ["JOIN", "REDUCE"]);
        let confidence = Some(Confidence::GeneralKnowledge);
        assert_eq!(document.front.confidence, confidence);
        assert_eq!(document.front.reviewed, ["2026-01-02"]);
        assert_eq!(document.body(), "# 标题\n");
    }

    #[test]
    fn every_error_of_the_front_matter_is_named_with_its_line() {
        for (front, lines) in [
            ("causes: [a", vec![2]),
            (
                "id: a\ncauses: [a\nkeywords:\n  - b\n  - {c: d}\ntitle: \"x",
                vec![3, 6, 7],
            ),
            (
                "id: a\nconfidence: sure\nlanguage: zh\ncauses: {a: b}",
                vec![3, 5],
            ),
            ("title: \"x\n  y\nid: a", vec![2]),
            ("steps:\n  - [a]\n  - 1", vec![3]),
            ("id: a\nid: b", vec![3]),
        ] {
            let text = format!("---\n{front}\n---\n数据倾斜的处理\n");
            let source = Source::new("x.md", text);
            let document = Document::parse(&source);
            let found = document.front_errors.iter().map(|problem| problem.line);
            assert_eq!(
                found.collect::<Vec<_>>(),
                lines,
                "{front}: {:?}",
                document.front_errors
            );
            assert_eq!(document.body(), "数据倾斜的处理\n");
            assert_eq!(document.language, Language::Zh);
        }
    }

    #[test]
    fn a_rule_at_the_top_without_an_end_is_not_front_matter() {
        for text in ["---\ntext", "", "--- x\n---\n"] {
            assert_eq!(split_front_matter(text), (None, 0));
        }
    }
}
