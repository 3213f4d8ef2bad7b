//! The glossary: names of the same thing in Chinese, in English and in scripts. A query that uses one name is also searched by the
//! others.

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::analyze;
use crate::document::entries;
use crate::model::Engine;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Glossary {
    terms: Vec<Term>,
    #[serde(default)]
    systems: Systems,
}

/// Mark of a name that is also an ordinary word, or a name in other systems.
const SHARED: char = '?';

/// Names that decide which system a query is about, in lower case: products, interfaces, syntax.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Systems {
    /// A name that ends in [`SHARED`] counts only in a query that names no other system.
    spark: Vec<String>,
    /// A name that ends in [`SHARED`] does not decide beside a product name of Spark.
    scope: Vec<String>,
    /// Of systems that no page is about.
    elsewhere: Vec<String>,
    /// Of the engines themselves. They decide the engine, but not the problem.
    products: Vec<String>,
    /// Names in `elsewhere` that have the name of an engine as a part.
    longer: Vec<String>,
}

/// The system that a query names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Engine(Engine),
    Elsewhere,
}

/// The names of one thing.
type Term = Vec<Name>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Name {
    text: String,
    is_cjk: bool,
    /// A query that contains this key names the entry: letters, or padded terms.
    key: String,
}

impl Name {
    fn new(text: String) -> Name {
        let is_cjk = text.chars().any(analyze::is_cjk);
        let key = match is_cjk {
            true => text.to_lowercase(),
            false => pad(&analyze::terms(&text)),
        };
        Name { text, is_cjk, key }
    }
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
        let terms = entries(&table).map(|entry| -> Term {
            let values = ["zh", "en", "scope"]
                .into_iter()
                .filter_map(|key| entry.get(key));
            // A name without a term (`--`) would be found in every query.
            let names = values
                .flat_map(texts)
                .filter(|name| !analyze::terms(name).is_empty());
            names.map(Name::new).collect()
        });
        let terms = terms.filter(|term| term.len() > 1);
        let systems = table.get("systems").cloned();
        let systems = systems.and_then(|systems| systems.try_into::<Systems>().ok());
        let mut systems = systems.unwrap_or_default();
        let Systems {
            spark,
            scope,
            elsewhere,
            products,
            longer,
        } = &mut systems;
        let lists = [&mut *spark, scope, elsewhere, products];
        for name in lists.into_iter().flatten() {
            *name = name.to_lowercase();
        }
        let engines = || {
            spark
                .iter()
                .chain(&*scope)
                .map(|e| e.trim_end_matches(SHARED))
        };
        let is_longer = |name: &&String| engines().any(|e| has_word(name, e));
        *longer = elsewhere.iter().filter(is_longer).cloned().collect();
        Glossary {
            terms: terms.collect(),
            systems,
        }
    }

    /// The system that `query` is about, by the names in it. Another system named along with an engine is a part of its surroundings. The
    /// name of another system may have an engine's name as a part: it doesn't name the engine. A query with the names of both engines asks
    /// about SCOPE in Spark's words: of the tuning judgments with both, 63 of 69 are about SCOPE and 4 about Spark.
    pub(crate) fn named(&self, query: &str) -> Option<Named> {
        let Systems {
            spark,
            scope,
            elsewhere,
            products,
            longer,
        } = &self.systems;
        let mut query = query.to_lowercase();
        let is_other = longer.iter().any(|name| has_word(&query, name));
        for name in longer {
            query = query.replace(name.as_str(), " ");
        }
        let says = |names: &[String]| {
            let mut names = names.iter().filter(|name| !name.ends_with(SHARED));
            names.any(|name| has_words(&query, name))
        };
        let says_shared = |names: &[String]| {
            let mut names = names.iter().filter_map(|name| name.strip_suffix(SHARED));
            names.any(|name| has_words(&query, name))
        };
        let mut of_spark = products.iter().filter(|name| spark.contains(name));
        let says_spark = of_spark.any(|name| has_words(&query, name));
        if !says(scope) && says_shared(scope) && says_spark {
            None
        } else if says(scope) || says_shared(scope) {
            Some(Named::Engine(Engine::Scope))
        } else if says(spark) {
            Some(Named::Engine(Engine::Spark))
        } else if is_other || says(elsewhere) {
            Some(Named::Elsewhere)
        } else {
            says_shared(spark).then_some(Named::Engine(Engine::Spark))
        }
    }

    /// Terms of the names of engines in `query`.
    pub(crate) fn product_terms(&self, query: &str) -> Vec<String> {
        let query = query.to_lowercase();
        let products = self.systems.products.iter();
        let named = products.filter(|name| has_words(&query, name));
        named.flat_map(|name| analyze::terms(name)).collect()
    }

    /// Other names for things in `query`, without duplicates and without names that the query contains.
    pub(crate) fn expand(&self, query: &str) -> Vec<Expansion> {
        let folded = query.to_lowercase();
        let padded = pad(&analyze::terms(query));
        let says = |name: &Name| match name.is_cjk {
            true => folded.contains(&name.key),
            false => padded.contains(&name.key),
        };
        let mut out: Vec<Expansion> = Vec::new();
        for term in &self.terms {
            if !term.iter().any(says) {
                continue;
            }
            let others = term.iter().filter(|name| !says(name));
            let (cjk, latin): (Vec<_>, Vec<_>) = others.partition(|name| name.is_cjk);
            for all in [cjk, latin] {
                let rivals = all.len();
                for name in all.into_iter().map(|name| name.text.clone()) {
                    if !out.iter().any(|known| known.name == name) {
                        out.push(Expansion { name, rivals });
                    }
                }
            }
        }
        out
    }
}

