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
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod search;

use serde::Serialize;

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A value as indented JSON with a line end.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| CliError::from_source(Exit::Failure, &e))?;
    Ok(text + "\n")
}
