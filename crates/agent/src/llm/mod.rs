//! The LLM reasoner: profiles, client, retries, structured answers.

mod answer;
mod client;
mod connect;
mod context;
mod doctor;
mod dry_run;
mod failure;
mod level;
mod markers;
pub mod profile;
mod reasoner;
mod redact;
mod retry;
mod transcript;
pub mod transport;

pub use client::{ClientError, Server};
pub use connect::{ConnectError, Keys};
pub use doctor::{Symptom, examine};
pub use dry_run::{DryRun, Preview};
pub use profile::{Level, LlmConfig, Profile, Provider};
pub use reasoner::{Lane, LlmOptions, LlmReasoner};
pub(crate) use redact::literals;
pub use redact::{Mask, secrets};
pub use transcript::{Replay, Transcript, TranscriptError};
