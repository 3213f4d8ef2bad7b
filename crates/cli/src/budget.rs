//! What the analysis of one job may take.

use std::time::Duration;

/// What one job may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) time: Duration,
    /// Bytes of address space on top of what the worker needs for itself. On systems that don't limit
    /// it (Windows, macOS) only the time is limited.
    pub(crate) memory: u64,
    /// For its searches. Large files are read by as many threads as there are cores, whoever else reads.
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
    /// The budget of each of several jobs that are analyzed at a time. Where there are as many as cores, the searches of each have
    /// one thread: threads that wait for each other would only take time from other jobs.
    pub(crate) fn shared_by(self, jobs: usize) -> Budget {
        Budget {
            threads: (self.threads / jobs.max(1)).max(1),
            ..self
        }
    }
}
