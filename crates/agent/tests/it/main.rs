//! Whole analyses: of simulated jobs with the offline reasoner, and against a scripted LLM.

mod claims;
mod faults;
mod kept;
mod llm;
mod offline;
mod prompts;
mod protocols;
mod support;
