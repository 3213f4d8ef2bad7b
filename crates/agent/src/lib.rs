//! The five THINK steps over facts and experience, with an LLM or without.
//!
//! ```text
//! open, read core ─> diagnose ─> 1 classify ─ 2 key code ─ 3 experience ─ 4 complete? ─ 5 advice ─> Report
//!                       ^                                        │ reads files, at most three a round
//!                       └────────────────────────────────────────┘
//! ```
//!
//! Facts, findings and evidence come from the rules, and no reasoner can change them; its claims
//! are checked before they enter the report. This crate never prints or reads the environment.

mod allowed;
mod analyze;
mod check;
pub mod code;
mod completeness;
pub mod conclusion;
pub mod experience;
pub mod facts;
mod flow;
pub mod found;
pub mod measures;
mod memory;
mod merge;
pub mod model;
pub mod offline;
pub mod outline;
mod private;
pub mod progress;
pub mod prompts;
pub mod reasoner;
mod relevance;
mod request;
pub mod saved;
mod schema;
mod script;
pub mod step;
pub mod terms;
mod tools;

pub mod wording;

pub use analyze::{Analysis, Concluded, advise, analyze, reply};
pub use check::{Checker, apply_diff};
pub use experience::{ChunkPrior, ExperienceSource};
pub use found::KindPrior;
pub use private::mask_of;
pub use progress::{Event, Observer, Silent};
pub use prompts::{PromptError, Prompts, fence};
pub use reasoner::{Reasoner, ReasonerError};
pub use request::{AnalyzeError, Depth, Request, Services};
pub use step::StepId;
pub use wording::cites;
