//! Helpers of the tests: a scripted LLM server, files shared between projects, skipped tests.

pub mod llm;
mod shared;

pub use shared::{shared, skip};
