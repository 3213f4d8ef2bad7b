//! Helpers of the tests: a scripted LLM server, the knowledge base, files shared between projects,
//! skipped tests, assertions.

mod assertions;
mod files;
pub mod knowledge;
pub mod llm;
pub mod private;
mod shared;

pub use assertions::{any_contains, contains, lacks};
pub use files::copy;
pub use shared::{shared, skip};
