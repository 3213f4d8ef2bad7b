//! Reads the folder of a SCOPE or U-SQL job into one typed [`Job`].
//!
//! Readers return what they could make sense of and a [`model::Diagnostic`] for the rest. This
//! crate has no network, no LLM, no rules, and never prints.

pub mod counters;
pub mod info;
pub mod model;
pub mod runs;
pub mod script;

pub use model::Job;
