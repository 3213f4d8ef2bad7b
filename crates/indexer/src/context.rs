//! The searchable text of a chunk, for both branches: its own text, with title, headings and front
//! matter.

use crate::analyze;
use crate::model::Chunk;

/// How often the title counts for BM25: the title names the topic, the text mentions other things too. Measured on the
/// training queries of a public collection; higher weights bring no gain.
const TITLE_WEIGHT: usize = 2;

pub(crate) fn lexical_terms(chunk: &Chunk) -> Vec<String> {
    let mut out = Vec::new();
    let mut add = |text: &str| analyze::for_each_term(text, |term| out.push(term.to_owned()));
    for _ in 0..TITLE_WEIGHT {
        add(&chunk.title);
    }
    let lists = [
        &chunk.heading_path,
        &chunk.keywords,
        &chunk.causes,
        &chunk.operators,
    ];
    for name in lists.into_iter().flatten().chain(&chunk.problem_type) {
        add(name);
    }
    add(&chunk.text);
    out
}

pub(crate) fn lexical_pairs(chunk: &Chunk) -> Vec<String> {
    let mut out = analyze::pairs(&chunk.title);
    for text in chunk.heading_path.iter().chain([&chunk.text]) {
        out.extend(analyze::pairs(text));
    }
    out
}

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

/// The terms of all questions that a document answers, with spaces between them, for each of its chunks.
pub(crate) fn question_terms(questions: &[String]) -> String {
    let terms = questions.iter().flat_map(|text| analyze::terms(text));
    terms.collect::<Vec<_>>().join(" ")
}
