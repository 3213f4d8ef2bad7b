//! Language models: providers, profiles, streaming, structured answers, tool calls, cost and
//! transcripts. Independent of jobs, steps and prompts.

mod budget;
mod client;
mod connect;
mod doctor;
mod ending;
mod failure;
pub mod level;
mod mask;
mod model;
pub mod profile;
mod relay;
pub mod retry;
mod secrets;
mod target;
mod tool_call;
mod transcript;
pub mod transport;

pub use budget::{Budget, Reserved};
pub use client::Server;
pub use connect::{ConnectError, Keys};
pub use doctor::{Symptom, examine};
pub use mask::{Mask, is_word_part};
pub use model::{LlmOptions, Model};
pub use profile::{LIST_PRICES_OF, Level, LlmConfig, Profile, Provider};
pub use secrets::{has_secrets, hide, hide_in, remember, secrets};
pub use target::ClientError;
pub use tool_call::{ToolCall, ToolCalls, ToolResult, ToolRound, ToolSpec};
pub use transcript::{Replay, Transcript, TranscriptError};
