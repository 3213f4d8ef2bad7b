//! What the analysis of one job may take.

use std::time::Duration;

/// What one job may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) time: Duration,
    /// Bytes of address space on top of what the worker needs for itself. On systems that don't limit
    /// it (Windows, macOS) only the time is limited.
    pub(crate) memory: u64,
}

impl Budget {
    /// An hour suffices for a deep analysis by a slow LLM.
    pub(crate) const TIME: Duration = Duration::from_secs(3600);
    /// The largest job folders take some 500 MiB.
    pub(crate) const MEMORY: u64 = 4 << 30;
}
