//! Characters that act instead of being shown, made visible.
//!
//! Texts of job files and of models go to terminals, logs, tickets and pages. Control characters move a
//! cursor or start an escape sequence, and directional marks show a text in another order than it is
//! stored. This module makes all of them visible.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with every such character made visible, except line feeds and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |c| matches!(c, '\n' | '\t'))
}

/// Like [`visible`], for text that must stay on one line: a name, a place, a log message.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// Whether a character acts on its surroundings.
pub fn acts(c: char) -> bool {
    // most texts only have these characters
    let is_common = matches!(c, ' '..='~' | '\u{2070}'..='\u{fefe}');
    if is_common {
        return false;
    }
    c.is_control()
        || matches!(
            c,
            // directional marks
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // line separators, byte order mark, and the invisible tags
            | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Whether a text is printable ASCII. The check works on blocks, which the compiler vectorizes.
fn is_plain(text: &str) -> bool {
    let mut blocks = text.as_bytes().chunks(32);
    blocks.all(|block| {
        let plain = |all, byte: &u8| all & matches!(byte, b' '..=b'~');
        block.iter().fold(true, plain)
    })
}

fn shown(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if is_plain(text) || !text.contains(|c| acts(c) && !kept(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // a line end of Windows
            '\r' if rest.peek() == Some(&'\n') && kept('\n') => {}
            _ if !acts(c) || kept(c) => out.push(c),
            // ␀ to ␟, ␡
            '\0'..='\x1f' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            '\x7f' => out.push('\u{2421}'),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown() {
        for (text, line, lines) in [
            ("plain 中文 é", "plain 中文 é", "plain 中文 é"),
            ("a\u{1b}[31mb", "a␛[31mb", "a␛[31mb"),
            ("a\r\nb\tc\rd", "a␍␊b␉c␍d", "a\nb\tc␍d"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m␡", "\\u{9b}31m␡"),
            (
                "a\u{202e}b\u{2066}",
                "a\\u{202e}b\\u{2066}",
                "a\\u{202e}b\\u{2066}",
            ),
        ] {
            assert_eq!(visible_line(text), line);
            assert_eq!(visible(text), lines);
        }
    }
}
