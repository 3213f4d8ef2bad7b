//! Long answers as resources: `scopeagent://answers/{id}`.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use rmcp::model::Resource;

const ANSWERS: &str = "scopeagent://answers/";

/// Long answers that are kept, and the bytes of each at most.
const KEPT: NonZeroUsize = NonZeroUsize::new(32).expect("not zero");
const LONGEST: usize = 4 << 20;

/// Answers that were too long for their call. Their addresses cannot be guessed.
pub(super) struct Rest(Mutex<LruCache<String, String>>);

impl Default for Rest {
    fn default() -> Rest {
        Rest(Mutex::new(LruCache::new(KEPT)))
    }
}

impl Rest {
    /// Keeps an answer; `None` if it is too long.
    pub(super) fn keep(&self, whole: String) -> Option<Resource> {
        if whole.len() > LONGEST {
            return None;
        }
        let id = ulid::Ulid::generate().to_string();
        let uri = format!("{ANSWERS}{id}");
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(uri.clone(), whole);
        Some(
            Resource::new(uri, format!("answers/{id}"))
                .with_description("The whole answer of a call, as JSON")
                .with_mime_type("application/json"),
        )
    }

    pub(super) fn whole(&self, uri: &str) -> Option<String> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(uri).cloned()
    }
}
