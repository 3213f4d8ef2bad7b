//! Simulated jobs: reproducible, true to their causes, and with scripts that run.

mod cases;
mod jobs;
mod scripts;
