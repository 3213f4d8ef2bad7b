//! Advice of a language model, once per cluster of findings instead of once per job.
//!
//! ```text
//! advice/<key>.json   advice on a cluster, written only once
//! advising.json       exists while a process asks, so that only one does
//! spent.json          calls and cost of all processes so far
//! ```
//!
//! The model is asked about the costliest finding of a cluster. Tables and page show its answer with the job of that finding.

mod clusters;
mod ledger;
mod object;
mod run;

pub use ledger::{Caps, Ledger, Spent};
pub use object::ClusterAdvice;
pub(crate) use object::newest;
pub use run::{Advising, Outcome, Stopped, Totals};
