//! How far a batch is: a bar, a line now and then, counters for Prometheus, and the totals at the end.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use batch::{Progress, Put, Step, Store, Summary};
use report::{say, visible_line};
use serde::Serialize;
use server::Result;
use tokio::runtime::Handle;

use super::metrics;
use crate::args::Format;
use crate::exit::Exit;
use crate::render;
use crate::terminal::{Bar, Terminal};

/// Interval of progress lines, without a progress bar.
const REMARK_EVERY: Duration = Duration::from_secs(30);

/// Watches one call.
pub(super) struct Watch<'a> {
    terminal: &'a Terminal,
    bar: Bar,
    progress: Arc<Mutex<Progress>>,
    summary: Summary,
    said: Instant,
}

/// Result of a call.
#[derive(Debug, Serialize)]
struct Answer {
    store: String,
    /// Jobs that had a result already, or got one from another process.
    known: usize,
    /// Jobs that stay without a result for now.
    postponed: usize,
    #[serde(flatten)]
    summary: Summary,
}

impl Watch<'_> {
    /// `total` includes the jobs that have a result; `None` if the number of jobs is unknown.
    pub(super) fn start<'a>(
        terminal: &'a Terminal,
        total: Option<usize>,
        known: usize,
        metrics: Option<SocketAddr>,
        runtime: &Handle,
    ) -> Result<Watch<'a>> {
        let progress = Arc::new(Mutex::new(Progress::new(total, known)));
        if let Some(address) = metrics {
            let address = runtime.block_on(metrics::serve(address, Arc::clone(&progress)))?;
            terminal.remark(&say!(
                "指标位于 http://{address}/metrics",
                "metrics at http://{address}/metrics"
            ));
        }
        Ok(Watch {
            terminal,
            bar: terminal.bar(known, total.unwrap_or_default()),
            progress,
            summary: Summary::default(),
            said: Instant::now(),
        })
    }

    pub(super) fn step(&mut self, step: &Step) {
        let progress = {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.add(step);
            progress.clone()
        };
        match step {
            Step::Written { result, put } => {
                self.summary.add(result);
                self.written(&result.uri, result.reason.as_deref(), *put);
            }
            Step::Postponed { uri, reason } => self.warn(uri, reason),
            Step::Known | Step::Interrupted | Step::Obsolete => {}
        }
        let (rate, failed) = (format!("{:.1}", progress.rate()), progress.failed);
        let message = say!(
            "每秒 {rate} 个，失败 {failed} 个",
            "{rate} jobs per second, {failed} failed"
        );
        self.bar.at(progress.finished(), &message);
        if self.bar.is_hidden() && self.said.elapsed() >= REMARK_EVERY {
            self.said = Instant::now();
            self.terminal.remark(&render::batch::progress(&progress));
        }
    }

    fn written(&self, uri: &str, reason: Option<&str>, put: Put) {
        match reason {
            Some(reason) => self.warn(uri, reason),
            None => tracing::debug!(job = uri, "analyzed"),
        }
        if put == Put::Different {
            let other = say!(
                "其他进程先写入了不同的结果，以其为准",
                "somebody else wrote another result first, which stays"
            );
            self.warn(uri, &other);
        }
    }

    fn warn(&self, uri: &str, reason: &str) {
        let reason = reason.lines().next().unwrap_or_default();
        let (job, reason) = (visible_line(uri), visible_line(reason));
        self.bar.aside(|| tracing::warn!("{job}: {reason}"));
    }

    /// Prints the totals. Returns the status of a call that was not interrupted.
    pub(super) fn finish(self, store: &Store, format: Format) -> Result<Exit> {
        self.bar.finish();
        let progress = self
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let answer = Answer {
            store: store.name().to_owned(),
            known: progress.known,
            postponed: progress.postponed,
            summary: self.summary,
        };
        crate::command::show(self.terminal, format, &answer, || {
            render::batch::table(&answer.summary, &progress)
        })?;
        Ok(match progress {
            Progress {
                known: 0,
                done: 0,
                failed: 1..,
                ..
            } => Exit::Input,
            _ => Exit::Success,
        })
    }
}
