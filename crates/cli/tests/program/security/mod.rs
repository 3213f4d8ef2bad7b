//! Hostile jobs, models and servers: no secret gets out, no input crashes the program, and no text
//! of a job acts.

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
