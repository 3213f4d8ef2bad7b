//! Vertex attempts of a stage: all attempts if memory allows, distributions always.

use std::sync::Arc;

use crate::counters::Name;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// Its output was used.
    Completed,
    Failed,
    /// The scheduler took its machine away, or a later vertex lost its output.
    Revoked,
    /// A duplicate finished first.
    Abandoned,
    Cancelled,
}

/// One attempt at a vertex. Times are milliseconds since 1970 in the job's own clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VertexRun {
    /// Index of the vertex in its stage: 25 of `SV1_Extract_Split[25]`.
    pub index: u32,
    pub state: RunState,
    /// Index into [`StageRuns::machines`].
    pub machine: u32,
    /// Created by the job manager: its inputs were ready.
    pub created_ms: i64,
    pub queued_ms: i64,
    /// Process started on its machine.
    pub started_ms: i64,
    pub running_ms: i64,
    pub ended_ms: i64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// 1-based line of the file.
    pub line: u64,
}

/// Minimum, mean, percentiles and maximum of some number over vertices.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Distribution {
    pub count: u64,
    pub total: f64,
    pub min: f64,
    pub p50: f64,
    pub p95: f64,
    pub max: f64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageRuns {
    pub file: String,
    /// Attempts in file order; only a sample if `sampled`.
    pub runs: Vec<VertexRun>,
    /// Names of the machines that `runs` point at.
    pub machines: Arc<[Name]>,
    /// Whether `runs` is only a part of the attempts (the slowest and an even sample).
    pub sampled: bool,
    pub completed: u64,
    pub failed: u64,
    pub revoked: u64,
    /// Attempts that a duplicate made useless, and cancelled ones.
    pub abandoned: u64,
    /// Milliseconds from running to end, over completed attempts.
    pub run_ms: Distribution,
    /// Milliseconds from queued to running, over completed attempts.
    pub wait_ms: Distribution,
    /// Bytes read, over completed attempts.
    pub bytes_read: Distribution,
    /// Bytes written, over completed attempts.
    pub bytes_written: Distribution,
    /// Milliseconds that failed, revoked and abandoned attempts ran.
    pub wasted_ms: f64,
    /// Messages of failures, revocations and read failures with their counts, most frequent first.
    pub events: Vec<(String, u64)>,
}
