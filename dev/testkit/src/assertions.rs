//! Assertions that print the examined values.

use std::fmt::Debug;

/// Panics with the text unless it contains every part.
#[track_caller]
pub fn contains<'a>(text: impl AsRef<str>, parts: impl IntoIterator<Item = &'a str>) {
    let text = text.as_ref();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

/// Panics with the text if it contains one of the parts.
#[track_caller]
pub fn lacks<'a>(text: impl AsRef<str>, parts: impl IntoIterator<Item = &'a str>) {
    let text = text.as_ref();
    for part in parts {
        assert!(!text.contains(part), "`{part}` is in: {text}");
    }
}

/// Panics with the items unless one of them contains `part`.
#[track_caller]
pub fn any_contains<T: AsRef<str> + Debug>(items: &[T], part: &str) {
    let found = items.iter().any(|item| item.as_ref().contains(part));
    assert!(found, "no item contains `{part}`: {items:?}");
}
