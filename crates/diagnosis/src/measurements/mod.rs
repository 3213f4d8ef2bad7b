//! Measurements that several rules share. A measurement is made here once; the rule decides its meaning.
//!
//! Measurements know no rule. A threshold is declared next to the measurement that is compared with it.

pub(crate) mod contention;
pub(crate) mod driver;
pub(crate) mod estimate;
pub(crate) mod exchange;
pub(crate) mod explosion;
pub mod failure;
pub(crate) mod hot;
pub(crate) mod load;
pub mod managed;
pub(crate) mod plan_parts;
pub(crate) mod rates;
pub(crate) mod retries;
pub mod sizing;
pub(crate) mod skew;
pub mod spill;
pub mod tasks;
pub(crate) mod tiny;
