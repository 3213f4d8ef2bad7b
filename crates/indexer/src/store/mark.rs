//! What the documents of the current generation were, in a caller's own terms: a cache that saves it from hashing them again.
//!
//! `SOURCE` holds the name of a generation and the BLAKE3 of the caller's mark, each on a line. It counts for that generation only:
//! whatever else writes the index makes it void.

use std::path::Path;

use super::files::{replace, write_error};
use super::generation::current_name;
use crate::error::BuildError;

const SOURCE: &str = "SOURCE";

/// Whether the current generation has this mark.
pub(crate) fn holds(index: &Path, mark: &[u8]) -> bool {
    let noted = std::fs::read_to_string(index.join(SOURCE));
    current_name(index).is_some_and(|name| noted.is_ok_and(|noted| noted == text(&name, mark)))
}

/// Gives `generation` this mark.
pub(crate) fn set(index: &Path, generation: &str, mark: &[u8]) -> Result<(), BuildError> {
    let path = index.join(SOURCE);
    replace(&path, text(generation, mark).as_bytes()).map_err(write_error(&path))
}

fn text(generation: &str, mark: &[u8]) -> String {
    format!("{generation}\n{}\n", blake3::hash(mark).to_hex())
}
