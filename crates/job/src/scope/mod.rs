//! Front end for SCOPE and U-SQL: tells their files apart, reads them and parses the script.

pub mod counters;
mod facts;
pub(crate) mod read;
pub mod script;
pub(crate) mod sniff;
