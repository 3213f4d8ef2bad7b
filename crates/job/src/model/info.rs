//! Name, times and size of the whole job.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use report::{JobState, Source};

#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct JobInfo {
    pub id: Option<String>,
    pub name: Option<String>,
    pub state: JobState,
    /// Milliseconds since 1970 (UTC) at which it was submitted.
    pub submitted_ms: Option<i64>,
    /// Milliseconds since 1970 (UTC) at which it began to run.
    pub started_ms: Option<i64>,
    /// Milliseconds since 1970 (UTC) at which it ended.
    pub ended_ms: Option<i64>,
    /// Run time from start to end, in seconds (queue and compilation are not in it).
    pub elapsed_seconds: Option<f64>,
    /// Time between the end of compilation and the start, in seconds.
    pub queued_seconds: Option<f64>,
    pub compile_seconds: Option<f64>,
    /// Tokens (SCOPE) or AUs (U-SQL): vertices that may run at once.
    pub tokens: Option<u32>,
    /// Priority; a smaller number goes first.
    pub priority: Option<i64>,
    /// States with the times when the job entered them, ms since 1970, in time order.
    pub states: Vec<(String, i64)>,
    /// Further fields as read (virtual cluster, user, run-time version, …).
    pub other: BTreeMap<String, String>,
    /// Where each field above was read, by its Rust name.
    pub sources: BTreeMap<&'static str, Source>,
    /// Rank of each field's source; readers use it to choose between sources.
    #[serde(skip)]
    #[doc(hidden)]
    pub ranks: BTreeMap<&'static str, u8>,
}

impl JobInfo {
    /// Seconds from submission to end: from the job's own times, else the sum of its phases.
    pub fn total_seconds(&self) -> Option<f64> {
        let submitted = self.submitted_ms.zip(self.ended_ms);
        let span = submitted.map(|(from, to)| (to - from) as f64 / 1e3);
        let phases = || Some(self.compile_seconds? + self.queued_seconds? + self.elapsed_seconds?);
        span.or_else(phases).filter(|s| s.is_finite() && *s >= 0.0)
    }
}
