//! Work on all cores, for many items only: waking other threads for a few items costs more than the items.

use rayon::prelude::*;

/// Applies `work` to every item and keeps the order of the items; uses one thread for fewer than
/// `many` items.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    many: usize,
    work: impl Fn(&T) -> R + Sync + Send,
) -> Vec<R> {
    if items.len() < many {
        items.iter().map(work).collect()
    } else {
        items.par_iter().map(work).collect()
    }
}
