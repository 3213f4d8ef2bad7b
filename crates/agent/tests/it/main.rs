//! Whole analyses: of simulated jobs with the offline reasoner, and against a scripted LLM.

mod answerable;
mod claims;
mod experience;
mod false_claims;
mod faults;
mod kept;
mod llm;
mod malformed;
mod offline;
mod prompts;
mod protocols;
mod providers;
mod security;
mod sent;
mod sufficiency;
mod support;
mod tools;
