//! Simulated SCOPE and U-SQL jobs with known causes; for tests only.
//!
//! A simulated job is the outcome of a model, not a recording: a compiled plan reads tables with value
//! distributions, hashes them over vertices, charges a cost model and schedules tokens. The same job runs
//! once more without its cause, at the same seed, so that the cost of the cause is known exactly. The
//! simulator does not use the analyzer.

mod cases;
mod cause;
mod compile;
mod cost;
mod csharp;
mod data;
mod decoy;
mod files;
mod folder;
mod mechanism;
mod near_miss;
mod outcome;
mod physical;
mod plan;
mod request;
mod rerun;
mod rng;
mod schedule;
mod script;
mod set;
mod simulate;
mod symptoms;
mod templates;
mod trial;
mod truth;
mod words;

pub use cases::{COMMITTED, Case, cases, cases_in, write_cases};
pub use cause::{CAUSES, Cause};
pub use files::profile::write_large_profile;
pub use folder::{SimulatedJob, simulate, simulate_as, simulate_twins, simulate_with_tokens};
pub use plan::Dialect;
pub use request::{Kind, Mechanisms, Request};
pub use rerun::{Rerun, simulate_reruns};
pub use set::{Set, Way, job_of_set, pair_of_set, ways};
pub use templates::Scale;
