//! The program as its users meet it: arguments in, text and exit status out.

mod answers;
mod bad_input;
mod batch;
mod browser;
mod calls;
mod cases;
mod compare;
mod contract;
mod distribution;
mod earlier;
mod fronts;
mod golden;
mod interactive;
mod killed;
mod knowledge;
mod language;
mod layers;
mod llm;
mod logs;
mod mcp;
mod models;
mod runs;
mod search;
mod security;
mod sessions;
mod support;
