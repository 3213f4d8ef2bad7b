//! Logs of Spark applications on a History Server, through its REST interface.
//!
//! A server is only asked if it was allowed by name ([`Access::with_history`](crate::Access::with_history)), and never sends us elsewhere:
//! redirects are followed within the server.

mod address;
mod client;
mod problem;
#[cfg(test)]
mod tests;

pub use address::Application;
pub(crate) use address::Server;
pub(crate) use client::find;
pub use problem::Problem;
