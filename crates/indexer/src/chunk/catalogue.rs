//! The catalogues `files.toml` and `glossary.toml`: one chunk per entry.
//!
//! Unknown keys are indexed as text, so curators may add some.

use std::collections::HashMap;

use toml::Table;

use super::facets::steps_of;
use super::markdown::unique;
use super::slug::slug;
use crate::document::{Source, entries};
use crate::glossary::texts;
use crate::model::{Chunk, Engine, Kind};

/// Keys that are facets rather than text.
const FACET_KEYS: [&str; 5] = ["causes", "problem_type", "keywords", "operators", "steps"];

/// Every array of tables is a list of entries. Invalid TOML gives no chunks.
pub(crate) fn catalogue(source: &Source) -> Vec<Chunk> {
    let kind = match source.path.rsplit('/').next() {
        Some("files.toml") => Kind::File,
        Some("glossary.toml") => Kind::Glossary,
        _ => return Vec::new(),
    };
    let Ok(table) = source.text.parse::<Table>() else {
        return Vec::new();
    };
    let mut ids = HashMap::new();
    let chunks = entries(&table).map(|entry| {
        let chunk = to_chunk(source, kind, entry);
        Chunk {
            id: unique(&chunk.id, &mut ids),
            ..chunk
        }
    });
    chunks.collect()
}

fn to_chunk(source: &Source, kind: Kind, entry: &Table) -> Chunk {
    let name = ["name", "id", "file", "kind", "term", "en", "zh", "title"]
        .into_iter()
        .find_map(|key| texts(entry.get(key)?).into_iter().next())
        .unwrap_or_else(|| "entry".to_owned());
    let text = describe(entry);
    let list = |key: &str| entry.get(key).map(texts).unwrap_or_default();
    let (titles, steps) = (list("title"), list("steps"));
    Chunk {
        id: format!("{}#{}", source.path, slug(&name)),
        line: line_of(&source.text, &name),
        title: match titles.is_empty() {
            true => name,
            false => titles.join(" / "),
        },
        engine: match kind {
            Kind::Glossary => Engine::Any,
            _ => Engine::default(),
        },
        problem_type: list("problem_type").into_iter().next(),
        causes: list("causes"),
        steps: match steps.is_empty() {
            true => steps_of(kind, None),
            false => steps,
        },
        operators: list("operators"),
        keywords: list("keywords"),
        ..Chunk::whole(source.path.clone(), kind, text)
    }
}

/// `key: value` lines of all keys that are not facets.
fn describe(entry: &Table) -> String {
    let is_text = |key: &str| !FACET_KEYS.contains(&key);
    let entries = entry.iter().filter(|(key, _)| is_text(key));
    let lines = entries.map(|(key, value)| (key, texts(value).join(", ")));
    let lines = lines.filter(|(_, text)| !text.is_empty());
    let lines: Vec<String> = lines.map(|(key, text)| format!("{key}: {text}")).collect();
    lines.join("\n")
}

/// The first line with the name; 1 if it is spelled in another way.
fn line_of(text: &str, name: &str) -> usize {
    let mut lines = text.lines();
    let place = lines.position(|line| line.contains('=') && line.contains(name));
    place.map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_a_chunk_with_its_facets() {
        let source = Source::new(
            "files.toml",
            "[[file]]\nname = \"profile\"\nholds = \"vertex runs\"\nholds_zh = \"顶点运行\"\ncauses = [\"skew.join_hot_key\"]\n\
             [[file]]\nname = \"profile\"\nholds = \"again\"\n"
                .to_owned(),
        );
        let chunks = catalogue(&source);
        assert_eq!(chunks.len(), 2);
        assert_eq!(chunks[0].id, "files.toml#profile");
        assert_eq!(chunks[1].id, "files.toml#profile-2");
        assert_eq!(chunks[0].kind, Kind::File);
        assert_eq!(chunks[0].causes, ["skew.join_hot_key"]);
        assert!(chunks[0].text.contains("顶点运行"));
        assert_eq!(chunks[0].line, 2);
    }

    #[test]
    fn a_broken_catalogue_has_no_chunks() {
        let source = Source::new("glossary.toml", "[[term".to_owned());
        assert!(catalogue(&source).is_empty());
    }
}
