//! Micro-batches of Structured Streaming, and whether they keep up with their input.

use std::collections::HashMap;

use super::{Application, DriverJob};

/// A micro-batch of Structured Streaming, by the progress that its query reports.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MicroBatch {
    /// Position of its query among those of the application.
    pub query: u32,
    pub id: u64,
    pub started_ms: i64,
    /// From the trigger to the commit: planning, running and logging the batch.
    pub duration_ms: i64,
    /// Running the batch, a part of its duration.
    pub work_ms: i64,
    /// Rows that it read from its sources.
    pub rows: u64,
    /// Rows and bytes of the state that it left.
    pub state_rows: u64,
    pub state_bytes: u64,
    /// Whether a watermark lets old state expire.
    pub expires: bool,
    pub line: u64,
}

impl MicroBatch {
    pub fn ended_ms(&self) -> i64 {
        self.started_ms.saturating_add(self.duration_ms)
    }
}

impl DriverJob {
    /// The micro-batch that it runs, as its description names it: `id = …\nrunId = …\nbatch = 3`.
    pub fn batch(&self) -> Option<&str> {
        let description = self.description.as_deref()?;
        description.contains("runId = ").then_some(description)
    }
}

/// How the micro-batches of a query follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// They wait for a trigger or for data.
    KeepsUp,
    /// They don't wait, and each reads more rows than those before it.
    FallsBehind,
    /// They don't wait, and read about as many rows each: what has piled up is worked off.
    Backlog,
}

/// Batches from which a pace shows.
const MIN_BATCHES: usize = 5;

/// Batches at the start that load code.
const WARM_UP: usize = 2;

/// Share of the time without a batch from which a query waits.
const LEAST_WAIT: f64 = 0.1;

/// Times the rows of the first batches from which the later ones have more to do.
const MORE_ROWS: f64 = 1.3;

impl Application {
    /// The batches of the query that ran longest, in the order of the log.
    pub fn main_query(&self) -> Vec<&MicroBatch> {
        let mut spent: HashMap<u32, i64> = HashMap::new();
        for batch in &self.batches {
            let ms = spent.entry(batch.query).or_default();
            *ms = ms.saturating_add(batch.duration_ms);
        }
        let main = spent
            .into_iter()
            .max_by_key(|(query, ms)| (*ms, std::cmp::Reverse(*query)));
        let own = |batch: &&MicroBatch| main.is_some_and(|(query, _)| query == batch.query);
        self.batches.iter().filter(own).collect()
    }

    /// How the batches of the main query follow each other; `None` if there are too few.
    pub fn pace(&self) -> Option<Pace> {
        let batches = self.main_query();
        if batches.len() < MIN_BATCHES {
            return None;
        }
        let steady = &batches[WARM_UP.min(batches.len() - 3)..];
        if waiting_share(steady) >= LEAST_WAIT {
            return Some(Pace::KeepsUp);
        }
        let third = (steady.len() / 3).max(1);
        let rows =
            |of: &[&MicroBatch]| of.iter().map(|b| b.rows as f64).sum::<f64>() / of.len() as f64;
        let (early, late) = (
            rows(&steady[..third]),
            rows(&steady[steady.len() - third..]),
        );
        Some(match late >= MORE_ROWS * early.max(1.0) {
            true => Pace::FallsBehind,
            false => Pace::Backlog,
        })
    }
}

/// Share of the time from the first to the last of some batches in which none of them runs.
pub fn waiting_share(batches: &[&MicroBatch]) -> f64 {
    let (Some(first), Some(last)) = (batches.first(), batches.last()) else {
        return 0.0;
    };
    let whole = last.started_ms.saturating_sub(first.started_ms);
    let pairs = batches.windows(2);
    let waited: i64 = pairs
        .map(|pair| pair[1].started_ms.saturating_sub(pair[0].ended_ms()).max(0))
        .fold(0, i64::saturating_add);
    if whole <= 0 {
        return 0.0;
    }
    waited as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paced(batches: impl Iterator<Item = (i64, i64, u64)>) -> Option<Pace> {
        let batch = |(started_ms, duration_ms, rows)| MicroBatch {
            started_ms,
            duration_ms,
            rows,
            ..MicroBatch::default()
        };
        let app = Application {
            batches: batches.map(batch).collect(),
            ..Application::default()
        };
        app.pace()
    }

    #[test]
    fn a_stream_that_waits_keeps_up_and_one_that_reads_more_and_more_falls_behind() {
        let waits = (0..9).map(|n| (n * 5_000, 2_000, 100));
        assert_eq!(paced(waits), Some(Pace::KeepsUp));
        let grows = (0..9).map(|n| (n * n * 1_000, (2 * n + 1) * 1_000, 100 * n as u64));
        assert_eq!(paced(grows), Some(Pace::FallsBehind));
        let backlog = (0..9).map(|n| (n * 2_000, 2_000, 100));
        assert_eq!(paced(backlog), Some(Pace::Backlog));
        assert_eq!(paced((0..4).map(|n| (n * 2_000, 2_000, 100))), None);
        let hostile = (0..9).map(|n| (i64::MAX - n, i64::MAX, u64::MAX));
        assert!(paced(hostile).is_some());
    }
}
