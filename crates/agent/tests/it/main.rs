//! Whole analyses: of simulated jobs with the offline reasoner, and against a scripted LLM.

mod faults;
mod llm;
mod offline;
mod support;
