//! Saved runs: their store, comparison of two of them, questions about them, and the effect of
//! feedback.

mod compare;
mod history;
mod learning;
mod question;
mod store;
mod support;
mod twins;
