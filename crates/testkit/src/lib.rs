//! Simulates job folders with a known cause, and scripts an LLM server; for tests only.
//!
//! A simulated job is the outcome of a model, not a recording: tables with value distributions are read by a
//! compiled plan, hashed over vertices, charged by a cost model and scheduled on tokens. The same job
//! is run once more without its cause, at the same seed, so that the time the cause costs is known
//! exactly. Nothing here knows how the analyser works.

mod cases;
mod cause;
mod compile;
mod cost;
mod csharp;
mod data;
mod decoy;
#[cfg(feature = "exec")]
pub mod exec;
mod files;
mod folder;
mod inject;
pub mod llm;
mod near_miss;
mod outcome;
mod physical;
mod plan;
mod rng;
mod schedule;
mod script;
mod set;
mod simulate;
mod symptoms;
mod templates;
mod truth;
mod words;

pub use cases::{Case, cases};
pub use cause::{CAUSES, Cause};
pub use files::profile::write_large_profile;
pub use folder::{SimulatedJob, simulate, simulate_as, simulate_twins};
pub use plan::Dialect;
pub use set::{job_of_set, near_miss_of_set};
pub use simulate::{Kind, Request};
pub use templates::Scale;
