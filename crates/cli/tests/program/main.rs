//! The program as its users meet it: arguments in, text and exit status out.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod answers;
mod bad_input;
mod browser;
mod contract;
mod knowledge;
mod llm;
mod mcp;
mod models;
mod runs;
mod search;
mod support;
