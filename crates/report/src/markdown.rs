//! Escapes foreign text for Markdown: it can't produce HTML, links, images or fences.

use crate::visible::{visible, visible_line};

/// Text in Markdown: parts in single backticks stay code, and every mark that would format text is
/// escaped.
pub fn escaped(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let mut codes = pieces.iter().skip(1).step_by(2);
    // A pipe would end the cell of a table even in code.
    let paired = pieces.len() % 2 == 1 && codes.all(|c| !c.is_empty() && !c.contains('|'));
    if !paired {
        return marks(text, true);
    }
    let piece = |(at, piece): (usize, &&str)| match at % 2 {
        1 => format!("`{}`", visible_line(&piece.replace(['\r', '\n'], " "))),
        _ => marks(piece, at == 0),
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// Text in Markdown with every mark escaped.
pub fn plain(text: &str) -> String {
    marks(text, true)
}

/// `at_start` is true at the beginning of a line, where more marks have a meaning.
fn marks(text: &str, at_start: bool) -> String {
    let text = text.replace(['\r', '\n'], " ");
    let text = visible_line(&text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.char_indices().peekable();
    let (mut at_start, mut in_number) = (at_start, at_start);
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|(_, c)| *c);
        let acts = match c {
            '\\' | '*' | '<' | '>' | '[' | ']' | '`' | '#' | '|' | '~' | '$' => true,
            // `&lt;`
            '&' => is_word(next) || next == Some('#'),
            // within a word it is part of a name
            '_' => !(is_word(text[..at].chars().next_back()) && is_word(next)),
            // a list, a line under a heading
            '-' | '+' | '=' => at_start,
            '.' | ')' => in_number && !at_start && next.is_none_or(char::is_whitespace),
            // addresses: many readers turn them into links
            ':' => text[at..].starts_with("://"),
            _ => false,
        };
        if acts {
            out.push('\\');
        }
        out.push(c);
        let www = &text.as_bytes()[at.saturating_sub(2)..=at];
        if next == Some('.') && www.eq_ignore_ascii_case(b"www") {
            out.push('\\');
        }
        in_number &= c.is_ascii_digit() || at_start && c == ' ';
        at_start &= c == ' ';
    }
    out
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

/// Text as inline code, also in the cell of a table. The number of backticks does not occur in the text.
pub fn code(text: &str) -> String {
    let text = text.replace(['\r', '\n'], " ");
    let text = visible_line(&text).replace('|', "\\|");
    if text.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Lines as a block of code, in a fence longer than any run of backticks in them.
pub fn fenced(language: &str, text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat((longest_run(&text, '`') + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}

fn longest_run(text: &str, of: char) -> usize {
    let runs = text.split(|c| c != of).map(str::len);
    runs.max().unwrap_or(0) / of.len_utf8()
}
