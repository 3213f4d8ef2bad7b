//! Top-level blocks of a Markdown text with their byte ranges.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A heading: level, text, explicit anchor (`{#name}`).
    Heading(usize, String, Option<String>),
    Code,
    Table,
    Prose,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    pub(crate) range: Range<usize>,
}

/// Top-level blocks of `text[start..]` in order; ranges are offsets into `text`.
pub(crate) fn blocks(text: &str, start: usize) -> Vec<Block> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH;
    let mut out: Vec<Block> = Vec::new();
    let mut depth = 0_usize;
    let mut heading: Option<String> = None;
    for (event, range) in Parser::new_ext(&text[start..], options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    if matches!(tag, Tag::Heading { .. }) {
                        heading = Some(String::new());
                    }
                    out.push(Block {
                        kind: kind_of(&tag),
                        range: start + range.start..start + range.end,
                    });
                }
                depth += 1;
            }
            Event::End(_) => {
                depth -= 1;
                if depth == 0
                    && let (Some(text), Some(block)) = (heading.take(), out.last_mut())
                    && let BlockKind::Heading(_, title, _) = &mut block.kind
                {
                    *title = text.trim().to_owned();
                }
            }
            Event::Text(piece) | Event::Code(piece) => {
                if let Some(text) = &mut heading {
                    text.push_str(&piece);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(text) = &mut heading {
                    text.push(' ');
                }
            }
            _ if depth == 0 => out.push(Block {
                kind: BlockKind::Prose,
                range: start + range.start..start + range.end,
            }),
            _ => {}
        }
    }
    out
}

fn kind_of(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { level, id, .. } => BlockKind::Heading(
            level_number(*level),
            String::new(),
            id.as_ref().map(|id| id.to_string()),
        ),
        Tag::CodeBlock(_) => BlockKind::Code,
        Tag::Table(_) => BlockKind::Table,
        _ => BlockKind::Prose,
    }
}

fn level_number(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
