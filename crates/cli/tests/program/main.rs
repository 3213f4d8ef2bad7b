//! The program as its users meet it: arguments in, text and exit status out.

mod answers;
mod bad_input;
mod contract;
mod knowledge;
mod llm;
mod runs;
mod support;
