//! Files of the index that are named by their content, so the name in the manifest is a checksum too.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::files::{read_regular, replace, write_error};
use crate::error::{BuildError, OpenError, damaged};

/// Beginnings of the names.
pub(crate) const DOCUMENTS: &str = "documents-";
pub(crate) const GLOSSARY: &str = "glossary-";

pub(crate) fn is_named(name: &str) -> bool {
    name.starts_with(DOCUMENTS) || name.starts_with(GLOSSARY)
}

fn name(kind: &str, bytes: &[u8]) -> String {
    format!("{kind}{}", &blake3::hash(bytes).to_hex()[..32])
}

/// Writes a value durably and returns the name of its file.
pub(crate) fn write<T: Serialize>(
    folder: &Path,
    kind: &str,
    value: &T,
) -> Result<String, BuildError> {
    let bytes = postcard::to_stdvec(value).map_err(std::io::Error::other);
    let bytes = bytes.map_err(write_error(folder))?;
    let name = name(kind, &bytes);
    let path = folder.join(&name);
    if read_regular(&path).is_ok_and(|known| known == bytes) {
        return Ok(name);
    }
    replace(&path, &bytes).map_err(write_error(&path))?;
    Ok(name)
}

pub(crate) fn read<T: DeserializeOwned>(
    folder: &Path,
    kind: &str,
    file: &str,
) -> Result<T, OpenError> {
    let path = folder.join(file);
    let bytes = read_regular(&path).map_err(|error| damaged(&path, error))?;
    if name(kind, &bytes) != file {
        return Err(damaged(&path, "its checksum is wrong"));
    }
    postcard::from_bytes(&bytes).map_err(|error| damaged(&path, error))
}
