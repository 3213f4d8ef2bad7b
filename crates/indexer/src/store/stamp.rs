//! The file system's stamp of a file (size, times, inode). A document with an unchanged stamp is not read again.
//!
//! The stamp protects against accidents, not against an attacker who can write to the folder and set the time
//! back.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A file may be written twice within one tick of the file system's clock, so a stamp younger than this is no proof.
const SETTLED: Duration = Duration::from_secs(3);

/// The size of a file, the nanoseconds from 1970 to when it was last written, and on Unix its inode, else 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State(u64, u64, u64);

impl State {
    /// `None` if the system does not say when it was written.
    pub(crate) fn of(file: &Metadata) -> Option<State> {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(file);
        #[cfg(not(unix))]
        let inode = 0;
        let written = file.modified().ok()?;
        Some(State(file.len(), since_1970(written)?, inode))
    }

    /// The state of two files that are one document.
    pub(crate) fn with(self, other: State) -> State {
        let inode = self.2.rotate_left(1) ^ other.2;
        State(self.0 + other.0, self.1.max(other.1), inode)
    }

    /// `time` is in nanoseconds from 1970.
    pub(crate) fn is_written_after(self, time: u64) -> bool {
        self.1 > time
    }

    /// Whether any writing after `read`, when the state was read, shows.
    pub(crate) fn is_settled(self, read: SystemTime) -> bool {
        let then = read.checked_sub(SETTLED).and_then(since_1970);
        then.is_some_and(|then| !self.is_written_after(then))
    }
}

/// Nanoseconds.
pub(crate) fn since_1970(time: SystemTime) -> Option<u64> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
