//! The glossary: the same thing in Chinese, in English and as it is spelt in scripts. A query that says it in one way
//! is also searched in the others.

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::analyse;

/// Names of the same things.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Glossary {
    terms: Vec<Term>,
}

/// One thing and its names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Term {
    zh: Vec<String>,
    en: Vec<String>,
    scope: Vec<String>,
}

impl Glossary {
    /// Reads `[[term]]` entries with `zh`, `en` and `scope`, each a text or a list; what is not valid TOML is empty
    /// (the linter says so).
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

    /// Other names of what `query` names, each once, without those that the query has already.
    pub(crate) fn expand(&self, query: &str) -> Vec<String> {
        let folded = query.to_lowercase();
        let padded = pad(&analyse::terms(query));
        let says = |name: &String| -> bool {
            if name.chars().any(analyse::is_cjk) {
                folded.contains(&name.to_lowercase())
            } else {
                padded.contains(&pad(&analyse::terms(name)))
            }
        };
        let mut out: Vec<String> = Vec::new();
        for term in &self.terms {
            let all = || term.zh.iter().chain(&term.en).chain(&term.scope);
            if all().any(says) {
                for name in all() {
                    if !says(name) && !out.contains(name) {
                        out.push(name.clone());
                    }
                }
            }
        }
        out
    }
}

fn names(value: Option<&Value>) -> Vec<String> {
    let all = match value {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    // A name without a single term (`--`) would be found in every query.
    all.into_iter()
        .filter(|name| !analyse::terms(name).is_empty())
        .collect()
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
        let expanded = glossary().expand("数据倾斜怎么解决");
        assert_eq!(expanded, ["data skew", "skewed data", "SKEWJOIN"]);
        assert_eq!(glossary().expand("BROADCAST join"), ["广播"]);
    }

    #[test]
    fn names_match_whole_terms_only() {
        assert!(glossary().expand("metadata skewing").is_empty());
        assert!(glossary().expand("nothing of it").is_empty());
        assert!(Glossary::parse("[[").expand("broadcast").is_empty());
    }
}
