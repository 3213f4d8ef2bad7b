//! Helpers of the tests: a scripted LLM server, the knowledge base, files shared between projects,
//! skipped tests.

pub mod knowledge;
pub mod llm;
mod shared;

pub use shared::{shared, skip};
