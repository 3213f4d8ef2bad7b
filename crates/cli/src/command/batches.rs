//! Stores of batches, as the web page lists them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use batch::Store;
use runs::store::Listed;
use server::web::Batch;
use server::{Analysis, Result};
use tokio::runtime::Handle;

use crate::sources::{explained, sources};

struct Kept {
    store: Store,
    /// Results that were passed on.
    known: Mutex<HashSet<String>>,
    runtime: Handle,
}

/// Opens stores that must have a manifest.
pub(super) fn open(places: &[String], runtime: &Handle) -> Result<Vec<Arc<dyn Batch>>> {
    let sources = sources([]);
    let open = |place: &String| {
        let store = Store::open(sources.access(), place).map_err(explained)?;
        runtime.block_on(store.planned()).map_err(explained)?;
        Ok(Arc::new(Kept {
            store,
            known: Mutex::default(),
            runtime: runtime.clone(),
        }) as Arc<dyn Batch>)
    };
    places.iter().map(open).collect()
}

impl Batch for Kept {
    fn name(&self) -> &str {
        self.store.name()
    }

    fn follow(&self, each: &mut dyn FnMut(Listed)) -> Result<usize> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let follow = self.store.follow(&mut known, each);
        self.runtime.block_on(follow).map_err(explained)
    }

    fn analysis(&self, key: &str) -> Result<Option<Analysis>> {
        let result = self.runtime.block_on(self.store.result(key));
        let found = result.map_err(explained)?.and_then(|result| {
            let (report, summary) = (result.report?, result.summary.unwrap_or_default());
            Some(Analysis {
                report: *report,
                summary: *summary,
            })
        });
        Ok(found)
    }
}
