//! Checks across documents: coverage of causes, catalogues, glossary, judgements.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Value;

use super::{Finding, Known, Options, Severity, finding};
use crate::document::{Document, Source};
use crate::eval::{judgement_files, read_judgement_file};
use crate::model::{Kind, Language};

/// Every cause has a playbook, in both languages.
pub(super) fn check_coverage(
    documents: &[Document<'_>],
    options: &Options,
    out: &mut Vec<Finding>,
) {
    let mut covered: BTreeMap<&str, BTreeSet<Language>> = BTreeMap::new();
    for document in documents.iter().filter(|d| d.kind == Kind::Experience) {
        for cause in &document.front.causes {
            covered.entry(cause).or_default().insert(document.language);
        }
    }
    for cause in &options.causes {
        let languages = covered.get(cause.as_str());
        let missing = |language| languages.is_none_or(|l| !l.contains(&language));
        if languages.is_none() {
            let message = format!("no playbook covers `{cause}`");
            out.push(finding(
                "experience",
                1,
                Severity::Error,
                "uncovered-cause",
                message,
            ));
            continue;
        }
        for language in [Language::Zh, Language::En] {
            if missing(language) {
                let message = format!("no playbook in `{}` covers `{cause}`", language.as_str());
                out.push(finding(
                    "experience",
                    1,
                    Severity::Warning,
                    "uncovered-language",
                    message,
                ));
            }
        }
    }
}

/// `files.toml` and `glossary.toml`.
pub(super) fn check_catalogue(source: &Source, out: &mut Vec<Finding>) {
    let table = match source.text.parse::<toml::Table>() {
        Ok(table) => table,
        Err(error) => {
            let at = error
                .span()
                .map_or(0, |span| span.start.min(source.text.len()));
            let line = 1 + source.text.as_bytes()[..at]
                .iter()
                .filter(|&&b| b == b'\n')
                .count();
            let message = error.message().to_owned();
            out.push(finding(
                &source.path,
                line,
                Severity::Error,
                "toml",
                message,
            ));
            return;
        }
    };
    let entries: Vec<&toml::Table> = table
        .values()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(Value::as_table)
        .collect();
    if entries.is_empty() {
        let message = "no entry; write `[[file]]` or `[[term]]`".to_owned();
        out.push(finding(&source.path, 1, Severity::Warning, "toml", message));
    }
    if source.path == "glossary.toml" {
        check_glossary(source, &entries, out);
    }
}

/// A name under two terms makes each bring in the names of the other: a query then drifts in circles.
fn check_glossary(source: &Source, entries: &[&toml::Table], out: &mut Vec<Finding>) {
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    let starts: Vec<usize> = entry_lines(&source.text);
    for (number, entry) in entries.iter().enumerate() {
        let line = starts.get(number).copied().unwrap_or(1);
        let names: BTreeSet<String> = ["zh", "en", "scope"]
            .iter()
            .filter_map(|key| entry.get(*key))
            .flat_map(names)
            .map(|name| name.to_lowercase())
            .collect();
        if names.len() < 2 {
            let message = "a term with fewer than two names brings in nothing".to_owned();
            out.push(finding(
                &source.path,
                line,
                Severity::Warning,
                "glossary-lone",
                message,
            ));
        }
        for name in names {
            if let Some(first) = owners.get(&name) {
                let other = starts.get(*first).copied().unwrap_or(1);
                let message = format!("`{name}` is also a name of the term on line {other}");
                out.push(finding(
                    &source.path,
                    line,
                    Severity::Error,
                    "glossary-loop",
                    message,
                ));
            } else {
                owners.insert(name, number);
            }
        }
    }
}

fn names(value: &Value) -> Vec<String> {
    match value {
        Value::String(name) => vec![name.clone()],
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// Lines on which the entries of an array of tables begin.
fn entry_lines(text: &str) -> Vec<usize> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| line.trim_start().starts_with("[["))
        .map(|(number, _)| number + 1)
        .collect()
}

/// Judgements are readable, have unique ids, and point at what exists.
pub(super) fn check_judgements(knowledge: &Path, known: &Known, out: &mut Vec<Finding>) {
    let folder = knowledge.join("judgements");
    let Ok(files) = judgement_files(&folder) else {
        return;
    };
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for path in files {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let file = format!("judgements/{}", name.unwrap_or_default());
        let judged = match read_judgement_file(&path) {
            Ok(judged) => judged,
            Err(error) => {
                let message = error.to_string();
                out.push(finding(&file, 1, Severity::Error, "judgement", message));
                continue;
            }
        };
        for query in judged {
            let line = query.place.1;
            if let Some(first) = ids.insert(query.id.clone(), file.clone()) {
                let message = format!("query id `{}` is also in {first}", query.id);
                out.push(finding(&file, line, Severity::Error, "judgement", message));
            }
            if query.relevant.is_empty() {
                let message = format!("query `{}` has no right answer", query.id);
                out.push(finding(
                    &file,
                    line,
                    Severity::Warning,
                    "judgement",
                    message,
                ));
            }
            for relevant in &query.relevant {
                let target = &relevant.target;
                if !known.chunks.contains(target) && !known.paths.contains(target) {
                    let message = format!("`{target}` is neither a chunk nor a document");
                    out.push(finding(&file, line, Severity::Error, "judgement", message));
                }
            }
        }
    }
}
