//! The language of the interface: of errors, help and remarks, which no report contains.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Language;

static IS_CHINESE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Of the visitor for whom this thread works.
    static SPOKEN: Cell<Option<Language>> = const { Cell::new(None) };
}

/// The language of the interface; English until the program chooses another.
pub fn interface() -> Language {
    SPOKEN
        .get()
        .unwrap_or_else(|| match IS_CHINESE.load(Ordering::Relaxed) {
            true => Language::Zh,
            false => Language::En,
        })
}

/// Does some work with another language of the interface on this thread: a server answers each visitor in their own.
pub fn speaking<T>(language: Language, work: impl FnOnce() -> T) -> T {
    /// Also after a panic, as threads are used again.
    struct Restored(Option<Language>);
    impl Drop for Restored {
        fn drop(&mut self) {
            SPOKEN.set(self.0);
        }
    }
    let _before = Restored(SPOKEN.replace(Some(language)));
    work()
}

/// An error and its causes in one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    let all: Vec<String> = all.map(ToString::to_string).collect();
    all.join(": ")
}

/// Chooses the language of the interface for the whole process.
pub fn set_interface(language: Language) {
    IS_CHINESE.store(language == Language::Zh, Ordering::Relaxed);
}

/// Formats a sentence like [`text!`](macro@crate::text) in the language of the interface.
#[macro_export]
macro_rules! say {
    ($($sentence:tt)*) => {
        $crate::text!($($sentence)*).into($crate::interface())
    };
}
