//! Plans that the optimizer could have chosen: each changes some exchanges, adds the exchanges that the
//! change requires, and is priced ([`cost`]) at the rates that the job measured. Knows no
//! rules.

pub(crate) mod broadcast;
pub(crate) mod columns;
pub(crate) mod cost;
pub(crate) mod deduplicated;
pub(crate) mod filter;
pub(crate) mod gather;
pub(crate) mod repartition;
#[cfg(test)]
mod tests;
