//! Diagnoses of whole folders, simulated and real.

mod jobs_dev;
mod real_jobs;
mod simulated;
mod support;
