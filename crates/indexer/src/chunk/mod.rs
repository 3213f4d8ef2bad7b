//! Documents to chunks. A chunk is a slice of its document under one heading.

mod blocks;
mod catalogue;
mod facets;
mod markdown;
mod pack;
mod sections;
mod slug;
mod tokens;

pub(crate) use blocks::{Heading, events, headings};
pub(crate) use catalogue::catalogue;
pub(crate) use facets::{heading_for, section_of, steps_of};
pub(crate) use markdown::{Piece, pieces};
pub use sections::section_id;
pub(crate) use slug::slug;

use crate::document::{Document, Source, file_stem, line_at};
use crate::model::Chunk;

/// Stored with the index. Increase it whenever the same text results in different chunks.
pub(crate) const VERSION: &str = "headings-4";

/// The chunks and questions of a document.
pub(crate) struct Contents {
    pub(crate) chunks: Vec<Chunk>,
    /// Questions that the document answers, whichever of its chunks does.
    pub(crate) questions: Vec<String>,
}

impl From<Vec<Chunk>> for Contents {
    fn from(chunks: Vec<Chunk>) -> Contents {
        let questions = Vec::new();
        Contents { chunks, questions }
    }
}

pub(crate) fn contents(source: &Source) -> Contents {
    if source.path.ends_with(".toml") {
        return catalogue(source).into();
    }
    let document = Document::parse(source);
    let title = title_of(&document);
    let pieces = pieces(&document).into_iter();
    let chunks = pieces.map(|piece| to_chunk(&document, &title, &piece));
    let chunks = chunks.collect();
    let mut questions = document.front.questions;
    questions.extend(source.generated.iter().cloned());
    Contents { chunks, questions }
}

pub(crate) fn chunks(source: &Source) -> Vec<Chunk> {
    contents(source).chunks
}

/// From the front matter, else the first heading of level one, else the file name.
pub(crate) fn title_of(document: &Document<'_>) -> String {
    let title = document.front.title.clone();
    let title = title.or_else(|| markdown::first_heading(document));
    title.unwrap_or_else(|| file_stem(document.path).to_owned())
}

fn to_chunk(document: &Document<'_>, title: &str, piece: &Piece) -> Chunk {
    let front = &document.front;
    let section = section_of(&piece.heading_path);
    let steps = match front.steps.is_empty() {
        true => steps_of(document.kind, section),
        false => front.steps.clone(),
    };
    Chunk {
        id: format!("{}#{}", document.path, piece.anchor),
        document: document.path.to_owned(),
        title: title.to_owned(),
        heading_path: piece.heading_path.clone(),
        text: piece.text(document.text),
        language: document.language,
        kind: document.kind,
        engine: front.engine,
        problem_type: front.problem_type.clone(),
        causes: front.causes.clone(),
        section,
        steps,
        operators: front.operators.clone(),
        keywords: front.keywords.clone(),
        source: (!front.source.is_empty()).then(|| front.source.join("; ")),
        confidence: front.confidence,
        line: line_at(document.text.as_bytes(), piece.range.start),
    }
}

#[cfg(test)]
mod tests;
