//! Analyzes jobs in separate processes: a job that takes too much memory or time costs only its
//! own report.
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

fn no_thread() -> String {
    report::say!(
        "系统不允许再创建线程",
        "the system does not allow another thread"
    )
}
