//! Fixes that keep the meaning of a document: line ends, and keys that follow from the file itself.

use std::path::Path;

use super::{Finding, Options, is_curated, lint};
use crate::chunk::title_of;
use crate::document::{Document, Source, file_stem, quoted};
use crate::error::BuildError;
use crate::store::files::{read_error, read_text, replace, write_error};

/// Fixes what [`lint()`] marks as fixable and returns it.
///
/// # Errors
/// When a file cannot be read or written.
pub fn fix(knowledge: &Path, options: &Options) -> Result<Vec<Finding>, BuildError> {
    let mut findings = lint(knowledge, options)?;
    findings.retain(|finding| finding.fixable);
    let mut files: Vec<&str> = findings.iter().map(|f| f.file.as_str()).collect();
    files.dedup();
    for file in files {
        let path = knowledge.join(file);
        let text = read_text(&path).map_err(read_error(&path))?;
        let new = fixed(file, &text);
        if new != text {
            replace(&path, new.as_bytes()).map_err(write_error(&path))?;
        }
    }
    Ok(findings)
}

fn fixed(path: &str, text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let source = Source::new(path, text);
    let document = Document::parse(&source);
    if document.yaml.is_none() || !document.front_errors.is_empty() || !is_curated(&document) {
        return source.text;
    }
    let front = &document.front;
    let mut added = String::new();
    if front.id.is_none() {
        added.push_str(&format!("id: {}\n", quoted(file_stem(path))));
    }
    if front.title.is_none() {
        added.push_str(&format!("title: {}\n", quoted(&title_of(&document))));
    }
    if front.language.is_none() {
        added.push_str(&format!("language: {}\n", document.language.code()));
    }
    // After the opening `---`, a line of four bytes now that line ends are LF and a byte order mark is gone.
    let (opening, rest) = source.text.split_at("---\n".len());
    format!("{opening}{added}{rest}")
}
