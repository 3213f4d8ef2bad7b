//! Who asks about which cluster, so that no two processes do.
//!
//! A claim is an object that only one process can create. It counts for as long as the process changes an object that belongs to it. Whether it
//! does is observed, not computed from clocks, which differ between machines.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use super::object::{path_of, to_json};
use crate::error::{Error, Result};
use crate::store::Store;

/// Attempts per cluster, by different processes. A sixth call would not be worth its cost.
const TRIES: usize = 5;

/// Claims of one process.
#[derive(Debug)]
pub(super) struct Claims<'a> {
    store: &'a Store,
    worker: String,
    /// How long another process may be silent.
    patience: Duration,
    /// Contents of other processes' objects, and the time of the last change.
    seen: Mutex<HashMap<String, (Vec<u8>, Instant)>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Claim {
    worker: String,
    /// Why the process gave up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claimed {
    /// By this process, as the nth to try.
    Mine(usize),
    /// By another one that is at work.
    Others,
    /// There is advice already.
    Done,
    /// The retry limit is reached; holds the last error.
    Hopeless(String),
}

impl Claims<'_> {
    pub(super) fn new(store: &Store, patience: Duration) -> Claims<'_> {
        Claims {
            store,
            worker: ulid::Ulid::generate().to_string(),
            patience,
            seen: Mutex::default(),
        }
    }

    /// Shows that this process is at work.
    pub(super) async fn begin(&self) -> Result<()> {
        self.beat(0).await
    }

    /// Repeats this until it is dropped.
    pub(super) async fn keep(&self) {
        for n in 1u64.. {
            tokio::time::sleep(self.patience / 3).await;
            // other accesses report an unreachable store
            let _ = self.beat(n).await;
        }
    }

    /// The claims of this process no longer count.
    pub(super) async fn end(&self) -> Result<()> {
        self.store.delete(&worker_path(&self.worker)).await
    }

    async fn beat(&self, n: u64) -> Result<()> {
        let path = worker_path(&self.worker);
        self.store.replace(&path, to_json("worker", &n)?).await
    }

    /// Claims a cluster by the key of its advice.
    pub(super) async fn claim(&self, key: &str) -> Result<Claimed> {
        let mut last = None;
        for n in 1..=TRIES {
            let claim = Claim {
                worker: self.worker.clone(),
                failed: None,
            };
            let (path, claim) = (path(key, n), to_json(key, &claim)?);
            if self.store.create(&path, claim).await? {
                // the process of the previous claim may have written advice before it gave up
                if n > 1 && self.is_done(key).await? {
                    return Ok(Claimed::Done);
                }
                return Ok(Claimed::Mine(n));
            }
            if self.is_done(key).await? {
                return Ok(Claimed::Done);
            }
            let Some(claim) = self.read(key, n).await? else {
                // it was given back just now
                return Ok(Claimed::Others);
            };
            if claim.failed.is_none() && !self.is_gone(&claim.worker).await? {
                return Ok(Claimed::Others);
            }
            last = claim.failed;
        }
        let died = || "the program died each time".to_owned();
        Ok(Claimed::Hopeless(last.unwrap_or_else(died)))
    }

    /// Returns a claim, as if it had not been made.
    pub(super) async fn give_back(&self, key: &str, n: usize) -> Result<()> {
        self.store.delete(&path(key, n)).await
    }

    /// Leaves the cluster to others, one of the tries being used up.
    pub(super) async fn fail(&self, key: &str, n: usize, reason: &str) -> Result<()> {
        let claim = Claim {
            worker: self.worker.clone(),
            failed: Some(reason.to_owned()),
        };
        let claim = to_json(key, &claim)?;
        self.store.replace(&path(key, n), claim).await
    }

    /// Forgets all tries.
    pub(super) async fn forget(&self, key: &str) -> Result<()> {
        for n in 1..=TRIES {
            self.store.delete(&path(key, n)).await?;
        }
        Ok(())
    }

    async fn is_done(&self, key: &str) -> Result<bool> {
        Ok(self.store.try_read(&path_of(key)).await?.is_some())
    }

    async fn read(&self, key: &str, n: usize) -> Result<Option<Claim>> {
        let path = path(key, n);
        let bytes = self.store.try_read(&path).await?;
        let claim = bytes.map(|bytes| serde_json::from_slice(&bytes));
        claim.transpose().map_err(|source| Error::Unreadable {
            place: self.store.place(path.as_ref()),
            source,
        })
    }

    /// Whether a process has ended, or has been silent for as long as it may.
    async fn is_gone(&self, worker: &str) -> Result<bool> {
        if worker == self.worker {
            return Ok(false);
        }
        let Some(content) = self.store.try_read(&worker_path(worker)).await? else {
            return Ok(true);
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let known = seen.entry(worker.to_owned());
        let (before, since) = known.or_insert_with(|| (content.clone(), now));
        if *before != content {
            (*before, *since) = (content, now);
        }
        Ok(since.elapsed() >= self.patience)
    }
}

fn path(key: &str, n: usize) -> Path {
    Path::from(format!("claims/{key}/{n}.json"))
}

fn worker_path(worker: &str) -> Path {
    Path::from(format!("workers/{worker}.json"))
}
