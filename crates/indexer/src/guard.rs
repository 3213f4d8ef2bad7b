//! Turns a panic of a library into an error. Tantivy trusts what it reads, and the checksums of a large store are not compared at each
//! opening.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would become an error, which is then reported instead.
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Does `work`, which only reads; `broken` makes an error of a panic.
pub(crate) fn guarded<T, E>(
    work: impl FnOnce() -> Result<T, E>,
    broken: impl FnOnce(String) -> E,
) -> Result<T, E> {
    let outer = IS_GUARDED.replace(true);
    // Half-read data is dropped with the error.
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(outer);
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(broken(format!(
            "it is damaged: {}",
            text.unwrap_or("no reason")
        )))
    })
}

#[cfg(test)]
mod security {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_guard_ends() {
        let places = [3];
        let read = |at: usize| guarded(|| Ok(places[at]), |reason| reason);
        assert_eq!(read(0), Ok(3));
        let reason = read(7).expect_err("out of bounds");
        assert!(reason.starts_with("it is damaged: index out of bounds"));
        assert!(!is_guarded());
    }
}
