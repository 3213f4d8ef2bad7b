//! Places for work that takes memory: a bounded number works, a bounded number waits.

use std::sync::Arc;

use report::say;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Analyses at the same time at most: each may hold a large job in memory.
const MAX_ANALYSES: usize = 4;

/// Maximum of waiting calls; further calls get an error.
const MAX_WAITING: usize = 64;

/// Places for calls that do work; a call that waits holds none.
pub(crate) struct Places {
    free: Arc<Semaphore>,
    /// Running and waiting calls.
    room: Arc<Semaphore>,
}

/// Held by work until it ends, even if its caller stops waiting.
pub(crate) struct Place {
    _work: OwnedSemaphorePermit,
    _room: OwnedSemaphorePermit,
}

impl Places {
    pub(crate) fn new(most: usize) -> Places {
        Places {
            free: Arc::new(Semaphore::new(most)),
            room: Arc::new(Semaphore::new(most + MAX_WAITING)),
        }
    }

    /// As many analyses as there are cores, within bounds.
    pub(crate) fn for_analyses() -> Places {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Places::new(cores.min(MAX_ANALYSES))
    }

    /// Waits for a place.
    ///
    /// # Errors
    /// If too many wait already.
    pub(crate) async fn take(&self) -> Result<Place, String> {
        let busy = || {
            say!(
                "服务繁忙：等待的请求过多，请稍后再试",
                "the server is busy: too many calls are waiting; try again later"
            )
        };
        let room = Arc::clone(&self.room).try_acquire_owned();
        let room = room.map_err(|_| busy())?;
        let work = Arc::clone(&self.free).acquire_owned().await;
        Ok(Place {
            _work: work.map_err(|_| busy())?,
            _room: room,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_works_a_bounded_number_waits_and_the_rest_are_told() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(async {
            let places = Arc::new(Places::new(2));
            let first = [places.take().await, places.take().await];
            assert!(first.iter().all(Result::is_ok));
            let wait = |_| {
                let places = Arc::clone(&places);
                tokio::spawn(async move { places.take().await.map(drop) })
            };
            let waiting: Vec<_> = (0..MAX_WAITING).map(wait).collect();
            while places.room.available_permits() > 0 {
                tokio::task::yield_now().await;
            }
            let refused = places.take().await.map(drop);
            assert!(refused.is_err_and(|said| said.contains("busy")));
            assert!(waiting.iter().all(|task| !task.is_finished()));
            drop(first);
            for task in waiting {
                assert!(task.await.expect("no panic").is_ok());
            }
        });
    }
}
