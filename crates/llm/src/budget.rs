//! What the requests of several runs may take together.

use std::fmt::Debug;

use futures::future::BoxFuture;

/// A number of calls and a cost that are shared, possibly with other processes.
pub trait Budget: Debug + Send + Sync {
    /// Sets aside one call that may cost `most`; `None` if the model has no prices. Waits while calls under way may give something back,
    /// and until the call may begin.
    ///
    /// # Errors
    /// Why the call must not be made: there is not enough left, or nobody can tell.
    fn reserve(&self, most: Option<f64>) -> BoxFuture<'_, Result<Box<dyn Reserved + '_>, String>>;
}

/// A call that was set aside. If it is dropped, nobody knows what the call cost: it stays set aside, and the next call may begin.
pub trait Reserved: Send {
    /// Puts `cost` in the place of what the call may cost, and gives the call back if the server did not answer it (`calls` is 0).
    fn settle<'r>(self: Box<Self>, calls: u32, cost: f64) -> BoxFuture<'r, ()>
    where
        Self: 'r;
}
