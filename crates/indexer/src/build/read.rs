//! Lists and reads the documents of a knowledge folder.

use std::fs;
use std::path::Path;

use crate::document::Source;
use crate::error::BuildError;
use crate::store::files::read_error;

/// Largest document read; a playbook has a few kilobytes, and what is larger was put there by mistake.
const MAX_BYTES: u64 = 16 << 20;

/// Deepest folder entered.
const MAX_DEPTH: usize = 16;

/// Every document below `knowledge`, sorted by path. Hidden files and folders, links, `README.md` and judgements are
/// left out.
pub(crate) fn sources(knowledge: &Path) -> Result<Vec<Source>, BuildError> {
    let mut out = Vec::new();
    walk(knowledge, "", 0, &mut out)?;
    out.sort_by(|a, b| a.path.cmp(&b.path));
    if out.is_empty() {
        return Err(BuildError::NoDocuments {
            path: knowledge.to_owned(),
        });
    }
    Ok(out)
}

fn walk(
    folder: &Path,
    prefix: &str,
    depth: usize,
    out: &mut Vec<Source>,
) -> Result<(), BuildError> {
    let entries = fs::read_dir(folder).map_err(read_error(folder))?;
    for entry in entries {
        let entry = entry.map_err(read_error(folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        let kind = entry.file_type().map_err(read_error(&path))?;
        if name.starts_with('.') {
            continue;
        }
        let relative = match prefix {
            "" => name,
            _ => format!("{prefix}/{name}"),
        };
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&path, &relative, depth + 1, out)?;
        } else if kind.is_file() && is_document(&relative) {
            out.push(read(&path, &relative)?);
        }
    }
    Ok(())
}

/// Whether a file with this path, relative to the knowledge folder, is indexed.
pub(crate) fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_markdown =
        name.to_lowercase().ends_with(".md") && !name.eq_ignore_ascii_case("readme.md");
    is_markdown || path == "files.toml" || path == "glossary.toml"
}

fn read(path: &Path, relative: &str) -> Result<Source, BuildError> {
    let size = fs::metadata(path).map_err(read_error(path))?.len();
    if size > MAX_BYTES {
        let reason = std::io::Error::other(format!(
            "it has {size} bytes, a document may have {MAX_BYTES}"
        ));
        return Err(read_error(path)(reason));
    }
    let bytes = fs::read(path).map_err(read_error(path))?;
    // A stray byte in another encoding loses its word, not the document.
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    Ok(Source::new(relative, text))
}

/// Documents that the caller holds in memory; the last of equal paths counts.
pub(crate) fn from_memory(documents: impl IntoIterator<Item = (String, String)>) -> Vec<Source> {
    let by_path: std::collections::BTreeMap<String, Source> = documents
        .into_iter()
        .map(|(path, text)| Source::new(&path, text))
        .filter(|source| is_document(&source.path))
        .map(|source| (source.path.clone(), source))
        .collect();
    by_path.into_values().collect()
}
