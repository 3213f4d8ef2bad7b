//! JSON output.

use serde::Serialize;
use server::{Error, ErrorKind, Result};

use crate::safe;

pub(crate) fn pretty(value: &impl Serialize) -> Result<String> {
    line_of(serde_json::to_string_pretty(value))
}

pub(crate) fn line(value: &impl Serialize) -> Result<String> {
    line_of(serde_json::to_string(value))
}

fn line_of(text: serde_json::Result<String>) -> Result<String> {
    let text = text.map_err(|e| Error::from_source(ErrorKind::Other, &e))?;
    Ok(safe::json(&text).into_owned() + "\n")
}
