//! What a chunk is found by: its text in the context of its title, headings and front matter, for either branch.

use crate::analyse;
use crate::model::Chunk;

/// Times the title counts for BM25: a title names the topic, the text mentions much else. Measured on the training
/// queries of a public collection; more gains nothing.
const TITLE_WEIGHT: usize = 2;

/// Terms of a chunk for the lexical branch.
pub(crate) fn lexical_terms(chunk: &Chunk) -> Vec<String> {
    let mut out = Vec::new();
    let mut add = |text: &str| analyse::for_each_term(text, |term| out.push(term.to_owned()));
    for _ in 0..TITLE_WEIGHT {
        add(&chunk.title);
    }
    let names = chunk
        .heading_path
        .iter()
        .chain(&chunk.keywords)
        .chain(&chunk.causes)
        .chain(&chunk.operators)
        .chain(&chunk.problem_type);
    for name in names {
        add(name);
    }
    add(&chunk.text);
    out
}

/// Pairs of neighbouring words of a chunk for the lexical branch.
pub(crate) fn lexical_pairs(chunk: &Chunk) -> Vec<String> {
    let mut out = analyse::pairs(&chunk.title);
    for text in chunk.heading_path.iter().chain([&chunk.text]) {
        out.extend(analyse::pairs(text));
    }
    out
}

/// Text of a chunk for the vector branch.
pub(crate) fn embedded_text(chunk: &Chunk) -> String {
    let mut out = chunk.title.clone();
    for heading in &chunk.heading_path {
        out.push_str(" > ");
        out.push_str(heading);
    }
    if !chunk.keywords.is_empty() {
        out.push('\n');
        out.push_str(&chunk.keywords.join(", "));
    }
    out.push('\n');
    out.push_str(&chunk.text);
    out
}
