//! The LLM reasoner: profiles, client, retries, structured answers.

mod answer;
mod client;
mod connect;
mod context;
mod doctor;
mod dry_run;
mod ending;
mod failure;
mod lane;
mod level;
mod markers;
pub mod profile;
mod reasoner;
mod redact;
mod retry;
mod target;
mod task;
mod transcript;
pub mod transport;

pub use client::Server;
pub use connect::{ConnectError, Keys};
pub use doctor::{Symptom, examine};
pub use dry_run::{DryRun, Preview};
pub use lane::{Lane, LlmOptions};
pub use profile::{Level, LlmConfig, Profile, Provider};
pub use reasoner::LlmReasoner;
pub(crate) use redact::literals;
pub use redact::{Mask, secrets};
pub use target::ClientError;
pub use transcript::{Replay, Transcript, TranscriptError};
