//! A scripted LLM: a server on the loopback interface. It gives the answers of a test's script, in the protocol of the
//! request and in pieces of the test's choice, and records every request.
//!
//! It speaks OpenAI's chat completions and Responses, Anthropic's messages and Gemini's generateContent, chosen by the
//! path. Given a provider, it also imitates its habits: the form of its errors, the place of token counts and
//! thoughts, and refused requests. It speaks just enough HTTP/1.1 for a client library, on plain threads, so that
//! synchronous and asynchronous tests can use it. It does not judge prompts: tests look at the recorded requests.
//!
//! ```no_run
//! use testkit::llm::{Server, Turn};
//!
//! let server = Server::start(vec![Turn::text("all is well"), Turn::error(429, "slow down").header("retry-after", "0")]);
//! let base = server.url(); // http://127.0.0.1:PORT/v1
//! // … run the code under test against `base` …
//! assert_eq!(server.requests().len(), 2);
//! ```

mod dialect;
mod http;
mod recorded;
mod reply;
mod rules;
mod server;
pub mod think;
mod trouble;
mod wire;

pub use dialect::Dialect;
pub use recorded::Recorded;
pub use reply::{Chunking, Fault, Turn};
pub use server::Server;
pub use trouble::Trouble;
