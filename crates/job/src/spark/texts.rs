//! Bounds the length of names, descriptions and stacks.

use super::event::Str;
use crate::text::head;

/// Maximum bytes of names and call sites, of descriptions and stacks of actions, and of errors with their stack.
pub(super) const NAME: usize = 2_000;
pub(super) const DESCRIPTION: usize = 10_000;
pub(super) const ERROR: usize = 64_000;

/// Maximum bytes of names and of errors without details.
pub(super) const SHORT: usize = 160;
pub(super) const SHORT_ERROR: usize = 800;

impl Str<'_> {
    /// The text, cut to `most` bytes; `None` if it is empty.
    pub(super) fn kept(&self, most: usize) -> Option<String> {
        (!self.0.is_empty()).then(|| cut(&self.0, most))
    }
}

/// About `most` bytes: the beginning, and the end, which has the innermost exception.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = text.len() - most / 4;
    while !text.is_char_boundary(end) {
        end += 1;
    }
    format!("{} … {}", head(text, most - most / 4), &text[end..])
}

pub(super) fn shorten(text: &mut String, most: usize) {
    if text.capacity() > most {
        *text = cut(text, most);
    }
}

pub(super) fn shorten_all<'a>(
    texts: impl IntoIterator<Item = &'a mut Option<String>>,
    most: usize,
) {
    for text in texts.into_iter().flatten() {
        shorten(text, most);
    }
}

/// Total bytes.
pub(super) fn bytes<'a>(texts: impl IntoIterator<Item = &'a Option<String>>) -> usize {
    let texts = texts.into_iter().flatten();
    texts.map(String::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        assert_eq!(cut("short", 8), "short");
        assert_eq!(cut("a long text of an exception", 8), "a long … on");
        let cut = cut(&"异常".repeat(1_000), 100);
        assert!(cut.starts_with('异') && cut.ends_with('常') && cut.len() < 110);
    }
}
