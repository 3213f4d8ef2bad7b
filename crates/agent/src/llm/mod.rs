//! The LLM reasoner: profiles, client, retries, structured answers.

mod answer;
mod client;
mod context;
mod failure;
mod level;
mod markers;
pub mod profile;
mod reasoner;
mod redact;
mod retry;
pub mod transport;

pub use client::{ClientError, Server};
pub use profile::{Level, LlmConfig, Profile, Provider};
pub use reasoner::{Lane, LlmOptions, LlmReasoner};
pub use redact::{Mask, secrets};
