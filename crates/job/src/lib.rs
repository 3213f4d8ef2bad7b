//! Reads the files of a SCOPE, U-SQL or Spark job, a folder or an event log, into one typed [`Job`].
//!
//! Readers return all readable parts and a [`model::Diagnostic`] for each fault. The crate has no
//! network, no LLM and no rules, and never prints.

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
mod until;
mod xml;

pub use catalogue::Catalogue;
pub use folder::{
    JobReader, OpenError, Options, ReadFile, TextError, kind_of, load, open, read_memory, recognize,
};
pub use model::Job;
pub use scope::{counters, script};
use scope::{read, sniff};
pub use spark::{code, exit_code, listed};
pub use until::Until;
