//! Many jobs.

mod aggregate;
pub mod page;
pub mod tables;

pub use aggregate::{Aggregate, Written};
