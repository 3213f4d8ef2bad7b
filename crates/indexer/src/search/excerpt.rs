//! The lines of a passage that say most about a query.
//!
//! A passage consists of pieces: sentences, list items, rows of a table, blocks of code. Headings and fences are left out. Of code that is
//! shown before and after a change, only the code after it is a piece.

use std::collections::{HashMap, HashSet};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::analyze;

/// Bonus of a piece that continues a chosen one, and of the first piece, relative to the best piece.
const NEXT: f32 = 0.15;
const FIRST: f32 = 0.25;

/// Marks a gap.
const GAP: &str = "…";

#[derive(Debug, Default)]
struct Piece<'a> {
    text: String,
    /// Header of its table.
    header: Option<&'a str>,
    /// Whether it continues the line of the piece before it.
    is_inline: bool,
}

/// Pieces of `text` with the most of `weights`, by term, within `room` columns, in their order.
pub(super) fn excerpt(text: &str, weights: &HashMap<String, f32>, room: usize) -> String {
    let pieces = pieces(text);
    let terms: Vec<HashSet<String>> = pieces.iter().map(|piece| terms(piece, weights)).collect();
    let chosen = choose(&pieces, &terms, weights, room);
    print(&pieces, &chosen)
}

fn terms(piece: &Piece<'_>, weights: &HashMap<String, f32>) -> HashSet<String> {
    let terms = analyze::terms(&piece.text).into_iter();
    terms.filter(|term| weights.contains_key(term)).collect()
}

/// Numbers of the chosen pieces, ascending. Terms count once, so that the pieces together cover the query.
fn choose(
    pieces: &[Piece<'_>],
    terms: &[HashSet<String>],
    weights: &HashMap<String, f32>,
    room: usize,
) -> Vec<usize> {
    let worth = |at: usize, seen: &HashSet<&str>| -> f32 {
        let new = terms[at]
            .iter()
            .filter(|term| !seen.contains(term.as_str()));
        new.map(|term| weights[term]).sum()
    };
    let none = HashSet::new();
    let best = (0..pieces.len())
        .map(|at| worth(at, &none))
        .fold(0.0, f32::max);
    let (mut chosen, mut seen): (Vec<usize>, HashSet<&str>) = (Vec::new(), HashSet::new());
    let mut used = 0;
    loop {
        let gain = |at: usize| {
            let follows = at > 0 && chosen.contains(&(at - 1));
            let next = if follows { NEXT * best } else { 0.0 };
            let first = if at == 0 { FIRST * best } else { 0.0 };
            worth(at, &seen) + next + first
        };
        let left = (0..pieces.len()).filter(|at| !chosen.contains(at));
        let fitting =
            left.filter(|&at| chosen.is_empty() || used + cost(at, pieces, &chosen) <= room);
        let Some(at) = fitting.reduce(|a, b| if gain(b) > gain(a) { b } else { a }) else {
            break;
        };
        used += cost(at, pieces, &chosen);
        chosen.push(at);
        seen.extend(terms[at].iter().map(String::as_str));
    }
    chosen.sort_unstable();
    chosen
}

/// Columns of a piece, and of the header of its table unless another row brings it.
fn cost(at: usize, pieces: &[Piece<'_>], chosen: &[usize]) -> usize {
    let piece = &pieces[at];
    let is_new = |header: &&str| {
        !chosen
            .iter()
            .any(|&other| pieces[other].header == Some(header))
    };
    let header = piece
        .header
        .filter(is_new)
        .map_or(0, UnicodeWidthStr::width);
    piece.text.width() + header
}

fn is_wide(c: char) -> bool {
    c.width() == Some(2)
}

fn print(pieces: &[Piece<'_>], chosen: &[usize]) -> String {
    let mut out = String::new();
    let mut before: Option<usize> = None;
    for &at in chosen {
        let piece = &pieces[at];
        let follows = at == before.map_or(0, |before| before + 1);
        let is_new_table = piece.header != before.and_then(|before| pieces[before].header);
        if !out.is_empty() {
            match piece.is_inline {
                true if out.ends_with(is_wide) => {}
                true => out.push(' '),
                false => out.push('\n'),
            }
        }
        if !follows && piece.header.is_none() {
            out.push_str(GAP);
            out.push(' ');
        }
        if let Some(header) = piece.header.filter(|_| is_new_table) {
            out.push_str(header);
            out.push('\n');
        }
        out.push_str(&piece.text);
        before = Some(at);
    }
    out
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out: Vec<Piece<'_>> = Vec::new();
    let mut lines = text.lines().peekable();
    let mut header = None;
    let mut prose = String::new();
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if let Some(fence) = fence(bare) {
            flush(&mut prose, &mut out);
            let code = lines
                .by_ref()
                .take_while(|line| !line.trim().starts_with(fence));
            let text = after(&code.collect::<Vec<_>>());
            out.push(Piece {
                text,
                ..Piece::default()
            });
            continue;
        }
        if bare.starts_with('|') {
            flush(&mut prose, &mut out);
            if lines.peek().is_some_and(|next| is_rule(next)) {
                header = Some(bare);
                lines.next();
            } else if !is_rule(bare) {
                let text = bare.to_owned();
                out.push(Piece {
                    text,
                    header,
                    is_inline: false,
                });
            }
            continue;
        }
        header = None;
        let is_heading = bare.starts_with('#');
        if bare.is_empty() || is_heading || is_item(bare) {
            flush(&mut prose, &mut out);
        }
        if !is_heading {
            join(&mut prose, bare);
        }
    }
    flush(&mut prose, &mut out);
    out.retain(|piece| !piece.text.trim().is_empty());
    out
}

/// The fence that opens a block of code.
fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"]
        .into_iter()
        .find(|fence| line.starts_with(fence))
}

/// Whether a line separates the header of a table from its rows.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.chars().all(|c| "|-: ".contains(c))
}

