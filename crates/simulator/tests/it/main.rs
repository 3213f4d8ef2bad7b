//! Simulated jobs: reproducible, true to their causes, and with scripts that run.

mod cases;
mod exec;
mod jobs;
mod rewrites;
