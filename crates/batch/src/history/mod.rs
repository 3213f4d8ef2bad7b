//! Logs of Spark applications on a History Server, through its REST interface.
//!
//! A server is only asked if it was allowed by name ([`Access::with_history`](crate::Access::with_history)), and never sends us elsewhere:
//! redirects are followed within the server.

mod client;
#[cfg(test)]
mod tests;

pub use client::{ListedApplication, Wanted};
pub(crate) use client::{find, list};
