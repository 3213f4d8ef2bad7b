//! Lists a job folder, or takes a single event log, recognizes files by their content and reads them
//! into a [`Job`].
//!
//! Knows which reader takes which kind of file; the meaning of the numbers is up to other modules.

mod error;
mod kinds;
mod list;
mod memory;
pub(crate) mod opening;
mod reader;
mod script;

use std::path::Path;

use crate::catalogue::Catalogue;
use crate::model::Job;
use crate::until::Until;

pub use error::{OpenError, TextError};
pub use list::{open, recognize};
pub use memory::{kind_of, read_memory};
pub use reader::{JobReader, ReadFile};

/// Limits of reading, and the catalogue that names the files.
#[derive(Debug, Clone)]
pub struct Options {
    /// Limit on the size of a file that is read as a whole; it is lower for scripts. `profile` is streamed and
    /// has no limit.
    pub max_file_bytes: u64,
    pub max_files: usize,
    /// Vertex attempts kept per stage before they are sampled.
    pub max_runs_per_stage: usize,
    /// When to stop reading.
    pub until: Until,
    /// Catalogue with the kinds of files to read first.
    pub catalogue: Catalogue,
}

impl Options {
    /// The usual bounds.
    pub fn with(catalogue: Catalogue) -> Options {
        Options {
            max_file_bytes: 256 << 20,
            max_files: 10_000,
            max_runs_per_stage: 50_000,
            until: Until::default(),
            catalogue,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::with(Catalogue::default())
    }
}

/// Opens a folder or an event log and reads everything in it.
pub fn load(path: &Path) -> Result<Job, OpenError> {
    let mut reader = open(path, &Options::default())?;
    reader.read_all();
    Ok(reader.into_job())
}
