//! One module per command: call the libraries, pass the answer to a renderer.

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

use crate::json::{line as json_line, pretty as json};

/// A count with its noun.
fn count(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}
