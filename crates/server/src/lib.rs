//! One session that stays open: the index is warm, the run store is open, and every analysis goes through it.
//!
//! ```text
//! Session::analyze ─ begin run ─ choose reasoner ─ agent::analyze ─ save run ─> Analysis
//! mcp::serve ─ tools, resources ─> Session
//! web::serve ─ pages, forms ──────> Session
//! ```
//!
//! Configuration comes in as typed values. This crate never reads the environment, prints or exits.

#[macro_use]
mod error;

mod compare;
pub mod inspection;
mod knowledge;
mod listen;
pub mod mcp;
mod monitor;
mod opening;
mod places;
mod question;
mod reasoner;
mod roots;
mod searches;
mod session;
pub mod web;
pub mod whatif;

pub use compare::no_report;
pub use error::{Error, ErrorKind, Explain, LABELS, Result};
pub use knowledge::{Documents, Knowledge, builtin_documents};
pub use monitor::{Monitor, Progress};
pub use opening::{Application, Fetch, Fetched};
pub use question::{Answered, Question};
pub use reasoner::{KeySource, Mode, ReasonerChoice};
pub use roots::Roots;
pub use session::{Analysis, Analyst, Session, Settings, Task};
