//! A document of the knowledge base: its path, front matter and kind. Knows nothing about chunks.

use report::Language;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::analyze;
use crate::model::{Confidence, Engine, Kind};

/// A document as read; the path is relative to the knowledge folder.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
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
        }
    }
}

/// Every field may be missing; the linter asks for those that should be there.
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
    pub(crate) body_start: usize,
    pub(crate) text: &'a str,
    /// Why the front matter could not be read; the text is indexed anyway.
    pub(crate) front_error: Option<String>,
}

impl<'a> Document<'a> {
    pub(crate) fn parse(source: &'a Source) -> Document<'a> {
        let (yaml, body_start) = split_front_matter(&source.text);
        let (front, front_error) = match yaml.map(serde_saphyr::from_str::<Option<FrontMatter>>) {
            None | Some(Ok(None)) => (FrontMatter::default(), None),
            Some(Ok(Some(front))) => (front, None),
            Some(Err(error)) => (FrontMatter::default(), Some(error.to_string())),
        };
        let body = &source.text[body_start..];
        let stated = front.language.as_deref().and_then(Language::parse);
        let language = stated.unwrap_or_else(|| detect_language(body));
        Document {
            path: &source.path,
            kind: kind_of(&source.path),
            language,
            front,
            body_start,
            text: &source.text,
            front_error,
        }
    }

    pub(crate) fn body(&self) -> &'a str {
        &self.text[self.body_start..]
    }
}

pub(crate) fn kind_of(path: &str) -> Kind {
    match path.split('/').next() {
        Some("experience") => Kind::Experience,
        Some("cases") => Kind::Case,
        _ => Kind::Document,
    }
}

/// Chinese technical prose is full of English names, so a third of it is enough.
pub(crate) fn detect_language(text: &str) -> Language {
    if analyze::cjk_share(text) > 0.33 {
        Language::Zh
    } else {
        Language::En
    }
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

/// The YAML between two `---` lines at the start, and the offset of the rest. Without a closing line there is none.
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
    let texts = |value| match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Bool(_) | Value::Number(_) => Ok(Some(value.to_string())),
        Value::Array(_) | Value::Object(_) => {
            Err(D::Error::custom("expected a string or a list of strings"))
        }
    };
    let items = match Value::deserialize(deserializer)? {
        Value::Array(items) => items,
        value => vec![value],
    };
    let texts = items.into_iter().map(texts);
    texts.filter_map(Result::transpose).collect()
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
        assert_eq!(document.front_error, None);
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
    fn broken_front_matter_is_named_and_the_text_kept() {
        let source = Source::new("x.md", "---\ncauses: [a\n---\n数据倾斜的处理\n".to_owned());
        let document = Document::parse(&source);
        assert!(document.front_error.is_some());
        assert_eq!(document.body(), "数据倾斜的处理\n");
        assert_eq!(document.language, Language::Zh);
    }

    #[test]
    fn a_rule_at_the_top_without_an_end_is_not_front_matter() {
        for text in ["---\ntext", "", "--- x\n---\n"] {
            assert_eq!(split_front_matter(text), (None, 0));
        }
    }
}
