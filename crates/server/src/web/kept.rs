//! Pages made before: most visitors look at what somebody has looked at already.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use lru::LruCache;

/// Pages within a number of bytes; those that nobody has looked at for longest make room.
pub(super) struct Kept {
    most: usize,
    pages: Mutex<Pages>,
}

struct Pages {
    of: LruCache<String, Bytes>,
    bytes: usize,
}

impl Kept {
    /// Keeps at most this many bytes of names and pages.
    pub(super) fn new(most: usize) -> Kept {
        let of = LruCache::unbounded();
        Kept {
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

/// What was made of the newest version of something.
pub(super) struct Latest<T>(Mutex<Option<(i64, Arc<T>)>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Latest(Mutex::default())
    }
}

impl<T> Latest<T> {
    /// What belongs to this version, made if it is not known.
    pub(super) fn of<E>(
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
        let kept = Kept::new(30);
        let page = |name: &str, text: &str| {
            let made = kept.page(name.to_owned(), || Ok::<_, ()>(text.to_owned()));
            String::from_utf8(made.expect("made").to_vec()).expect("text")
        };
        let ten = "123456789";
        for (name, text, expected) in [
            ("a", ten, ten),
            ("b", ten, ten),
            ("a", "again", ten),
            // Only now is there too much, and `b` was not looked at again.
            ("c", ten, ten),
            ("d", ten, ten),
            ("a", "again", ten),
            ("b", "again", "again"),
        ] {
            assert_eq!(page(name, text), expected, "{name}");
        }
        assert_eq!(page("large", &"x".repeat(50)).len(), 50);
        assert_eq!(kept.pages().bytes, 0, "what is too large is not kept");
        let failed = kept.page("f".to_owned(), || Err::<String, _>("no"));
        assert_eq!(failed, Err("no"));
    }
}
