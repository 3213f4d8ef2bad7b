//! Checks that an index is whole: checksums, documents against chunks, and every chunk found by its own text in both branches.

use std::collections::HashSet;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use tantivy::TantivyError;

use crate::analyze;
use crate::build::{Phase, Progress};
use crate::context;
use crate::error::OpenError;
use crate::guard::guarded;
use crate::search::Index;
use crate::settings::Settings;
use crate::store::DOCUMENTS;
use crate::store::entries::number_of;
use crate::store::lexical::{self, Row, Words};
use crate::store::manifest::{Documents, Ordinal};

/// How many of its rarest terms a chunk is looked up by.
const PROBE_TERMS: usize = 16;

/// A chunk counts as found among this many.
const PROBE_DEPTH: usize = 10;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    pub generation: String,
    pub documents: usize,
    pub chunks: usize,
    pub found_by_words: usize,
    pub found_by_vector: usize,
    /// Chunks with a zero vector, which only the lexical branch can find.
    pub without_vector: usize,
    pub problems: Vec<Problem>,
}

impl Verification {
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.problems.push(Problem {
            place: place.into(),
            reason: reason.into(),
        });
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub place: String,
    pub reason: String,
}

/// Checks the current generation of `index`.
///
/// # Errors
/// When it cannot be opened at all; see [`OpenError`].
pub fn verify(
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Verification, OpenError> {
    let open = Index::opened(index, settings, false)?;
    let manifest = &open.held.manifest;
    let (phase, total) = (Phase::Verify, manifest.chunks);
    progress(Progress {
        phase,
        done: 0,
        total,
    });
    let mut out = Verification {
        generation: manifest.generation.clone(),
        documents: manifest.documents,
        chunks: total,
        ..Verification::default()
    };
    for (path, reason) in open.held.unsound() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        out.problem(name, reason);
    }
    let checked = open.held.guarded(|| {
        let rows = open.lexical.rows();
        check_chunks(&open, &rows, &mut out)?;
        check_documents(&open, rows.len(), &mut out)?;
        check_findable(&open, &rows, &mut out);
        Ok(())
    });
    // A damaged file explains a failure.
    if out.is_whole() {
        checked?;
    }
    progress(Progress {
        phase,
        done: total,
        total,
    });
    Ok(out)
}

/// Each chunk has a vector, and an id that no other has.
fn check_chunks(open: &Index, rows: &[Row], out: &mut Verification) -> tantivy::Result<()> {
    let chunks: Vec<Ordinal> = rows.iter().map(|(_, chunk)| *chunk).collect();
    let mut seen = HashSet::new();
    for ((row, _), id) in rows.iter().zip(open.lexical.ids(&chunks)?) {
        if *row as usize >= open.held.manifest.rows {
            out.problem(&id, "it has no vector");
        }
        if !seen.insert(id.clone()) {
            out.problem(id, "two chunks have this id");
        }
    }
    Ok(())
}

/// Each chunk and each question belongs to a document.
fn check_documents(open: &Index, live: usize, out: &mut Verification) -> tantivy::Result<()> {
    let documents: Documents = lexical::list(&open.held.searcher, DOCUMENTS)?;
    let mut owned = 0;
    for (path, entry) in &documents {
        let found = open.lexical.chunks_of(path)?.len();
        owned += found;
        if found != entry.chunks {
            out.problem(path, format!("{found} chunks instead of {}", entry.chunks));
        }
    }
    if owned != live || documents.len() != out.documents || live != out.chunks {
        let found = format!("{} documents and {live} chunks", documents.len());
        out.problem("manifest", format!("{found}, {owned} of them in documents"));
    }
    let pages: HashSet<u64> = documents.keys().map(|path| number_of(path)).collect();
    if let Some(questions) = &open.questions
        && !questions.pages()?.is_subset(&pages)
    {
        out.problem("questions", "questions of a document that is not there");
    }
    Ok(())
}

fn check_findable(open: &Index, rows: &[Row], out: &mut Verification) {
    // A panic is guarded in its own thread.
    let find = |&(row, chunk): &Row| guarded(|| find(open, row as usize, chunk), |reason| reason);
    let found: Vec<_> = rows.par_iter().map(find).collect();
    for ((_, chunk), found) in rows.iter().zip(found) {
        let id = open.lexical.id(*chunk);
        let (by_words, by_vector) = match found {
            Ok(found) => found,
            Err(reason) => {
                out.problem(id, reason);
                continue;
            }
        };
        out.found_by_words += usize::from(by_words);
        out.found_by_vector += usize::from(by_vector == Some(true));
        out.without_vector += usize::from(by_vector.is_none());
        if !by_words {
            out.problem(&id, "not found by its own words");
        }
        if by_vector == Some(false) {
            out.problem(id, "not found by its own vector");
        }
    }
}

/// Whether a chunk is found by its words, and by its vector if that is not zero.
fn find(open: &Index, row: usize, chunk: Ordinal) -> Result<(bool, Option<bool>), String> {
    // The chunk itself, or one with the same text: there may be more copies than places in the list.
    let is_it = |(hit, _): &(Ordinal, f32)| *hit == chunk || open.lexical.row(*hit) == Some(row);
    let by_words = || {
        let text = open.lexical.chunk(chunk)?;
        let words = rarest(open, context::lexical_terms(&text))?;
        if words.terms.is_empty() {
            // A chunk of punctuation only has no words to search for.
            return Ok(analyze::terms(&text.text).is_empty());
        }
        Ok(open
            .lexical
            .search(&words, None, PROBE_DEPTH)?
            .iter()
            .any(is_it))
    };
    let by_words = by_words().map_err(|error: TantivyError| error.to_string())?;
    if row >= open.held.vectors.len() {
        return Err("it has no vector".to_owned());
    }
    let (cells, scale) = open.held.vectors.coarse(row);
    let vector: Vec<f32> = cells.iter().map(|&cell| f32::from(cell) * scale).collect();
    let by_vector = || open.nearest(&vector, None, PROBE_DEPTH).iter().any(is_it);
    Ok((by_words, (scale != 0.0).then(by_vector)))
}

fn rarest(open: &Index, mut terms: Vec<String>) -> tantivy::Result<Words> {
    terms.sort();
    terms.dedup();
    let counted = terms.into_iter();
    let counted = counted.map(|term| Ok((open.lexical.frequency(&term)?, term)));
    let mut counted = counted.collect::<tantivy::Result<Vec<(u64, String)>>>()?;
    counted.sort();
    counted.truncate(PROBE_TERMS);
    Ok(Words {
        terms: counted.into_iter().map(|(_, term)| (term, 1.0)).collect(),
        ..Words::default()
    })
}
