//! Saved runs: their store, comparison of two of them, and the effect of feedback.

mod compare;
mod learning;
mod store;
mod support;
mod twins;
