//! Lists and reads the documents of a knowledge folder.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::document::Source;
use crate::error::BuildError;
use crate::parallel;
use crate::store::files::read_error;

/// Largest document read; a playbook has a few kilobytes, and what is larger was put there by mistake.
const MAX_BYTES: u64 = 16 << 20;

/// Deepest folder entered.
const MAX_DEPTH: usize = 16;

/// Files from which reading and hashing is shared among threads.
pub(super) const MANY: usize = 256;

/// Every document below `knowledge`, sorted by path. Hidden files and folders, links, `README.md` and judgements are
/// left out.
pub(crate) fn sources(knowledge: &Path) -> Result<Vec<Source>, BuildError> {
    let mut found = Vec::new();
    walk(knowledge, "", 0, &mut found)?;
    if found.is_empty() {
        return Err(BuildError::NoDocuments {
            path: knowledge.to_owned(),
        });
    }
    found.sort();
    let read = |(relative, path): &(String, PathBuf)| read(path, relative);
    parallel::map(&found, MANY, read).into_iter().collect()
}

/// Adds the documents below `folder`: the path relative to the knowledge folder, and where the file is.
fn walk(
    folder: &Path,
    prefix: &str,
    depth: usize,
    out: &mut Vec<(String, PathBuf)>,
) -> Result<(), BuildError> {
    let entries = fs::read_dir(folder).map_err(read_error(folder))?;
    for entry in entries {
        let entry = entry.map_err(read_error(folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let kind = entry.file_type().map_err(read_error(&entry.path()))?;
        let relative = match prefix {
            "" => name,
            _ => format!("{prefix}/{name}"),
        };
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&entry.path(), &relative, depth + 1, out)?;
        } else if kind.is_file() && is_document(&relative) {
            out.push((relative, entry.path()));
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
    let bytes = read_bytes(path).map_err(read_error(path))?;
    // A stray byte in another encoding loses its word, not the document.
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    Ok(Source::new(relative, text))
}

/// The whole file, in as few calls as there can be: with thousands of documents the calls are most of an update's time.
fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > MAX_BYTES {
        let reason = format!("it has {size} bytes, a document may have {MAX_BYTES}");
        return Err(io::Error::other(reason));
    }
    let mut bytes = vec![0; size as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
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
