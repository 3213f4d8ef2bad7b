//! How far a batch has come.

use std::time::{Duration, Instant};

use crate::run::Step;
use crate::store::Put;

#[derive(Debug, Clone)]
pub struct Progress {
    /// Jobs of this call; `None` while the number is unknown.
    pub total: Option<usize>,
    /// Jobs that had a result before this call, or got one from another process.
    pub known: usize,
    /// Jobs with a report.
    pub done: usize,
    pub failed: usize,
    /// Jobs left without a result.
    pub postponed: usize,
    /// Results that another process wrote first with other bytes.
    pub different: usize,
    started: Instant,
    /// Jobs that counted when it started.
    skipped: usize,
}

impl Progress {
    pub fn new(total: Option<usize>, known: usize) -> Progress {
        Progress {
            total,
            known,
            done: 0,
            failed: 0,
            postponed: 0,
            different: 0,
            started: Instant::now(),
            skipped: known,
        }
    }

    pub fn add(&mut self, step: &Step) {
        match step {
            Step::Known => self.known += 1,
            Step::Postponed { .. } => self.postponed += 1,
            Step::Interrupted | Step::Obsolete => {}
            Step::Written { result, put } => {
                match result.is_done() {
                    true => self.done += 1,
                    false => self.failed += 1,
                }
                self.different += usize::from(*put == Put::Different);
            }
        }
    }

    /// Jobs that need no more work.
    pub fn finished(&self) -> usize {
        self.known + self.done + self.failed
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Jobs analyzed per second.
    pub fn rate(&self) -> f64 {
        let analyzed = (self.done + self.failed) as f64;
        analyzed / self.elapsed().as_secs_f64().max(0.001)
    }

    /// Seconds that the rest will take at the pace so far; `None` if that is not known yet.
    pub fn seconds_left(&self) -> Option<f64> {
        let finished = self.finished() - self.skipped;
        let left = self.total?.checked_sub(self.finished())?;
        let each = self.elapsed().as_secs_f64() / finished as f64;
        (finished > 0).then_some(each * left as f64)
    }
}
