//! Batches with jobs to list next to the runs: their rows, which follow the store of the batch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use report::visible_line;
use runs::store::{Listed, RunFacets, Store};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::cache::Latest;
use crate::error::{Error, Result};
use crate::session::Analysis;

/// How often a store is looked at for new results.
const LOOK: Duration = Duration::from_secs(30);
/// Jobs that are listed at a time.
const CHUNK: usize = 500;

/// A batch with a store.
pub trait Batch: Send + Sync {
    /// Location of the store, as given.
    fn name(&self) -> &str;

    /// Passes on the jobs with new results since the last call. Returns the number of planned jobs. Blocks.
    ///
    /// # Errors
    /// If the batch cannot be read.
    fn follow(&self, each: &mut dyn FnMut(Listed)) -> Result<usize>;

    /// The report of the job with this key; `None` if it has none. Blocks.
    ///
    /// # Errors
    /// If the batch cannot be read.
    fn analysis(&self, key: &str) -> Result<Option<Analysis>>;
}

/// A batch and the list of its jobs.
pub(super) struct Listing {
    pub(super) batch: Arc<dyn Batch>,
    jobs: Mutex<Store>,
    state: Mutex<State>,
    facets: Latest<RunFacets>,
}

/// How far the list is.
#[derive(Clone, Default)]
pub(super) struct State {
    /// Changes with the list.
    pub(super) version: i64,
    /// Jobs that there should be; 0 if that is not known yet.
    pub(super) planned: usize,
    /// Why the list does not follow the batch.
    pub(super) trouble: Option<String>,
}

impl Listing {
    pub(super) fn new(batch: Arc<dyn Batch>) -> Result<Listing> {
        Ok(Listing {
            batch,
            jobs: Mutex::new(Store::temporary()?),
            state: Mutex::default(),
            facets: Latest::default(),
        })
    }

    pub(super) fn name(&self) -> String {
        visible_line(self.batch.name()).into_owned()
    }

    pub(super) fn jobs(&self) -> MutexGuard<'_, Store> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Possible filters of its jobs.
    pub(super) fn facets(&self, version: i64) -> Result<Arc<RunFacets>> {
        let read = || self.jobs().facets().map_err(Error::from);
        self.facets.get(version, read)
    }

    /// Lists new results.
    fn read(&self) {
        let mut chunk = Vec::with_capacity(CHUNK);
        let mut failed = None;
        let mut add = |chunk: &mut Vec<Listed>| {
            if chunk.is_empty() {
                return;
            }
            let listed = self.jobs().list(chunk);
            failed = listed.err().map(Error::from).or(failed.take());
            chunk.clear();
            self.state().version += 1;
        };
        let followed = self.batch.follow(&mut |job| {
            chunk.push(job);
            if chunk.len() >= CHUNK {
                add(&mut chunk);
            }
        });
        add(&mut chunk);
        let mut state = self.state();
        let trouble = match followed {
            Ok(planned) => {
                state.planned = planned;
                failed
            }
            Err(error) => Some(error),
        };
        let trouble = trouble.map(|error| error.one_line());
        if state.trouble != trouble {
            state.trouble = trouble;
            state.version += 1;
        }
    }
}

/// Has the lists follow their batches until `stop`.
pub(super) fn follow(listings: &[Arc<Listing>], running: &TaskTracker, stop: &CancellationToken) {
    for listing in listings {
        let (listing, stop) = (Arc::clone(listing), stop.clone());
        running.spawn(async move {
            loop {
                let reading = Arc::clone(&listing);
                // After a panic the next look may succeed.
                let _ = tokio::task::spawn_blocking(move || reading.read()).await;
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(LOOK) => {}
                }
            }
        });
    }
}
