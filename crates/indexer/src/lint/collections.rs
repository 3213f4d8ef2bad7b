//! Checks of catalogues, glossary and judgements.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::iter;
use std::path::Path;

use super::{Findings, Known, Severity};
use crate::document::{Problem, Source, entries, toml_table};
use crate::eval::{Relevant, judgements_of};
use crate::glossary::texts;

/// `files.toml` and `glossary.toml`.
pub(super) fn check_catalogue(source: &Source, out: &mut Findings) {
    let table = match toml_table(&source.text) {
        Ok(table) => table,
        Err(Problem { line, reason }) => return out.error(&source.path, line, "toml", reason),
    };
    let entries: Vec<&toml::Table> = entries(&table).collect();
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
    let starts = lines.filter(|(line, _)| line.trim_start().starts_with("[["));
    let starts = starts.map(|(_, number)| number);
    for (entry, line) in entries.iter().zip(starts.chain(iter::repeat(1))) {
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
            match owners.entry(name) {
                Entry::Vacant(new) => drop(new.insert(line)),
                Entry::Occupied(known) => {
                    let (name, other) = (known.key(), known.get());
                    let message = format!("`{name}` is also a name of the term on line {other}");
                    out.error(&source.path, line, "glossary-loop", message);
                }
            }
        }
    }
}

/// Judgments are readable, have unique ids and point to existing targets.
pub(super) fn check_judgements(knowledge: &Path, known: &Known, out: &mut Findings) {
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for (path, judged) in judgements_of(knowledge) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = format!("judgements/{name}");
        let mut found =
            |severity, line, message| out.add(&file, line, severity, "judgement", message);
        if let Err(error) = &judged {
            found(Severity::Error, 1, error.to_string());
        }
        for query in judged.into_iter().flatten() {
            let (id, line) = (&query.id, query.place.1);
            if let Some(first) = ids.insert(id.clone(), file.clone()) {
                let message = format!("query id `{id}` is also in {first}");
                found(Severity::Error, line, message);
            }
            if query.relevant.is_empty() != query.unanswerable {
                let wrong = match query.unanswerable {
                    true => "is unanswerable, but has an answer",
                    false => {
                        "has no answer; write `unanswerable = true` for a question without one"
                    }
                };
                found(Severity::Warning, line, format!("query `{id}` {wrong}"));
            }
            for Relevant { target, .. } in &query.relevant {
                if !known.targets.contains(target) {
                    let message = format!("`{target}` is neither a chunk nor a document");
                    found(Severity::Error, line, message);
                }
            }
        }
    }
}
