//! The glossary: names of the same thing in Chinese, in English and in scripts. A query that uses one name is also searched by the
//! others.

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::analyze;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Glossary {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Term {
    zh: Vec<String>,
    en: Vec<String>,
    scope: Vec<String>,
}

/// Another name for something in the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expansion {
    pub(crate) name: String,
    /// Number of names added for the same thing in the same script, this one included.
    pub(crate) rivals: usize,
}

impl Glossary {
    /// Reads `[[term]]` entries with `zh`, `en` and `scope`, each a string or a list; invalid TOML gives an empty glossary
    /// (the linter reports it).
    pub(crate) fn parse(text: &str) -> Glossary {
        let Ok(table) = text.parse::<toml::Table>() else {
            return Glossary::default();
        };
        let entries = table.values().filter_map(Value::as_array).flatten();
        let terms = entries
            .filter_map(Value::as_table)
            .map(|entry| Term {
                zh: names(entry.get("zh")),
                en: names(entry.get("en")),
                scope: names(entry.get("scope")),
            })
            .filter(|term| term.zh.len() + term.en.len() + term.scope.len() > 1)
            .collect();
        Glossary { terms }
    }

    /// Other names for what `query` mentions, without duplicates and without those it already contains.
    pub(crate) fn expand(&self, query: &str) -> Vec<Expansion> {
        let folded = query.to_lowercase();
        let padded = pad(&analyze::terms(query));
        let says = |name: &String| -> bool {
            if is_cjk(name) {
                folded.contains(&name.to_lowercase())
            } else {
                padded.contains(&pad(&analyze::terms(name)))
            }
        };
        let mut out: Vec<Expansion> = Vec::new();
        for term in &self.terms {
            let all = || term.zh.iter().chain(&term.en).chain(&term.scope);
            if !all().any(says) {
                continue;
            }
            let (cjk, latin): (Vec<&String>, Vec<&String>) = all()
                .filter(|name| !says(name))
                .partition(|name| is_cjk(name));
            for rivals in [cjk, latin] {
                for &name in &rivals {
                    if !out.iter().any(|known| known.name == *name) {
                        out.push(Expansion {
                            name: name.clone(),
                            rivals: rivals.len(),
                        });
                    }
                }
            }
        }
        out
    }
}

fn is_cjk(name: &str) -> bool {
    name.chars().any(analyze::is_cjk)
}

fn names(value: Option<&Value>) -> Vec<String> {
    let all = value.map(texts).unwrap_or_default();
    // A name without a term (`--`) would be found in every query.
    all.into_iter()
        .filter(|name| !analyze::terms(name).is_empty())
        .collect()
}

/// A string, or the strings of a list.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let items = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    let texts = items.iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// Terms with a space around each, so that a name is found at term boundaries only.
fn pad(terms: &[String]) -> String {
    format!(" {} ", terms.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glossary() -> Glossary {
        Glossary::parse(
            "[[term]]\nzh = [\"数据倾斜\"]\nen = [\"data skew\", \"skewed data\"]\nscope = \"SKEWJOIN\"\n\
             [[term]]\nen = \"broadcast\"\nzh = \"广播\"\n[[term]]\nen = \"alone\"\n",
        )
    }

    #[test]
    fn a_name_brings_the_other_names() {
        let names = |query: &str| -> Vec<(String, usize)> {
            let expanded = glossary().expand(query);
            expanded.into_iter().map(|e| (e.name, e.rivals)).collect()
        };
        let named = |name: &str, rivals: usize| (name.to_owned(), rivals);
        assert_eq!(
            names("数据倾斜怎么解决"),
            [
                named("data skew", 3),
                named("skewed data", 3),
                named("SKEWJOIN", 3)
            ]
        );
        assert_eq!(names("BROADCAST join"), [named("广播", 1)]);
    }

    #[test]
    fn names_match_whole_terms_only() {
        assert!(glossary().expand("metadata skewing").is_empty());
        assert!(glossary().expand("nothing of it").is_empty());
        assert!(Glossary::parse("[[").expand("broadcast").is_empty());
    }
}
