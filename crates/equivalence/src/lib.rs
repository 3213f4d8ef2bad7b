//! Whether a changed script gives the rows that the script gave.
//!
//! A change of hints alone, or one that a known rewrite makes, is proven. Anything else is executed:
//! both scripts are translated to SQL for an SQLite database in memory, run over generated rows,
//! and their outputs compared as multisets, and in their order where the script orders them. Only
//! what means the same in SQL is translated. Code of users is never run: where the change does not
//! touch it, a function of its inputs takes its place; a change that touches it is undecided.
//!
//! Nothing here reads a file, knows a model, or depends on the time.

mod data;
mod difference;
mod expression;
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
pub use judge::{Judgement, execute, judge};
pub use unknown::Unknown;
