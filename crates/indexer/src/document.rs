//! A document of the knowledge base: where it lies, its front matter, its kind. Knows nothing of chunks.

use serde::{Deserialize, Deserializer};

use crate::analyse;
use crate::model::{Confidence, Kind, Language};

/// A document as it was read: path relative to the knowledge folder, and its text.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Drops a byte order mark, and makes the path use `/`.
    pub(crate) fn new(path: &str, text: String) -> Source {
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        Source {
            path: path.replace('\\', "/"),
            text,
        }
    }
}

/// What a document says about itself. Every field may be missing; the linter asks for what should be there.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FrontMatter {
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
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

/// A Markdown document taken apart.
pub(crate) struct Document<'a> {
    pub(crate) path: &'a str,
    pub(crate) kind: Kind,
    pub(crate) language: Language,
    pub(crate) front: FrontMatter,
    /// Byte offset at which the text after the front matter starts.
    pub(crate) body_start: usize,
    pub(crate) text: &'a str,
    /// Why the front matter could not be read, if it could not; the text is indexed all the same.
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
        let language = front
            .language
            .as_deref()
            .and_then(Language::parse)
            .unwrap_or_else(|| detect_language(body));
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

/// The kind of a document follows from where it lies.
pub(crate) fn kind_of(path: &str) -> Kind {
    match path.split('/').next() {
        Some("experience") => Kind::Experience,
        Some("cases") => Kind::Case,
        _ => Kind::Document,
    }
}

/// Chinese technical prose is full of English names, so a third is enough.
pub(crate) fn detect_language(text: &str) -> Language {
    if analyse::cjk_share(text) > 0.33 {
        Language::Zh
    } else {
        Language::En
    }
}

/// The YAML between two `---` lines at the start, and where the rest begins. Without a closing line there is none.
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

/// Reads `causes: skew.join_hot_key` as well as a list; numbers and dates are taken as their text.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Visitor;
    impl<'de> serde::de::Visitor<'de> for Visitor {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a text or a list of texts")
        }
        fn visit_unit<E>(self) -> Result<Vec<String>, E> {
            Ok(Vec::new())
        }
        fn visit_none<E>(self) -> Result<Vec<String>, E> {
            Ok(Vec::new())
        }
        fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Vec<String>, D::Error> {
            inner.deserialize_any(self)
        }
        fn visit_str<E>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }
        fn visit_bool<E>(self, value: bool) -> Result<Vec<String>, E> {
            Ok(vec![value.to_string()])
        }
        fn visit_i64<E>(self, value: i64) -> Result<Vec<String>, E> {
            Ok(vec![value.to_string()])
        }
        fn visit_u64<E>(self, value: u64) -> Result<Vec<String>, E> {
            Ok(vec![value.to_string()])
        }
        fn visit_f64<E>(self, value: f64) -> Result<Vec<String>, E> {
            Ok(vec![value.to_string()])
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut items: A,
        ) -> Result<Vec<String>, A::Error> {
            let mut out = Vec::new();
            while let Some(item) = items.next_element::<String>()? {
                out.push(item);
            }
            Ok(out)
        }
    }
    deserializer.deserialize_any(Visitor)
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
        assert_eq!(
            document.front.confidence,
            Some(Confidence::GeneralKnowledge)
        );
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
        assert_eq!(split_front_matter("---\ntext"), (None, 0));
        assert_eq!(split_front_matter(""), (None, 0));
        assert_eq!(split_front_matter("--- x\n---\n"), (None, 0));
    }
}
