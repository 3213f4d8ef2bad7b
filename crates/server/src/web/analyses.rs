//! Analyses started by the page, with their progress.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use report::visible_line;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};

/// Analyses that are remembered, running or ended.
const REMEMBERED: usize = 64;
/// Lines of progress that are kept; repeated steps add some.
const LINES: usize = 200;
/// Characters of a line.
const LINE: usize = 160;

#[derive(Default)]
pub(super) struct Analyses(Mutex<VecDeque<Arc<Progress>>>);

/// How far an analysis is.
pub(super) struct Progress {
    pub(super) run_id: String,
    pub(super) job: String,
    pub(super) stop: CancellationToken,
    steps: Mutex<Steps>,
    /// Counts changes, for requests that wait for one.
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct Steps {
    lines: Vec<String>,
    end: Option<std::result::Result<(), Error>>,
}

/// State of an analysis, as a page shows it.
pub(super) struct Seen {
    /// From the line that was asked for on.
    pub(super) lines: Vec<String>,
    /// `Some` at the end; the reason, if it failed.
    pub(super) end: Option<Option<String>>,
}

impl Analyses {
    pub(super) fn find(&self, run_id: &str) -> Option<Arc<Progress>> {
        let all = locked(&self.0);
        all.iter().find(|p| p.run_id == run_id).map(Arc::clone)
    }

    /// Running analyses, the newest first.
    pub(super) fn running(&self) -> Vec<Arc<Progress>> {
        let all = locked(&self.0);
        let running = all.iter().rev().filter(|p| !p.has_ended());
        running.map(Arc::clone).collect()
    }

    /// # Errors
    /// If too many run already.
    pub(super) fn remember(&self, progress: &Arc<Progress>) -> Result<()> {
        let mut all = locked(&self.0);
        if all.len() >= REMEMBERED {
            let ended = all.iter().position(|p| p.has_ended());
            let Some(ended) = ended else {
                return Err(error!(
                    Usage: "正在进行的分析过多", "too many analyses are running";
                    "请等待其中一个结束，或取消一个", "wait until one has ended, or cancel one"
                ));
            };
            all.remove(ended);
        }
        all.push_back(Arc::clone(progress));
        Ok(())
    }
}

impl Progress {
    pub(super) fn new(run_id: String, job: String, stop: CancellationToken) -> Progress {
        Progress {
            run_id,
            job,
            stop,
            steps: Mutex::default(),
            changed: watch::Sender::new(0),
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        locked(&self.steps).end.is_some()
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(super) fn seen(&self, from: usize) -> Seen {
        let steps = locked(&self.steps);
        let end = steps.end.as_ref();
        Seen {
            lines: steps.lines.get(from..).unwrap_or_default().to_vec(),
            end: end.map(|end| end.as_ref().err().map(Error::one_line)),
        }
    }

    pub(super) fn add(&self, line: String) {
        let mut steps = locked(&self.steps);
        if steps.lines.len() < LINES {
            let line: String = line.chars().take(LINE).collect();
            steps
                .lines
                .push(visible_line(&llm::hide(&line)).into_owned());
        }
        drop(steps);
        self.changed.send_modify(|n| *n += 1);
    }

    pub(super) fn end(&self, end: std::result::Result<(), Error>) {
        locked(&self.steps).end = Some(end);
        self.changed.send_modify(|n| *n += 1);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
