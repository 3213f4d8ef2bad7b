//! Reads what a SCOPE, U-SQL or Spark job left behind, a folder or an event log, into one typed [`Job`].
//!
//! Readers return what they could make sense of and a [`model::Diagnostic`] for the rest. This
//! crate has no network, no LLM, no rules, and never prints.

mod bounds;
pub mod catalogue;
pub mod facts;
mod folder;
pub mod info;
mod json;
pub mod link;
pub mod model;
mod problem;
pub mod runs;
mod scope;
mod sheet;
mod sketch;
mod spark;
mod text;
mod time;
mod xml;

pub use catalogue::Catalogue;
pub use folder::{
    JobReader, OpenError, Options, ReadFile, TextError, kind_of, load, open, read_memory, recognize,
};
pub use model::Job;
pub use scope::{counters, script};
use scope::{read, sniff};
