//! Which documents the current generation was built from, in the caller's own terms: a cache that saves hashing them again.
//!
//! `SOURCE` has two lines: the name of a generation and the BLAKE3 of the caller's mark. It is valid for that generation only,
//! so any other update invalidates it.

use std::path::Path;

use super::files::{read_regular, replace, write_error};
use super::generation::manifest;
use crate::error::BuildError;

const SOURCE: &str = "SOURCE";

/// Whether `index` is up to date with the documents of `mark`, according to [`set_mark`]. Reads two small files, so a
/// caller with rarely changing documents need not hash them at every start.
pub fn has_mark(index: &Path, mark: &[u8]) -> bool {
    let noted = read_regular(&index.join(SOURCE));
    let is_noted = |name: &str| noted.is_ok_and(|noted| noted == text(name, mark).as_bytes());
    manifest(index).is_some_and(|manifest| is_noted(&manifest.generation))
}

/// Records that `generation` was made from the documents of `mark`.
///
/// # Errors
/// When the mark cannot be written; the index is usable without it.
pub fn set_mark(index: &Path, generation: &str, mark: &[u8]) -> Result<(), BuildError> {
    let path = index.join(SOURCE);
    replace(&path, text(generation, mark).as_bytes()).map_err(write_error(&path))
}

fn text(generation: &str, mark: &[u8]) -> String {
    format!("{generation}\n{}\n", blake3::hash(mark).to_hex())
}
