//! Diagnoses of whole folders, simulated and real.

mod account;
mod event_log;
mod failed;
mod generated;
mod invariants;
mod jobs_dev;
mod metamorphic;
mod mutate;
mod programs;
mod real_jobs;
mod runs;
mod scripts;
mod settings;
mod shared_cases;
mod simulated;
mod spark;
mod spark_logs;
mod spark_scripts;
mod spark_tasks;
mod support;
mod texts;
