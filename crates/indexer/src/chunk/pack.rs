//! Cuts units that are too long: between blocks if possible, else inside a block, but never inside a line of
//! code or a table row.

use std::ops::Range;

use super::blocks::{Block, BlockKind};
use super::tokens;

/// Text repeated around each part: the header of a table, the fence of a code block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) prefix: String,
    pub(crate) suffix: String,
}

impl Frame {
    fn tokens(&self) -> usize {
        tokens::count(&self.prefix) + tokens::count(&self.suffix)
    }
}

/// A part of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) range: Range<usize>,
    pub(crate) frame: Frame,
}

impl Cut {
    fn join(&mut self, next: Cut) {
        self.range.end = next.range.end;
        self.frame.suffix = next.frame.suffix;
    }
}

/// A part that is not divided further, and its tokens.
struct Atom(Cut, usize);

impl Atom {
    fn new(range: Range<usize>, tokens: usize) -> Atom {
        let frame = Frame::default();
        Atom(Cut { range, frame }, tokens)
    }
}

/// Covers `range` with parts of about equal size, at most about `max` tokens each.
pub(crate) fn cut(text: &str, range: Range<usize>, blocks: &[Block], max: usize) -> Vec<Cut> {
    let total = tokens::count(&text[range.clone()]);
    if total <= max {
        return vec![Atom::new(range, total).0];
    }
    // Equal parts, instead of full parts and a small rest.
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
            out.push(Atom::new(whole, size));
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
    with_introductions(text, out, max)
}

/// Joins a sentence that ends with a colon and what it introduces, by a small excess over `max` if need be.
fn with_introductions(text: &str, atoms: Vec<Atom>, max: usize) -> Vec<Atom> {
    let mut out: Vec<Atom> = Vec::with_capacity(atoms.len());
    for Atom(cut, tokens) in atoms {
        match out.last_mut() {
            Some(Atom(before, sum))
                if text[before.range.clone()].trim_end().ends_with([':', '：'])
                    && before.frame.suffix.is_empty()
                    && cut.frame.prefix.is_empty()
                    && *sum + tokens <= max + max / SMALL =>
            {
                before.join(cut);
                *sum += tokens;
            }
            _ => out.push(Atom(cut, tokens)),
        }
    }
    out
}

/// Repeats the fence; an indented block has none. Returns the end of the opening as well.
fn code_frame(text: &str, block: &Block) -> (usize, Frame) {
    let first = text[block.range.clone()].split_inclusive('\n').next();
    let first = first.unwrap_or_default();
    let fence = first.trim_start();
    let marks = fence.find(|c| c != '`' && c != '~');
    let marks = marks.unwrap_or(fence.trim_end().len());
    if marks < 3 {
        return (block.range.start, Frame::default());
    }
    let frame = Frame {
        prefix: format!("{}\n", fence.trim_end()),
        suffix: format!("\n{}", &fence[..marks]),
    };
    (block.range.start + first.len(), frame)
}

/// Repeats the header row and the rule below it. Returns the end of the header as well.
fn table_frame(text: &str, block: &Block) -> (usize, Frame) {
    let rows = text[block.range.clone()].split_inclusive('\n');
    let (prefix, suffix) = (rows.take(2).collect(), String::new());
    let frame = Frame { prefix, suffix };
    (block.range.start + frame.prefix.len(), frame)
}

/// Groups of whole lines of at most `max` tokens; all but the first start with the frame's prefix, all but the last end with its
/// suffix. A single line above `max` is cut.
fn lines_with(
    text: &str,
    whole: Range<usize>,
    (opening_end, mut frame): (usize, Frame),
    max: usize,
    out: &mut Vec<Atom>,
) {
    let overhead = frame.tokens();
    // A header that fills half a chunk is not worth repeating.
    if overhead * 2 > max {
        frame = Frame::default();
    }
    let room = max - frame.tokens().min(max / 2);
    let first_atom = out.len();
    let mut start = whole.start;
    let mut end = opening_end;
    let mut size = tokens::count(&text[start..end]);
    for line in text[opening_end..whole.end].split_inclusive('\n') {
        let line_size = tokens::count(line);
        if size + line_size > room && end > start && end > opening_end {
            out.push(Atom::new(start..end, size));
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
        out.push(Atom::new(start..whole.end, size));
    }
    let last_atom = out.len().saturating_sub(1);
    for (i, Atom(cut, tokens)) in out.iter_mut().enumerate().skip(first_atom) {
        if i > first_atom {
            cut.frame.prefix.clone_from(&frame.prefix);
        }
        if i < last_atom {
            cut.frame.suffix.clone_from(&frame.suffix);
        }
        *tokens += overhead;
    }
}

/// Sentences and lines of prose, none above `max`.
fn sentences(text: &str, whole: Range<usize>, max: usize, out: &mut Vec<Atom>) {
    let (mut start, mut before) = (whole.start, '\0');
    for (at, c) in text[whole.clone()].char_indices() {
        let end = whole.start + at + c.len_utf8();
        let ends_here = end == whole.end
            || c == '\n'
            || matches!(c, '。' | '！' | '？' | '；')
            || (c.is_whitespace() && matches!(before, '.' | '!' | '?' | ';'));
        before = c;
        if ends_here {
            match tokens::count(&text[start..end]) {
                size if size > max => hard(text, start..end, max, out),
                size => out.push(Atom::new(start..end, size)),
            }
            start = end;
        }
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
        out.push(Atom::new(start..end, tokens::count(&text[start..end])));
        start = end;
    }
}

/// A last part below this share of `max` joins the part before it: a sentence alone is no answer.
const SMALL: usize = 5;

/// Fills parts up to `goal`, never above `max` unless one atom alone is, or by a small rest.
fn gather(atoms: Vec<Atom>, goal: usize, max: usize) -> Vec<Cut> {
    let mut out: Vec<Cut> = Vec::new();
    let mut size = 0;
    for Atom(cut, tokens) in atoms {
        let framed = !cut.frame.prefix.is_empty();
        let closed = out.last().is_none_or(|last| !last.frame.suffix.is_empty());
        let full = size >= goal || size + tokens > max;
        match out.last_mut() {
            Some(last) if !framed && !closed && !full => {
                last.join(cut);
                size += tokens;
            }
            _ => {
                size = tokens;
                out.push(cut);
            }
        }
    }
    if let Some(last) = out.pop_if(|last| size * SMALL < max && last.frame.prefix.is_empty()) {
        match out
            .last_mut()
            .filter(|before| before.frame.suffix.is_empty())
        {
            Some(before) => before.join(last),
            None => out.push(last),
        }
    }
    out
}
