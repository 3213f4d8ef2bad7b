//! Cuts units that are too long: between blocks if possible, else inside a block, but never inside a line of
//! code or a table row.

use std::ops::Range;

use super::blocks::{Block, BlockKind};
use super::tokens;

/// A part of a unit, with the text repeated around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) range: Range<usize>,
    pub(crate) prefix: String,
    pub(crate) suffix: String,
}

/// Text that is not divided further.
struct Atom {
    range: Range<usize>,
    tokens: usize,
    prefix: String,
    suffix: String,
}

/// Covers `range` with parts of about equal size, at most about `max` tokens each.
pub(crate) fn cut(text: &str, range: Range<usize>, blocks: &[Block], max: usize) -> Vec<Cut> {
    let total = tokens::count(&text[range.clone()]);
    if total <= max {
        return vec![Cut {
            range,
            prefix: String::new(),
            suffix: String::new(),
        }];
    }
    // Equal parts rather than full ones and a small rest.
    let goal = total.div_ceil(total.div_ceil(max));
    gather(atoms(text, range, blocks, max), goal, max)
}

/// Blocks as atoms; a block above `max` is split into lines, rows or sentences. Gaps belong to the block before.
fn atoms(text: &str, range: Range<usize>, blocks: &[Block], max: usize) -> Vec<Atom> {
    let mut out = Vec::new();
    let mut start = range.start;
    for (i, block) in blocks.iter().enumerate() {
        let end = blocks.get(i + 1).map_or(range.end, |next| next.range.start);
        let whole = start..end;
        start = end;
        let size = tokens::count(&text[whole.clone()]);
        if size <= max {
            out.push(plain(whole, size));
            continue;
        }
        match block.kind {
            BlockKind::Code => lines_with(text, whole, code_frame(text, block), max, &mut out),
            BlockKind::Table => lines_with(text, whole, table_frame(text, block), max, &mut out),
            BlockKind::Heading(..) | BlockKind::Prose => sentences(text, whole, max, &mut out),
        }
    }
    if out.is_empty() {
        sentences(text, range, max, &mut out);
    }
    out
}

fn plain(range: Range<usize>, tokens: usize) -> Atom {
    Atom {
        range,
        tokens,
        prefix: String::new(),
        suffix: String::new(),
    }
}

/// What each part of a split block repeats.
struct Frame {
    opening_end: usize,
    prefix: String,
    suffix: String,
}

/// Repeats the fence; an indented block has none.
fn code_frame(text: &str, block: &Block) -> Frame {
    let first = first_line(&text[block.range.clone()]);
    let fence = first.trim_start();
    let marks = fence
        .find(|c| c != '`' && c != '~')
        .unwrap_or(fence.trim_end().len());
    if marks < 3 {
        return Frame {
            opening_end: block.range.start,
            prefix: String::new(),
            suffix: String::new(),
        };
    }
    Frame {
        opening_end: block.range.start + first.len(),
        prefix: format!("{}\n", fence.trim_end()),
        suffix: format!("\n{}", &fence[..marks]),
    }
}

/// Repeats the header row and the rule below it.
fn table_frame(text: &str, block: &Block) -> Frame {
    let body = &text[block.range.clone()];
    let header: usize = body.split_inclusive('\n').take(2).map(str::len).sum();
    Frame {
        opening_end: block.range.start + header,
        prefix: body[..header].to_owned(),
        suffix: String::new(),
    }
}

fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or(text)
}

