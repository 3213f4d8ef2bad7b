//! The LLM reasoner: profiles, client, retries, structured answers.

pub mod profile;
