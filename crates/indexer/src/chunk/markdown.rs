//! From headings to units to pieces. Sections of level two are never mixed; small subsections
//! share a piece, long ones are split at blocks.

use std::collections::HashMap;
use std::ops::Range;

use super::blocks::{Block, BlockKind, Heading, blocks, headings};
use super::pack::{Cut, Frame, cut};
use super::slug::slug;
use super::tokens;
use crate::document::Document;
use crate::model::Kind;

/// The usual embedding models read 256 to 512 tokens and blur longer texts.
pub(crate) const MAX_TOKENS: usize = 400;

/// A smaller subsection shares a piece with its neighbors.
const MIN_TOKENS: usize = 200;

/// Anchor of the text before the first heading.
const TOP: &str = "top";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The part of the chunk id after `#`.
    pub(crate) anchor: String,
    /// Headings above, without the title.
    pub(crate) heading_path: Vec<String>,
    pub(crate) range: Range<usize>,
    pub(crate) frame: Frame,
}

impl Piece {
    /// `document` is the whole text.
    pub(crate) fn text(&self, document: &str) -> String {
        let slice = &document[self.range.clone()];
        let slice = slice.trim_matches(['\n', '\r']).trim_end();
        format!("{}{slice}{}", self.frame.prefix, self.frame.suffix)
    }
}

/// The text between two headings.
#[derive(Default)]
pub(super) struct Unit {
    pub(super) path: Vec<Heading>,
    pub(super) range: Range<usize>,
    blocks: Vec<Block>,
}

pub(crate) fn first_heading(document: &Document<'_>) -> Option<String> {
    let headings = headings(document.text, document.body_start);
    let mut titles = headings.filter(|(_, h)| h.level == 1 && !h.title.is_empty());
    titles.next().map(|(_, heading)| heading.title)
}

pub(crate) fn pieces(document: &Document<'_>) -> Vec<Piece> {
    let text = document.text;
    let units = match whole_case(document) {
        Some(unit) => vec![unit],
        None => merge(text, units(text, document.body_start)),
    };
    let mut anchors = HashMap::new();
    let mut out = Vec::new();
    for unit in units {
        let anchor = unique(&anchor_of(&unit.path), &mut anchors);
        let heading_path: Vec<String> = unit.path.iter().map(|h| h.title.clone()).collect();
        let cuts = cut(text, unit.range, &unit.blocks, MAX_TOKENS);
        for (n, Cut { range, frame }) in cuts.into_iter().enumerate() {
            out.push(Piece {
                anchor: match n {
                    0 => anchor.clone(),
                    _ => format!("{anchor}~{}", n + 1),
                },
                heading_path: heading_path.clone(),
                range,
                frame,
            });
        }
    }
    out
}

/// A case that fits is one piece: its sections are a few lines each and need each other.
fn whole_case(document: &Document<'_>) -> Option<Unit> {
    let range = document.body_start..document.text.len();
    let body = &document.text[range.clone()];
    let fits = tokens::count(body) <= MAX_TOKENS && !body.trim().is_empty();
    let unit = Unit {
        range,
        ..Unit::default()
    };
    (document.kind == Kind::Case && fits).then_some(unit)
}

/// One unit per heading; a heading without text belongs to the next unit.
pub(super) fn units(text: &str, body_start: usize) -> Vec<Unit> {
    let mut out: Vec<Unit> = Vec::new();
    let mut current = Unit {
        range: body_start..body_start,
        ..Unit::default()
    };
    for block in blocks(text, body_start) {
        if let BlockKind::Heading(heading) = block.kind {
            let level = heading.level;
            let mut path = current.path.clone();
            path.retain(|above| above.level < level);
            // The first heading of level one is the title; all others are sections.
            let is_title = level == 1 && out.is_empty() && current.path.is_empty();
            let mut start = current.range.start;
            if !current.blocks.is_empty() {
                start = block.range.start;
                current.range.end = start;
                out.push(current);
            }
            if !is_title {
                path.push(heading);
            }
            current = Unit {
                path,
                range: start..block.range.end,
                blocks: Vec::new(),
            };
        } else {
            current.blocks.push(block);
        }
    }
    current.range.end = text.len();
    if !text[current.range.clone()].trim().is_empty() {
        out.push(current);
    }
    out
}

/// Joins small neighbors within a section; a heading with an explicit anchor always starts a piece, since
/// something may cite it.
fn merge(text: &str, units: Vec<Unit>) -> Vec<Unit> {
    let mut out: Vec<Unit> = Vec::new();
    for unit in units {
        let size = tokens::count(&text[unit.range.clone()]);
        let joins = out.last().is_some_and(|last| {
            let last_size = tokens::count(&text[last.range.clone()]);
            let anchored = unit.path.last().is_some_and(|h| h.anchor.is_some());
            let is_below = !last.path.is_empty()
                && unit.path.len() > 1
                && unit.path.first() == last.path.first();
            is_below
                && !anchored
                && (last_size < MIN_TOKENS || size < MIN_TOKENS)
                && last_size + size <= MAX_TOKENS
        });
        match out.last_mut() {
            Some(last) if joins => {
                last.range.end = unit.range.end;
                last.blocks.extend(unit.blocks);
            }
            _ => out.push(unit),
        }
    }
    out
}

/// The explicit anchor, else the slugs of the headings, so that edits elsewhere do not change it.
fn anchor_of(path: &[Heading]) -> String {
    let explicit = path.last().map(|heading| heading.anchor.as_ref());
    match explicit {
        None => TOP.to_owned(),
        Some(Some(anchor)) => anchor.clone(),
        Some(None) => {
            let slugs: Vec<String> = path.iter().map(|h| slug(&h.title)).collect();
            slugs.join("/")
        }
    }
}

/// Numbers repeated anchors; `seen` says how often each occurred.
pub(super) fn unique(anchor: &str, seen: &mut HashMap<String, usize>) -> String {
    let mut candidate = anchor.to_owned();
    while let Some(n) = seen.get_mut(&candidate) {
        *n += 1;
        candidate = format!("{anchor}-{n}");
    }
    seen.insert(candidate.clone(), 1);
    candidate
}
