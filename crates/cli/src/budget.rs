//! Limits for the analysis of one job.

use std::time::Duration;

/// Limits for one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) time: Duration,
    /// Bytes of address space in addition to the worker's own. On systems without such a limit
    /// (Windows, macOS), only the time is limited.
    /// it (Windows, macOS) only the time is limited.
    pub(crate) memory: u64,
    /// For its searches. Reading a large file uses one thread per core, regardless of other readers.
    pub(crate) threads: usize,
}

impl Default for Budget {
    /// An hour suffices for a deep analysis by a slow LLM; the largest job folders take some 500 MiB.
    fn default() -> Budget {
        Budget {
            time: Duration::from_secs(3600),
            memory: 4 << 30,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl Budget {
    /// The budget of each of several concurrent jobs. With one job per core, each job searches with one thread: threads that wait
    /// for each other would only take time from other jobs.
    pub(crate) fn shared_by(self, jobs: usize) -> Budget {
        Budget {
            threads: (self.threads / jobs.max(1)).max(1),
            ..self
        }
    }
}
