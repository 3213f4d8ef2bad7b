//! The MCP server as a client meets it, spoken to with the official client.

pub(crate) mod client;
mod http;
mod roots;
mod runs;
pub(crate) mod tools;
