//! A cache of rendered pages: most visitors open a page that another visitor opened before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use lru::LruCache;

/// An LRU cache of pages, bounded in bytes.
pub(super) struct PageCache {
    most: usize,
    pages: Mutex<Pages>,
}

struct Pages {
    of: LruCache<String, Bytes>,
    bytes: usize,
}

impl PageCache {
    /// Keeps at most this many bytes of names and pages.
    pub(super) fn new(most: usize) -> PageCache {
        let of = LruCache::unbounded();
        PageCache {
            most,
            pages: Mutex::new(Pages { of, bytes: 0 }),
        }
    }

    /// The page of this name, made if it is not known. A name must change when its page does.
    pub(super) fn page<E>(
        &self,
        name: String,
        make: impl FnOnce() -> Result<String, E>,
    ) -> Result<Bytes, E> {
        if let Some(page) = self.pages().of.get(&name) {
            return Ok(page.clone());
        }
        let page = Bytes::from(make()?);
        self.add(name, page.clone());
        Ok(page)
    }

    fn add(&self, name: String, page: Bytes) {
        let mut pages = self.pages();
        pages.bytes += name.len() + page.len();
        // Another visitor's request may have made it meanwhile.
        if let Some((name, page)) = pages.of.push(name, page) {
            pages.bytes -= name.len() + page.len();
        }
        while pages.bytes > self.most
            && let Some((name, page)) = pages.of.pop_lru()
        {
            pages.bytes -= name.len() + page.len();
        }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cached value, valid for one version of its source.
pub(super) struct Latest<T>(Mutex<Option<(i64, Arc<T>)>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Latest(Mutex::default())
    }
}

impl<T> Latest<T> {
    /// The value for this version; computes it if the cache has another version.
    pub(super) fn get<E>(
        &self,
        version: i64,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, known)) = &*kept
            && *of == version
        {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(make()?);
        *kept = Some((version, Arc::clone(&made)));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_made_once_and_the_least_wanted_make_room() {
        let kept = PageCache::new(30);
        let page = |name: &str, text: &str| {
            let made = kept.page(name.to_owned(), || Ok::<_, ()>(text.to_owned()));
            String::from_utf8(made.expect("made").to_vec()).expect("text")
        };
        let ten = "123456789";
        for (name, text, expected) in [
            ("a", ten, ten),
            ("b", ten, ten),
            ("a", "again", ten),
            // Only now the limit is exceeded, and `b` was not opened again.
            ("c", ten, ten),
            ("d", ten, ten),
            ("a", "again", ten),
            ("b", "again", "again"),
        ] {
            assert_eq!(page(name, text), expected, "{name}");
        }
        assert_eq!(page("large", &"x".repeat(50)).len(), 50);
        assert_eq!(
            kept.pages().bytes,
            0,
            "a page above the limit is not cached"
        );
        let failed = kept.page("f".to_owned(), || Err::<String, _>("no"));
        assert_eq!(failed, Err("no"));
    }
}
