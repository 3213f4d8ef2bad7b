//! The results that count: of each planned job the newest one.

use std::collections::HashMap;

use futures::StreamExt;

use crate::error::Error;
use crate::result::RESULT_VERSION;
use crate::store::Store;
use crate::tables::Stored;

/// Unreadable results that are named.
const NAMED: usize = 20;

/// Planned jobs and results outside of the newest results.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Planned jobs that have no result yet.
    pub(crate) pending: usize,
    /// Results that could not be read, with the reason; the first few.
    pub(crate) unreadable: Vec<String>,
}

/// Passes on the newest result of each planned job.
///
/// # Errors
/// If the store cannot be read or has no manifest, or `with` fails. A result that is not one is left out and named.
pub(crate) async fn newest_results<E: From<Error>>(
    store: &Store,
    mut with: impl FnMut(Stored) -> std::result::Result<(), E>,
) -> std::result::Result<Rest, E> {
    let planned = store.planned().await?.into_iter();
    let mut waiting: HashMap<String, String> = planned.map(|e| (e.uri, e.etag)).collect();
    let mut rest = Rest::default();
    let mut leave_out = |reason: String| {
        if rest.unreadable.len() < NAMED {
            rest.unreadable.push(reason);
        }
    };
    let keys = store.newest().await?;
    let mut results = store.read_each(&keys).zip(futures::stream::iter(&keys));
    while let Some((bytes, key)) = results.next().await {
        let bytes = bytes?;
        match serde_json::from_slice::<Stored>(&bytes) {
            Ok(stored) if stored.version == RESULT_VERSION => {
                if waiting.get(&stored.uri) == Some(&stored.etag) {
                    waiting.remove(&stored.uri);
                    with(stored)?;
                }
            }
            Ok(stored) => leave_out(format!("{key}: version {}", stored.version)),
            Err(error) => {
                let place = store.place(&crate::tables::path_of(key));
                leave_out(format!("{place}: {error}"));
            }
        }
    }
    rest.pending = waiting.len();
    Ok(rest)
}
