//! State shared by all connections.

use std::sync::Arc;

use rmcp::ErrorData;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::rest::Rest;
use super::{Options, Renderers};
use crate::error::Result;
use crate::opening::{Fetch, Fetched};
use crate::places::Places;
use crate::reasoner::ReasonerChoice;
use crate::roots::{Admitted, Roots};
use crate::session::{Analyst, Session};

/// Other calls at the same time at most; reading a job folder takes memory too.
const MAX_READS: usize = 8;

pub(super) struct Shared {
    pub(super) session: Arc<Session>,
    pub(super) roots: Roots,
    pub(super) reasoner: ReasonerChoice,
    pub(super) analyst: Arc<dyn Analyst>,
    pub(super) fetch: Arc<dyn Fetch>,
    pub(super) renderers: Renderers,
    pub(super) rest: Rest,
    pub(super) analyses: Places,
    reads: Places,
    /// Everything that still runs, to be waited for at the end.
    pub(super) running: TaskTracker,
    /// Ends everything.
    pub(super) stop: CancellationToken,
}

impl Shared {
    pub(super) fn new(session: Arc<Session>, options: Options, stop: CancellationToken) -> Shared {
        Shared {
            session,
            roots: options.roots,
            reasoner: options.reasoner,
            analyst: options.analyst,
            fetch: options.fetch,
            renderers: options.renderers,
            rest: Rest::default(),
            analyses: Places::for_analyses(),
            reads: Places::new(MAX_READS),
            running: TaskTracker::new(),
            stop,
        }
    }

    /// Opens a job that is only read. Blocks as long as a History Server takes.
    pub(super) fn open(&self, job: Admitted) -> Result<Fetched> {
        job.open(&*self.fetch, &self.stop)
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
