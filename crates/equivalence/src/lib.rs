//! Whether a changed script gives the same rows as the original script.
//!
//! A change of hints alone, or a change by a known rewrite, is proven. Any other change is executed:
//! both scripts are translated to SQL for an SQLite database in memory, run over generated rows,
//! and their outputs compared as multisets, and as sequences where the script orders them. Only
//! constructs with the same meaning in SQL are translated. User code is never run: if the change does not
//! touch it, a function of its inputs takes its place; a change that touches it is undecided.
//!
//! The crate reads no files, calls no model, and does not depend on the time.

mod data;
mod difference;
mod facts;
mod functions;
mod hints;
mod judge;
mod kind;
mod known;
mod pairs;
mod run;
mod sql;
mod tokens;
mod translate;
mod unknown;

pub use difference::Difference;
pub use facts::Facts;
pub use judge::{Judgment, execute, judge};
pub use unknown::Unknown;
