//! Analyzes jobs that have no result, and writes one for each.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use futures::stream::StreamExt;
use report::Report;
use runs::RunSummary;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::result::{Entry, JobResult, Program};
use crate::shard::Shard;
use crate::source::{Opened, Sources};
use crate::store::{Put, Store};

/// Outcome of an analysis.
#[derive(Debug)]
pub enum Attempt {
    Done(Box<(Report, RunSummary)>),
    Failed {
        reason: String,
        blame: Blame,
    },
    /// It was cancelled.
    Interrupted,
}

/// Why an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The job cannot be analyzed, wherever it is tried.
    Job,
    /// The analysis crashed or took too much; another machine may manage it.
    Crash,
    /// The environment failed (e.g. the network); the job is not at fault.
    Surroundings,
}

/// Analyzes one job; blocks, also until a worker is free.
pub type Analyze = dyn Fn(&Opened, &Entry) -> Attempt + Send + Sync;

/// State shared by all workers of a batch.
#[derive(Clone)]
pub struct Batch {
    pub store: Store,
    pub sources: Sources,
    pub program: Program,
    pub analyze: Arc<Analyze>,
}

/// How one job ended.
#[derive(Debug)]
pub enum Step {
    /// It has a result already.
    Known,
    Written {
        result: Box<JobResult>,
        put: Put,
    },
    /// It stays without a result for now.
    Postponed {
        uri: String,
        reason: String,
    },
    Interrupted,
    /// It was enqueued for a program that the queue is no longer for.
    Obsolete,
}

/// Whether the job may be tried again after a crash or a missing resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Only if the job is not to blame at all.
    Later,
    /// After a crash too: another process will.
    Elsewhere,
    /// Never: this attempt is the last one.
    Never,
}

impl Batch {
    /// The planned jobs of a shard without a result, and the number of jobs with one. Their order is random, so that
    /// processes on the same store seldom take the same job at the same time.
    ///
    /// # Errors
    /// If the store cannot be read, or has no manifest.
    pub async fn open_jobs(&self, shard: Shard) -> Result<(Vec<Entry>, usize)> {
        let planned = self.store.planned().await?;
        let known = self.store.keys().await?;
        let mut of_shard: Vec<Entry> = planned.into_iter().filter(|e| shard.has(e)).collect();
        let total = of_shard.len();
        of_shard.retain(|entry| !known.contains(&entry.key(&self.program)));
        let order = RandomState::new();
        of_shard.sort_by_cached_key(|entry| order.hash_one(&entry.uri));
        let done = total - of_shard.len();
        Ok((of_shard, done))
    }

    /// Deletes the failed results of a shard, so that these jobs count as open. Returns how many there were.
    pub async fn forget_failures(&self, shard: Shard) -> Result<usize> {
        let planned = self.store.planned().await?;
        let known = self.store.keys().await?;
        let keys = planned
            .iter()
            .filter(|e| shard.has(e))
            .map(|e| e.key(&self.program));
        let keys: Vec<String> = keys.filter(|key| known.contains(key)).collect();
        let forgotten = futures::stream::iter(&keys)
            .map(|key| self.store.forget_failure(key))
            .buffer_unordered(crate::store::CONCURRENT);
        let forgotten: Vec<Result<bool>> = forgotten.collect().await;
        let mut count = 0;
        for forgotten in forgotten {
            count += usize::from(forgotten?);
        }
        Ok(count)
    }

    /// Analyzes jobs and reports each as it comes. Two jobs per worker are under way, so that jobs are read and results
    /// written while others are analyzed. After a cancellation no job is started.
    ///
    /// # Errors
    /// If the store cannot be read or written; written results stay.
    pub async fn run(
        &self,
        jobs: Vec<Entry>,
        workers: usize,
        cancel: &CancellationToken,
        report: &mut dyn FnMut(Step),
    ) -> Result<()> {
        let steps = futures::stream::iter(jobs)
            .take_while(|_| std::future::ready(!cancel.is_cancelled()))
            .map(|entry| async move { self.step(&entry, 1, Retry::Later).await });
        let mut steps = std::pin::pin!(steps.buffer_unordered(2 * workers.max(1)));
        while let Some(step) = steps.next().await {
            report(step?);
        }
        Ok(())
    }

    /// Analyzes one job for the `tries`th time, unless it has a result.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub async fn step(&self, entry: &Entry, tries: u32, retry: Retry) -> Result<Step> {
        if self.store.has(&entry.key(&self.program)).await? {
            return Ok(Step::Known);
        }
        let result = match self.attempt(entry).await {
            Attempt::Interrupted => return Ok(Step::Interrupted),
            Attempt::Done(done) => JobResult::done(entry, &self.program, done.0, done.1),
            Attempt::Failed { reason, blame } => {
                let is_final = match blame {
                    Blame::Job => true,
                    Blame::Crash => retry != Retry::Elsewhere,
                    Blame::Surroundings => retry == Retry::Never,
                };
                if !is_final {
                    let uri = entry.uri.clone();
                    return Ok(Step::Postponed { uri, reason });
                }
                // a job that always fails must have the same result from every process
                let tries = if blame == Blame::Job { 1 } else { tries };
                JobResult::failed(entry, &self.program, reason, tries)
            }
        };
        self.write(result).await
    }

    /// Writes a failed result with its reason.
    pub async fn give_up(&self, entry: &Entry, reason: &str, tries: u32) -> Result<Step> {
        let result = JobResult::failed(entry, &self.program, reason.to_owned(), tries);
        self.write(result).await
    }

    async fn write(&self, result: JobResult) -> Result<Step> {
        let put = self.store.put(&result).await?;
        let result = Box::new(result);
        Ok(Step::Written { result, put })
    }

    async fn attempt(&self, entry: &Entry) -> Attempt {
        let opened = match self.sources.open(&entry.uri).await {
            Ok(opened) => opened,
            Err(error) => return failed(&error),
        };
        if opened.etag != entry.etag {
            return Attempt::Failed {
                reason: "it has changed since it was planned; plan again".to_owned(),
                blame: Blame::Job,
            };
        }
        // the copy has another name each time
        let copy = opened.path.display().to_string();
        let uri = entry.uri.clone();
        let (analyze, entry) = (Arc::clone(&self.analyze), entry.clone());
        let analyzed = tokio::task::spawn_blocking(move || analyze(&opened, &entry));
        match analyzed.await {
            Ok(Attempt::Failed { reason, blame }) => Attempt::Failed {
                reason: reason.replace(&copy, &uri),
                blame,
            },
            Ok(attempt) => attempt,
            Err(_) => Attempt::Failed {
                reason: "the program crashed on this job; please report it".to_owned(),
                blame: Blame::Crash,
            },
        }
    }
}

fn failed(error: &Error) -> Attempt {
    Attempt::Failed {
        reason: error.one_line(),
        blame: match error.is_transient() {
            true => Blame::Surroundings,
            false => Blame::Job,
        },
    }
}
