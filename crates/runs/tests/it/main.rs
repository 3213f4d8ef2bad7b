//! Saved runs: their store, comparison of two of them, and what feedback teaches.

mod compare;
mod learning;
mod store;
mod support;
mod twins;
