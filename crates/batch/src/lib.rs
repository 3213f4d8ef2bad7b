//! Many jobs: their locations, their results, and the analysis of jobs without a result.
//!
//! ```text
//! plan:  sources ── discover ──> manifest (uri, etag, size per job)
//! run:   manifest minus results ── fetch ── analyze ──> one result object per job
//! advise: results ── clusters of findings ── a model, once per cluster ──> one advice object per cluster
//! report: results and advice ── rows ──> Parquet and CSV, and one page
//! ```
//!
//! The store is the truth: resuming, retrying and progress are set differences between the manifest and the results. A result is written
//! only once, so any number of processes may work on one store. The caller supplies the analysis. This crate never prints or reads the
//! environment.

mod advice;
mod aggregate;
mod application;
mod cluster;
mod discover;
mod error;
#[cfg(test)]
mod fixture;
mod folders;
mod formats;
mod history;
mod listing;
mod location;
mod newest;
pub mod page;
mod problem;
mod progress;
mod queue;
mod result;
mod run;
mod shard;
mod source;
mod state;
mod store;
mod summary;
pub mod tables;

pub use advice::{Advising, Caps, ClusterAdvice, Ledger, Outcome, Spent, Stopped, Totals};
pub use aggregate::{Aggregate, AggregateError, Written};
pub use application::Application;
pub use cluster::ClusterKey;
pub use discover::discover;
pub use error::{Error, Result};
pub use folders::is_job;
pub use history::{ListedApplication, Wanted};
pub use location::{Access, Location, Remote, is_url, local_uri};
pub use problem::Problem;
pub use progress::Progress;
pub use queue::{DELIVERIES, Enqueued, Servers};
pub use result::{Entry, JobResult, Program, RESULT_VERSION, Status};
pub use run::{Analyze, Attempt, Batch, Blame, Retry, Step};
pub use shard::Shard;
pub use source::{Bounds, Opened, Sources};
pub use store::{Changes, Put, Store};
pub use summary::{OfCause, Summary};
