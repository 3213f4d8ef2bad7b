//! Hostile jobs, models and servers: nothing gets out, nothing brings the program down.

mod redaction;
mod trust;
