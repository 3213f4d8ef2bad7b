//! One session that stays open: the index is warm, the run store is open, and every analysis goes through it.
//!
//! ```text
//! Session::analyze ─ begin run ─ choose reasoner ─ agent::analyze ─ save run ─> Analysis
//! mcp::serve ─ tools, resources ─> Session
//! ```
//!
//! Configuration comes in as typed values. Nothing here reads the environment, prints or exits.

mod compare;
mod error;
pub mod inspection;
mod knowledge;
pub mod mcp;
mod monitor;
mod question;
mod reasoner;
mod searches;
mod session;

pub use compare::no_report;
pub use error::{Error, ErrorKind, Explain, LABELS, Result};
pub use knowledge::{Documents, Knowledge, builtin_documents};
pub use monitor::{Monitor, Progress};
pub use question::{Answered, Question};
pub use reasoner::{KeySource, Mode, ReasonerChoice};
pub use session::{Analysis, Analyst, Session, Settings, Task};
