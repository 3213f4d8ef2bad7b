//! Helpers of the tests: a scripted LLM server, a scripted History Server, the knowledge base, files shared between projects,
//! skipped tests, assertions.

mod assertions;
mod files;
mod history;
pub mod knowledge;
pub mod llm;
pub mod private;
pub mod run;
mod shared;

pub use assertions::{any_contains, contains, lacks};
pub use files::{copy, zip};
pub use history::{Answer, HistoryServer, description};
pub use shared::{shared, skip};
