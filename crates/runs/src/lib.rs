//! Kept runs: their store, feedback on their suggestions, comparison of two of them, and resolved
//! cases written from them.

pub mod case;
pub mod compare;
pub mod feedback;
pub mod picture;
pub mod shape;
pub mod store;
mod wording;
