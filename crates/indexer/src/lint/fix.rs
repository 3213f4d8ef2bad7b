//! Repairs that change nothing of what a document says: line ends, and keys that follow from the file itself.

use std::fs;
use std::path::Path;

use super::{Finding, Options, is_curated, lint};
use crate::chunk::title_of;
use crate::document::{Document, Source, split_front_matter};
use crate::error::BuildError;
use crate::store::files::{read_error, replace, write_error};

/// Repairs what is marked as fixable below `knowledge` and gives what it repaired.
///
/// # Errors
/// When a file cannot be read or written.
pub fn fix(knowledge: &Path, options: &Options) -> Result<Vec<Finding>, BuildError> {
    let findings: Vec<Finding> = lint(knowledge, options)?
        .into_iter()
        .filter(|finding| finding.fixable)
        .collect();
    let mut files: Vec<&str> = findings.iter().map(|f| f.file.as_str()).collect();
    files.dedup();
    for file in files {
        let path = knowledge.join(file);
        let text = fs::read_to_string(&path).map_err(read_error(&path))?;
        let repaired = repair(file, &text);
        if repaired != text {
            replace(&path, repaired.as_bytes()).map_err(write_error(&path))?;
        }
    }
    Ok(findings)
}

fn repair(path: &str, text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let source = Source::new(path, text);
    let document = Document::parse(&source);
    let (yaml, _) = split_front_matter(&source.text);
    if yaml.is_none() || document.front_error.is_some() || !is_curated(&document) {
        return source.text;
    }
    let front = &document.front;
    let mut added = String::new();
    let stem = path
        .rsplit('/')
        .next()
        .unwrap_or(path)
        .trim_end_matches(".md");
    if front.id.is_none() {
        added.push_str(&format!("id: {}\n", quoted(stem)));
    }
    if front.title.is_none() {
        added.push_str(&format!("title: {}\n", quoted(&title_of(&document))));
    }
    if front.language.is_none() {
        added.push_str(&format!("language: {}\n", document.language.as_str()));
    }
    // Behind the opening `---`, whose line has four bytes now that line ends are LF; a byte order mark was dropped.
    let (opening, rest) = source.text.split_at("---\n".len());
    format!("{opening}{added}{rest}")
}

/// A YAML text in double quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
