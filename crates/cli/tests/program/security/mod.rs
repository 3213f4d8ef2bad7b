//! Hostile jobs, models and servers: nothing gets out, nothing brings the program down, and nothing
//! that a job says acts.

mod escaping;
mod history;
mod hostile;
mod kills;
mod mcp;
mod redaction;
mod secrets;
mod state;
mod trust;
mod web;
mod workers;