/// Whether `text` has each part of `name`, which are joined by ` + `.
fn has_words(text: &str, name: &str) -> bool {
    name.split(" + ").all(|part| has_word(text, part))
}

/// Whether `text` has `name`, not as a part of a longer Latin word.
fn has_word(text: &str, name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    let (first, last) = (name.starts_with(is_letter), name.ends_with(is_letter));
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !(first && before.ends_with(is_letter) || last && after.starts_with(is_letter))
    })
}

/// All texts of a value.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Table(table) => table.values().flat_map(texts).collect(),
        Value::Boolean(_) => Vec::new(),
        other => vec![other.to_string()],
    }
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
        for (query, expected) in [
            ("数据倾斜怎么解决", "data skew 3, skewed data 3, SKEWJOIN 3"),
            ("BROADCAST join", "广播 1"),
        ] {
            let expanded = glossary().expand(query);
            let names = expanded.iter().map(|e| format!("{} {}", e.name, e.rivals));
            assert_eq!(names.collect::<Vec<_>>().join(", "), expected);
        }
    }

    #[test]
    fn the_system_named_decides() {
        let glossary = Glossary::parse(
            "[systems]\nspark = [\"Spark\", \"withColumn\", \"stage + task\", \"Hive?\"]\nscope = [\"U-SQL\", \"Extractors.\", \"vertices?\"]\nproducts = [\"Spark\"]\nelsewhere = [\"Flink\", \"spark plug\"]\n",
        );
        for (query, expected) in [
            ("spark 任务突然变慢", Some(Named::Engine(Engine::Spark))),
            ("df.withColumn(c)", Some(Named::Engine(Engine::Spark))),
            ("USING Extractors.Tsv()", Some(Named::Engine(Engine::Scope))),
            ("Flink 反压", Some(Named::Elsewhere)),
            ("flink to spark", Some(Named::Engine(Engine::Spark))),
            (
                "why is it slow in Hive?",
                Some(Named::Engine(Engine::Spark)),
            ),
            ("Flink 写 Hive 表很慢", Some(Named::Elsewhere)),
            ("withColumn in U-SQL", Some(Named::Engine(Engine::Scope))),
            ("a Hive table in U-SQL", Some(Named::Engine(Engine::Scope))),
            (
                "many vertices in withColumn",
                Some(Named::Engine(Engine::Scope)),
            ),
            ("GraphX in Spark: many vertices", None),
            ("sparkling flinks", None),
            ("a new spark plug", Some(Named::Elsewhere)),
            (
                "1 个 task 卡住，整个 stage 都在等",
                Some(Named::Engine(Engine::Spark)),
            ),
            ("one task is slow", None),
        ] {
            assert_eq!(glossary.named(query), expected, "{query}");
        }
    }

    #[test]
    fn names_match_whole_terms_only() {
        assert!(glossary().expand("metadata skewing").is_empty());
        assert!(glossary().expand("nothing of it").is_empty());
        assert!(Glossary::parse("[[").expand("broadcast").is_empty());
    }
}
