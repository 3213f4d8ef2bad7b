//! Which documents the current generation was built from, in the caller's own terms: a cache that saves hashing them again.
//!
//! `SOURCE` has two lines: the name of a generation and the BLAKE3 of the caller's mark. It is valid for that generation only,
//! so any other update invalidates it.

use std::path::Path;

use super::files::{replace, write_error};
use super::generation::current_name;
use crate::error::BuildError;

const SOURCE: &str = "SOURCE";

pub(crate) fn holds(index: &Path, mark: &[u8]) -> bool {
    let noted = std::fs::read_to_string(index.join(SOURCE));
    current_name(index).is_some_and(|name| noted.is_ok_and(|noted| noted == text(&name, mark)))
}

pub(crate) fn set(index: &Path, generation: &str, mark: &[u8]) -> Result<(), BuildError> {
    let path = index.join(SOURCE);
    replace(&path, text(generation, mark).as_bytes()).map_err(write_error(&path))
}

fn text(generation: &str, mark: &[u8]) -> String {
    format!("{generation}\n{}\n", blake3::hash(mark).to_hex())
}
