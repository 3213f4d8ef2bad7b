//! Saved runs: their store, comparison of two of them, and the effect of feedback.

mod compare;
mod history;
mod learning;
mod store;
mod support;
mod twins;
