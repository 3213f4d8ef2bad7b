//! What the requests of several runs may take together.

use std::fmt::Debug;

use futures::future::BoxFuture;

/// A number of calls and a cost that are shared, possibly with other processes.
pub trait Budget: Debug + Send + Sync {
    /// Sets aside one call that may cost `most`; `None` if the model has no prices. Waits while calls under way may give something back.
    ///
    /// # Errors
    /// Why the call must not be made: there is not enough left, or nobody can tell.
    fn reserve(&self, most: Option<f64>) -> BoxFuture<'_, Result<(), String>>;

    /// Puts `cost` in the place of `most`, and gives the call back if the server did not answer it (`calls` is 0).
    fn settle(&self, most: Option<f64>, calls: u32, cost: f64) -> BoxFuture<'_, ()>;
}
