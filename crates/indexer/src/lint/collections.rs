//! Checks of catalogues, glossary and judgements.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Value;

use super::{Findings, Known};
use crate::document::{Problem, Source, toml_table};
use crate::eval::{judgement_files, read_judgement_file};
use crate::glossary::texts;

/// `files.toml` and `glossary.toml`.
pub(super) fn check_catalogue(source: &Source, out: &mut Findings) {
    let table = match toml_table(&source.text) {
        Ok(table) => table,
        Err(Problem { line, reason }) => return out.error(&source.path, line, "toml", reason),
    };
    let entries = table.values().filter_map(Value::as_array).flatten();
    let entries: Vec<&toml::Table> = entries.filter_map(Value::as_table).collect();
    if entries.is_empty() {
        let message = "no entry; write `[[file]]` or `[[term]]`";
        out.warn(&source.path, 1, "toml", message);
    }
    if source.path == "glossary.toml" {
        check_glossary(source, &entries, out);
    }
}

/// A name of two terms would pull the names of each into queries for the other.
fn check_glossary(source: &Source, entries: &[&toml::Table], out: &mut Findings) {
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    let lines = source.text.lines().zip(1..);
    let starts: Vec<usize> = lines
        .filter_map(|(line, number)| line.trim_start().starts_with("[[").then_some(number))
        .collect();
    for (number, entry) in entries.iter().enumerate() {
        let line = starts.get(number).copied().unwrap_or(1);
        let values = ["zh", "en", "scope"]
            .into_iter()
            .filter_map(|key| entry.get(key));
        let names = values.flat_map(texts).map(|name| name.to_lowercase());
        let names: BTreeSet<String> = names.collect();
        if names.len() < 2 {
            let message = "a term with only one name never widens a query";
            out.warn(&source.path, line, "glossary-lone", message);
        }
        for name in names {
            if let Some(first) = owners.get(&name) {
                let other = starts.get(*first).copied().unwrap_or(1);
                let message = format!("`{name}` is also a name of the term on line {other}");
                out.error(&source.path, line, "glossary-loop", message);
            } else {
                owners.insert(name, number);
            }
        }
    }
}

/// Judgments are readable, have unique ids and point to existing targets.
pub(super) fn check_judgements(knowledge: &Path, known: &Known, out: &mut Findings) {
    let folder = knowledge.join("judgements");
    let Ok(files) = judgement_files(&folder) else {
        return;
    };
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = format!("judgements/{name}");
        let judged = read_judgement_file(&path);
        if let Err(error) = &judged {
            out.error(&file, 1, "judgement", error.to_string());
        }
        for query in judged.into_iter().flatten() {
            let line = query.place.1;
            if let Some(first) = ids.insert(query.id.clone(), file.clone()) {
                let message = format!("query id `{}` is also in {first}", query.id);
                out.error(&file, line, "judgement", message);
            }
            if query.relevant.is_empty() != query.unanswerable {
                let message = match query.unanswerable {
                    true => "is unanswerable, but has an answer",
                    false => {
                        "has no answer; write `unanswerable = true` for a question without one"
                    }
                };
                let message = format!("query `{}` {message}", query.id);
                out.warn(&file, line, "judgement", message);
            }
            for relevant in &query.relevant {
                let target = &relevant.target;
                if !known.chunks.contains(target) && !known.paths.contains(target) {
                    let message = format!("`{target}` is neither a chunk nor a document");
                    out.error(&file, line, "judgement", message);
                }
            }
        }
    }
}
