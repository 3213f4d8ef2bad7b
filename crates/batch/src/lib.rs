//! Many jobs: where they are, which of them have a result, and who analyzes the rest.
//!
//! ```text
//! plan:  sources ── discover ──> manifest (uri, etag, size per job)
//! run:   manifest minus results ── fetch ── analyze ──> one result object per job
//! ```
//!
//! The store is the truth: resuming, retrying and progress are set differences between the manifest and the results. A result is written
//! only if there is none yet, so any number of processes may work on one store. The analysis itself is the caller's; nothing here prints or
//! reads the environment.

mod error;
mod location;
mod result;
mod store;

pub use error::{Error, Result};
pub use location::{Access, Location, Remote, is_url, local_uri};
pub use result::{Entry, JobResult, Program, RESULT_VERSION, Status};
pub use store::{Changes, Put, Store};
