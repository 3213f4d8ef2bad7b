//! Whole analyses: of simulated jobs with the offline reasoner, and against a scripted LLM.

mod claims;
mod compare;
mod faults;
mod kept;
mod learning;
mod llm;
mod offline;
mod prompts;
mod protocols;
mod support;