fn is_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = digits.len() < line.len() && digits.starts_with(". ");
    is_numbered || line.starts_with("- ") || line.starts_with("* ")
}

/// Adds a line of a paragraph; Chinese lines join without a space.
fn join(prose: &mut String, line: &str) {
    if !prose.is_empty() && !prose.ends_with(is_wide) && !line.is_empty() {
        prose.push(' ');
    }
    prose.push_str(line);
}

/// The sentences of a paragraph as pieces.
fn flush(prose: &mut String, out: &mut Vec<Piece<'_>>) {
    let text = std::mem::take(prose);
    let mut start = 0;
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for (number, &(at, c)) in chars.iter().enumerate() {
        let after = at + c.len_utf8();
        let is_end = match c {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' | ';' => {
                chars.get(number + 1).is_some_and(|(_, c)| *c == ' ') && after - start > 12
            }
            _ => false,
        };
        if is_end || after == text.len() {
            let is_inline = start > 0;
            let text = text[start..after].trim().to_owned();
            out.push(Piece {
                text,
                header: None,
                is_inline,
            });
            start = after;
        }
    }
}

/// Words of a comment above the old code and above the new code.
const BEFORE: [&str; 3] = ["before", "修改前", "改前"];
const AFTER: [&str; 3] = ["after", "修改后", "改后"];

/// The code after a change; all of it if it shows no change.
fn after(lines: &[&str]) -> String {
    let says = |words: &[&str], line: &str| {
        let line = line.trim().to_lowercase();
        let comment = ["//", "--", "#", "/*"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        comment.is_some_and(|comment| {
            words
                .iter()
                .any(|word| comment.trim_start().starts_with(word))
        })
    };
    let is_change = lines.iter().any(|line| says(&BEFORE, line));
    let changed = lines.iter().position(|line| says(&AFTER, line));
    let start = changed.filter(|_| is_change).unwrap_or(0);
    lines[start..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt_of(text: &str, query: &str, room: usize) -> String {
        let terms = analyze::terms(query).into_iter();
        excerpt(text, &terms.map(|term| (term, 1.0)).collect(), room)
    }

    #[test]
    fn the_row_that_fits_keeps_its_header() {
        let text = "## Cause\n\n| message | limit |\n|---|---|\n| task too large | 1000 KiB |\n| Kryo buffer overflow | 64 MB |\n";
        let expected = "| message | limit |\n| Kryo buffer overflow | 64 MB |";
        assert_eq!(excerpt_of(text, "kryo overflow", 60), expected);
    }

    #[test]
    fn code_is_shown_after_its_change() {
        for (before, after) in [
            ("-- before", "-- after: salted"),
            ("// 修改前", "// 修改后"),
        ] {
            let text = format!("```sql\n{before}\nSELECT a;\n{after}\nSELECT b;\n```\n");
            assert_eq!(excerpt_of(&text, "b", 80), format!("{after}\nSELECT b;"));
        }
        let text = "```\n# after the restart\nx\n```";
        assert_eq!(excerpt_of(text, "x", 80), "# after the restart\nx");
    }

    #[test]
    fn sentences_that_fit_are_shown_in_their_order() {
        let text = "Nothing of it here at all. The driver\nlists all files. Filler without any use. Compaction helps later.";
        let shown = excerpt_of(text, "compaction driver files", 70);
        assert_eq!(
            shown,
            "… The driver lists all files. … Compaction helps later."
        );
    }

    #[test]
    fn a_passage_that_fits_is_shown_whole() {
        let text = "## 原因\n\n键为空。\n数据倾斜。\n\n- 一\n- 二\n";
        assert_eq!(
            excerpt_of(text, "倾斜", 100),
            "键为空。数据倾斜。\n- 一\n- 二"
        );
        assert_eq!(excerpt_of("", "x", 100), "");
    }
}
