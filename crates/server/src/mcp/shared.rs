//! What all connections share.

use std::sync::Arc;

use rmcp::ErrorData;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::roots::Roots;
use super::{Options, Renderers};
use crate::error::Result;
use crate::reasoner::ReasonerChoice;
use crate::session::Session;

/// Analyses at the same time at most: each may hold a large job in memory.
const MAX_CONCURRENT: usize = 4;

pub(super) struct Shared {
    pub(super) session: Arc<Session>,
    pub(super) roots: Roots,
    pub(super) reasoner: ReasonerChoice,
    pub(super) renderers: Renderers,
    /// Analyses beyond this number wait.
    pub(super) places: Semaphore,
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
            renderers: options.renderers,
            places: Semaphore::new(cores.min(MAX_CONCURRENT)),
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
        let done = self.running.spawn_blocking(move || work(&shared)).await;
        done.map_err(|e| ErrorData::internal_error(e.to_string(), None))?
            .map_err(|e| ErrorData::internal_error(e.to_string(), None))
    }
}
