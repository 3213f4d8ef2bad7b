//! Front end for SCOPE and U-SQL: recognizes their files, reads them and parses the script.

pub mod counters;
mod facts;
pub(crate) mod read;
pub mod script;
pub(crate) mod sniff;
