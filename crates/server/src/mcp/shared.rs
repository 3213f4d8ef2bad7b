//! What all connections share.

use std::sync::Arc;

use rmcp::ErrorData;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::roots::Roots;
use super::{Options, Renderers};
use crate::error::Result;
use crate::reasoner::ReasonerChoice;
use crate::session::{Analyst, Session};

/// Analyses at the same time at most: each may hold a large job in memory.
const MAX_ANALYSES: usize = 4;

/// Other calls at the same time at most; reading a job folder takes memory too.
const MAX_READS: usize = 8;

/// Most calls that may wait for a place; those beyond get an error.
const MAX_WAITING: usize = 64;

/// Places for calls that do work; a call that waits holds none.
pub(super) struct Places {
    free: Arc<Semaphore>,
    /// Those that work and those that wait.
    room: Arc<Semaphore>,
}

/// Held by work until it has ended, whether or not somebody still waits for its answer.
pub(super) struct Place {
    _work: OwnedSemaphorePermit,
    _room: OwnedSemaphorePermit,
}

impl Places {
    fn new(most: usize) -> Places {
        Places {
            free: Arc::new(Semaphore::new(most)),
            room: Arc::new(Semaphore::new(most + MAX_WAITING)),
        }
    }

    /// Waits for a place.
    ///
    /// # Errors
    /// If too many wait already.
    pub(super) async fn take(&self) -> std::result::Result<Place, String> {
        let busy = || "the server is busy: too many calls are waiting; try again later".to_owned();
        let room = Arc::clone(&self.room).try_acquire_owned();
        let room = room.map_err(|_| busy())?;
        let work = Arc::clone(&self.free).acquire_owned().await;
        Ok(Place {
            _work: work.map_err(|_| busy())?,
            _room: room,
        })
    }
}

pub(super) struct Shared {
    pub(super) session: Arc<Session>,
    pub(super) roots: Roots,
    pub(super) reasoner: ReasonerChoice,
    pub(super) analyst: Arc<dyn Analyst>,
    pub(super) renderers: Renderers,
    pub(super) analyses: Places,
    reads: Places,
    /// Everything that still runs, to be waited for at the end.
    pub(super) running: TaskTracker,
    /// Ends everything.
    pub(super) stop: CancellationToken,
}

impl Shared {
    pub(super) fn new(session: Arc<Session>, options: Options, stop: CancellationToken) -> Shared {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Shared {
            session,
            roots: options.roots,
            reasoner: options.reasoner,
            analyst: options.analyst,
            renderers: options.renderers,
            analyses: Places::new(cores.min(MAX_ANALYSES)),
            reads: Places::new(MAX_READS),
            running: TaskTracker::new(),
            stop,
        }
    }

    /// Does blocking work away from the threads that serve messages.
    pub(super) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Shared) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, ErrorData> {
        let shared = Arc::clone(self);
        let place = self.reads.take().await;
        let place = place.map_err(|busy| ErrorData::internal_error(busy, None))?;
        let work = move || {
            let _place = place;
            work(&shared)
        };
        let done = self.running.spawn_blocking(work).await;
        done.map_err(|e| ErrorData::internal_error(e.to_string(), None))?
            .map_err(|e| ErrorData::internal_error(e.to_string(), None))
    }
}
