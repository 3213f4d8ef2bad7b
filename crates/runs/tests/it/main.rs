//! Saved runs: their store, comparison of two of them, questions about them, and what feedback teaches.

mod compare;
mod learning;
mod question;
mod store;
mod support;
mod twins;