/// Groups of whole lines of at most `max` tokens; all but the first start with the frame's prefix, all but the last end with its
/// suffix. A single line above `max` is cut.
fn lines_with(text: &str, whole: Range<usize>, frame: Frame, max: usize, out: &mut Vec<Atom>) {
    let overhead = tokens::count(&frame.prefix) + tokens::count(&frame.suffix);
    // A header that fills half a chunk is not worth repeating.
    let frame = if overhead * 2 > max {
        Frame {
            prefix: String::new(),
            suffix: String::new(),
            ..frame
        }
    } else {
        frame
    };
    let room = max - (tokens::count(&frame.prefix) + tokens::count(&frame.suffix)).min(max / 2);
    let first_atom = out.len();
    let mut start = whole.start;
    let mut end = frame.opening_end;
    let mut size = tokens::count(&text[start..end]);
    for line in text[frame.opening_end..whole.end].split_inclusive('\n') {
        let line_size = tokens::count(line);
        if size + line_size > room && end > start && end > frame.opening_end {
            out.push(plain(start..end, size));
            start = end;
            size = 0;
        }
        end += line.len();
        size += line_size;
        if size > room {
            hard(text, start..end, room, out);
            start = end;
            size = 0;
        }
    }
    if start < whole.end {
        out.push(plain(start..whole.end, size));
    }
    let last_atom = out.len().saturating_sub(1);
    for (i, atom) in out.iter_mut().enumerate().skip(first_atom) {
        if i > first_atom {
            atom.prefix.clone_from(&frame.prefix);
        }
        if i < last_atom {
            atom.suffix.clone_from(&frame.suffix);
        }
        atom.tokens += overhead;
    }
}

/// Sentences and lines of prose, none above `max`.
fn sentences(text: &str, whole: Range<usize>, max: usize, out: &mut Vec<Atom>) {
    let mut start = whole.start;
    let mut before = '\0';
    let mut ends = Vec::new();
    for (at, c) in text[whole.clone()].char_indices() {
        let after = whole.start + at + c.len_utf8();
        let ends_here = c == '\n'
            || matches!(c, '。' | '！' | '？' | '；')
            || (c.is_whitespace() && matches!(before, '.' | '!' | '?' | ';'));
        if ends_here {
            ends.push(after);
        }
        before = c;
    }
    ends.push(whole.end);
    for end in ends {
        if end == start {
            continue;
        }
        let size = tokens::count(&text[start..end]);
        if size > max {
            hard(text, start..end, max, out);
        } else {
            out.push(plain(start..end, size));
        }
        start = end;
    }
}

/// The last resort: cuts between characters, after white space if there is any.
fn hard(text: &str, whole: Range<usize>, max: usize, out: &mut Vec<Atom>) {
    let mut start = whole.start;
    while start < whole.end {
        let rest = &text[start..whole.end];
        let mut end = whole.end;
        let mut space = None;
        let mut size = 0;
        for (at, c) in rest.char_indices() {
            // In sixths of a token, the most that a character may cost.
            size += if c.is_ascii_alphanumeric() { 1 } else { 6 };
            if size > max * 6 {
                end = start + space.filter(|&s| s > 0).unwrap_or(at);
                break;
            }
            if c.is_whitespace() {
                space = Some(at + c.len_utf8());
            }
        }
        let end = if end == start { whole.end } else { end };
        out.push(plain(start..end, tokens::count(&text[start..end])));
        start = end;
    }
}

/// Fills parts up to `goal`, never above `max` unless one atom alone is.
fn gather(atoms: Vec<Atom>, goal: usize, max: usize) -> Vec<Cut> {
    let mut out: Vec<Cut> = Vec::new();
    let mut size = 0;
    for atom in atoms {
        let framed = !atom.prefix.is_empty();
        let closed = out.last().is_none_or(|last| !last.suffix.is_empty());
        let full = size >= goal || size + atom.tokens > max;
        match out.last_mut() {
            Some(last) if !framed && !closed && !full => {
                last.range.end = atom.range.end;
                last.suffix = atom.suffix;
                size += atom.tokens;
            }
            _ => {
                size = atom.tokens;
                out.push(Cut {
                    range: atom.range,
                    prefix: atom.prefix,
                    suffix: atom.suffix,
                });
            }
        }
    }
    out
}
