//! Questions about a run: understood, answered, or admitted to be unknown.

mod kinds;
mod question;
#[path = "../../../runs/tests/it/support.rs"]
mod support;
mod table;
mod words;
