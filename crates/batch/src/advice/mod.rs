//! Advice of a language model, once per cluster of findings instead of once per job.
//!
//! ```text
//! advice/<key>.json            advice on a cluster, written only once
//! claims/<key>/<n>.json        who asks about a cluster; the nth to try
//! workers/<ULID>.json          changes while a process works; a claim counts for as long as it does
//! ledger/<n>.json              calls and cost of all processes after the nth change
//! ```
//!
//! All of it is written with conditional puts, so any number of processes may advise on one store. The model is asked about the costliest
//! finding of a cluster. The report [transfers](agent::transfer) its advice to the others.

mod claims;
mod clusters;
mod ledger;
mod members;
mod object;
mod run;

pub use ledger::{Caps, Ledger, Spent};
pub(crate) use members::Members;
pub use object::ClusterAdvice;
pub use run::{Advising, Outcome, Stopped, Totals};
