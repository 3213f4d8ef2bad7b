//! The language of the interface: of errors, help and remarks, which no report contains.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::Language;

static IS_CHINESE: AtomicBool = AtomicBool::new(false);

/// The language of the interface; English until the program chooses another.
pub fn interface() -> Language {
    match IS_CHINESE.load(Ordering::Relaxed) {
        true => Language::Zh,
        false => Language::En,
    }
}

/// Chooses the language of the interface for the whole process.
pub fn set_interface(language: Language) {
    IS_CHINESE.store(language == Language::Zh, Ordering::Relaxed);
}

/// Formats a sentence like [`text!`](crate::text) in the language of the interface.
#[macro_export]
macro_rules! say {
    ($($sentence:tt)*) => {
        $crate::text!($($sentence)*).into($crate::interface())
    };
}
