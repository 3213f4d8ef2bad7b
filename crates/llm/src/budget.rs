//! A common budget for the requests of several runs.

use std::fmt::Debug;

use futures::future::BoxFuture;

/// A number of calls and a cost that are shared, possibly with other processes.
pub trait Budget: Debug + Send + Sync {
    /// Reserves one call that may cost `most`; `None` if the model has no prices. Waits while calls under way may release a part of the
    /// budget, and until the call may begin.
    ///
    /// # Errors
    /// The reason why the call must not be made: the budget is used up, or cannot be determined.
    fn reserve(&self, most: Option<f64>) -> BoxFuture<'_, Result<Box<dyn Reserved + '_>, String>>;
}

/// A reserved call. A dropped reservation has an unknown cost: it stays reserved, and the next call may begin.
pub trait Reserved: Send {
    /// Replaces the maximum cost by `cost`, and releases the call if the server did not answer it (`calls` is 0).
    fn settle<'r>(self: Box<Self>, calls: u32, cost: f64) -> BoxFuture<'r, ()>
    where
        Self: 'r;
}
