//! Streaming queries: stopped ones, failed ones, and the durations of their micro-batches.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{Progress, QueryEvent};
use crate::model::{DriverJob, Execution, MicroBatch};
use crate::text::head;
use crate::time::iso_ms;

/// Maximum number of queries and of runs.
const MAX_QUERIES: usize = 10_000;
/// Bytes kept of an exception.
const MAX_EXCEPTION: usize = 16_000;

/// The streaming queries of an application.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// Runs that ended without an exception: `stop()` was called, or all data was processed.
    stopped: BTreeSet<String>,
    /// Exceptions of queries that were not restarted, with the line of the event.
    failed: BTreeMap<String, (String, u64)>,
    /// Queries that reported a batch, by their position.
    queries: BTreeMap<String, u32>,
}

impl Streams {
    pub(super) fn started(&mut self, event: &QueryEvent<'_>) {
        self.failed.remove(event.id.0.as_ref());
    }

    pub(super) fn terminated(&mut self, event: &QueryEvent<'_>, line: u64) {
        if self.stopped.len() + self.failed.len() >= MAX_QUERIES {
            return;
        }
        match event.exception.text() {
            None => {
                self.stopped.insert(event.run.0.clone().into_owned());
            }
            Some(exception) => {
                let kept = head(&exception, MAX_EXCEPTION).to_owned();
                self.failed
                    .insert(event.id.0.clone().into_owned(), (kept, line));
            }
        }
    }

    /// Number of runs that ended without an exception.
    pub(super) fn ended(&self) -> usize {
        self.stopped.len()
    }

    /// The exception of the query that failed last, and the line of its event.
    pub(super) fn failure(&self) -> Option<(&str, u64)> {
        let failed = self.failed.values().max_by_key(|(_, line)| *line);
        failed.map(|(exception, line)| (exception.as_str(), *line))
    }

    /// Clears the failure of a micro-batch that was running when its query was stopped: `stop()`
    /// interrupts the batch.
    pub(super) fn forgive(&self, job: &mut DriverJob) {
        if self.stops(job.description.as_deref()) && job.succeeded == Some(false) {
            (job.succeeded, job.error) = (None, None);
        }
    }

    /// As [`Streams::forgive`] for an execution.
    pub(super) fn forgive_execution(&self, execution: &mut Execution) {
        if self.stops(execution.description.as_deref()) {
            execution.error = None;
        }
    }

    /// Whether a description names a batch of a stopped run: `id = …\nrunId = …\nbatch = 3`.
    fn stops(&self, description: Option<&str>) -> bool {
        let run = description.and_then(|d| d.split_once("runId = "));
        let run = run.and_then(|(_, rest)| rest.split_whitespace().next());
        run.is_some_and(|run| self.stopped.contains(run))
    }

    /// The micro-batch that a query reports; `None` for a trigger without data.
    pub(super) fn batch(&mut self, progress: &Progress<'_>, line: u64) -> Option<MicroBatch> {
        let query = self.query(progress.query.0.as_ref());
        micro_batch(progress, query, line)
    }

    /// The position of a query; those beyond the bound share the last one.
    fn query(&mut self, id: &str) -> u32 {
        let count = self.queries.len() as u32;
        match self.queries.get(id) {
            Some(query) => *query,
            None if self.queries.len() >= MAX_QUERIES => count,
            None => {
                self.queries.insert(id.to_owned(), count);
                count
            }
        }
    }
}

fn micro_batch(progress: &Progress<'_>, query: u32, line: u64) -> Option<MicroBatch> {
    let spent = |ms: &super::event::Number| ms.or_zero() as i64;
    let work_ms = spent(&progress.spent.work);
    let batch = MicroBatch {
        query,
        id: progress.batch.or_zero(),
        started_ms: iso_ms(&progress.time.0)?,
        duration_ms: spent(&progress.spent.all),
        work_ms,
        rows: sum(progress.sources.iter().map(|s| s.rows.or_zero())),
        state_rows: sum(progress.states.iter().map(|s| s.rows.or_zero())),
        state_bytes: sum(progress.states.iter().map(|s| s.bytes.or_zero())),
        expires: !progress.event_time.watermark.0.is_empty(),
        line,
    };
    (work_ms > 0).then_some(batch)
}

fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}
