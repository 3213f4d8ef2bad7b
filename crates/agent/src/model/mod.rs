//! The reasoner that asks a language model: prompts in its budget, structured answers, repairs.

mod answer;
mod chat;
mod context;
mod dry_run;
pub(crate) mod markers;
mod reasoner;
mod rows;
mod shown;
mod task;
mod tokens;

pub use dry_run::{DryRun, Preview};
pub use reasoner::{LlmReasoner, connect};
pub use tokens::tokens;
