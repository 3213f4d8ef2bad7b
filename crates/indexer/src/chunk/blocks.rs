//! Top-level blocks of a Markdown text with their byte ranges.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Heading(Heading),
    Code,
    Table,
    Prose,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) level: usize,
    pub(crate) title: String,
    /// An explicit anchor, `{#name}`.
    pub(crate) anchor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    pub(crate) range: Range<usize>,
}

/// The parts of a Markdown text.
pub(crate) fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(text, options).into_offset_iter()
}

/// The headings of `text[start..]` with their places in `text`.
pub(crate) fn headings(text: &str, start: usize) -> impl Iterator<Item = (usize, Heading)> {
    let blocks = blocks(text, start).into_iter();
    blocks.filter_map(|block| match block.kind {
        BlockKind::Heading(heading) => Some((block.range.start, heading)),
        _ => None,
    })
}

/// Top-level blocks of `text[start..]`, in document order; ranges are offsets into `text`.
pub(crate) fn blocks(text: &str, start: usize) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut depth = 0_usize;
    let mut heading: Option<String> = None;
    for (event, range) in events(&text[start..]) {
        let range = start + range.start..start + range.end;
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    heading = matches!(tag, Tag::Heading { .. }).then(String::new);
                    let kind = kind_of(&tag);
                    out.push(Block { kind, range });
                }
                depth += 1;
            }
            Event::End(_) => {
                depth -= 1;
                if depth == 0
                    && let (Some(text), Some(block)) = (heading.take(), out.last_mut())
                    && let BlockKind::Heading(heading) = &mut block.kind
                {
                    text.trim().clone_into(&mut heading.title);
                }
            }
            Event::Text(piece) | Event::Code(piece) if heading.is_some() => {
                heading.get_or_insert_default().push_str(&piece);
            }
            Event::SoftBreak | Event::HardBreak if heading.is_some() => {
                heading.get_or_insert_default().push(' ');
            }
            _ if depth == 0 => {
                let kind = BlockKind::Prose;
                out.push(Block { kind, range });
            }
            _ => {}
        }
    }
    out
}

fn kind_of(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { level, id, .. } => BlockKind::Heading(Heading {
            level: *level as usize,
            title: String::new(),
            anchor: id.as_ref().map(|id| id.to_string()),
        }),
        Tag::CodeBlock(_) => BlockKind::Code,
        Tag::Table(_) => BlockKind::Table,
        _ => BlockKind::Prose,
    }
}
