//! The five THINK steps over facts and experience, with an LLM or without.
//!
//! ```text
//! open, read core ─> diagnose ─> 1 classify ─ 2 key code ─ 3 experience ─ 4 complete? ─ 5 advice ─> Report
//!                       ^                                        │ reads files, at most three a round
//!                       └────────────────────────────────────────┘
//! ```
//!
//! Facts, findings and evidence come from the rules and stay whatever a reasoner says; its claims
//! are checked before they enter the report. Nothing here prints or reads the environment.

mod analyze;
pub mod case;
mod check;
pub mod compare;
mod completeness;
pub mod conclusion;
mod draft;
pub mod experience;
pub mod feedback;
pub mod llm;
pub mod offline;
pub mod picture;
pub mod progress;
pub mod prompts;
pub mod reasoner;
pub mod report;
mod request;
pub mod shape;
pub mod step;
pub mod store;
mod tool_call;
mod tools;
pub mod view;
mod wording;

pub use analyze::analyze;
pub use experience::ChunkPrior;
pub use progress::{Event, Observer, Silent};
pub use prompts::{PromptError, Prompts};
pub use reasoner::{Reasoner, ReasonerError};
pub use report::{Language, Report};
pub use request::{AnalyzeError, Depth, KindPrior, Limits, Request, Services};
pub use step::StepId;
pub use tool_call::{ToolCall, ToolCalls, ToolResult, ToolRound};
pub use tools::ToolSpec;
