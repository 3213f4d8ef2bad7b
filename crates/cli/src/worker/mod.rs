//! Jobs analyzed by processes of their own, which may die alone: one that needs too much memory or
//! time costs its own report and nothing else.
//!
//! ```text
//! Pool ── one order per line (stdin) ──> worker: a session, within a limit of memory
//!      <─ events, then one answer (stdout) ─
//! ```
//!
//! The program starts itself again with the hidden command `worker`. Workers stay for further jobs.

mod pool;
mod serve;
mod wire;

pub(crate) use pool::{Pool, Unanswered};
pub(crate) use serve::run;
