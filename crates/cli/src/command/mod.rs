//! One module a command: look things up, call the library, hand the answer to a renderer.

pub(crate) mod analyze;
mod ask;
pub(crate) mod batch;
pub(crate) mod case;
pub(crate) mod compare;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod feedback;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod lint;
pub(crate) mod mcp;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod search;

use serde::Serialize;

use server::{Error, ErrorKind, Result};

/// A value as one line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> Result<String> {
    let text =
        serde_json::to_string(value).map_err(|e| Error::from_source(ErrorKind::Other, &e))?;
    Ok(text + "\n")
}

/// A value as indented JSON with a line end.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::from_source(ErrorKind::Other, &e))?;
    Ok(text + "\n")
}
