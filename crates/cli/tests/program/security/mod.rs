//! Hostile jobs, models and servers: nothing gets out, nothing brings the program down.

mod kills;
mod secrets;
mod state;
mod trust;
