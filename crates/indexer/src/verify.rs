//! Checks that an index is whole: checksums, documents against chunks, and every chunk found by its own text in both branches.

use std::collections::HashSet;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use tantivy::TantivyError;

use crate::analyze;
use crate::build::{Phase, Progress};
use crate::context;
use crate::error::{OpenError, damaged};
use crate::guard::guarded;
use crate::search::Index;
use crate::settings::Settings;
use crate::store::entries::page;
use crate::store::lexical::Words;
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
    let total = manifest.chunks;
    let phase = Phase::Verify;
    let mut report = |done| progress(Progress { phase, done, total });
    report(0);
    let mut out = Verification {
        generation: manifest.generation.clone(),
        documents: manifest.documents,
        chunks: total,
        ..Verification::default()
    };
    for (path, reason) in open.held.files().damaged() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        out.problem(name, reason);
    }
    let checked = || {
        let documents = open.held.documents()?;
        let live = check_chunks(&open, &mut out);
        check_documents(&open, &documents, live.len(), &mut out);
        check_findable(&open, &live, &mut out);
        Ok(())
    };
    guarded(checked, |reason| damaged(index, reason))?;
    report(total);
    Ok(out)
}

/// Each chunk has a vector, and an id that no other has. Returns the chunks.
fn check_chunks(open: &Index, out: &mut Verification) -> Vec<Ordinal> {
    let rows = open.lexical.rows();
    let live: Vec<Ordinal> = rows.iter().map(|(_, chunk)| *chunk).collect();
    let ids = open.lexical.ids(&live).unwrap_or_else(|error| {
        out.problem("ids", error.to_string());
        Vec::new()
    });
    let mut seen = HashSet::new();
    for ((row, _), id) in rows.iter().zip(ids) {
        if *row as usize >= open.held.manifest.rows {
            out.problem(&id, "it has no vector");
        }
        if !seen.insert(id.clone()) {
            out.problem(id, "two chunks have this id");
        }
    }
    live
}

/// Each chunk and each question belongs to a document.
fn check_documents(open: &Index, documents: &Documents, live: usize, out: &mut Verification) {
    let mut owned = 0;
    for (path, entry) in documents {
        let found = open.lexical.chunks_of(path).map_or(0, |all| all.len());
        owned += found;
        if found != entry.chunks {
            out.problem(path, format!("{found} chunks instead of {}", entry.chunks));
        }
    }
    if owned != live || documents.len() != out.documents || live != out.chunks {
        let found = format!("{} documents and {live} chunks", documents.len());
        out.problem("manifest", format!("{found}, {owned} of them in documents"));
    }
    let pages: HashSet<u64> = documents.keys().map(|path| page(path)).collect();
    match open.questions.as_ref().map(|questions| questions.pages()) {
        None => {}
        Some(Ok(asked)) if asked.is_subset(&pages) => {}
        Some(Ok(_)) => out.problem("questions", "questions of a document that is not there"),
        Some(Err(error)) => out.problem("questions", error.to_string()),
    }
}

fn check_findable(open: &Index, live: &[Ordinal], out: &mut Verification) {
    // A panic is guarded in its own thread.
    let find = |&ordinal: &Ordinal| guarded(|| find(open, ordinal), |reason| reason);
    let found = live.par_iter().map(find);
    for (ordinal, found) in live.iter().zip(found.collect::<Vec<_>>()) {
        let id = open.lexical.id(*ordinal);
        match found {
            Err(reason) => out.problem(id, reason),
            Ok((by_words, by_vector)) => {
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
    }
}

/// Whether a chunk is found by its words, and by its vector if that is not zero.
fn find(open: &Index, ordinal: Ordinal) -> Result<(bool, Option<bool>), String> {
    let failed = |error: TantivyError| error.to_string();
    let chunk = open.lexical.chunk(ordinal).map_err(failed)?;
    let probe = rarest(open, context::lexical_terms(&chunk)).map_err(failed)?;
    // A chunk of punctuation only has no words to search for.
    let by_words = if probe.terms.is_empty() {
        analyze::terms(&chunk.text).is_empty()
    } else {
        let hits = open.lexical.search(&probe, None, PROBE_DEPTH);
        is_among(open, ordinal, &hits.map_err(failed)?)
    };
    let row = open.lexical.row(ordinal);
    let row = row.filter(|row| *row < open.held.vectors.len());
    let (cells, scale) = open.held.vectors.coarse(row.ok_or("it has no vector")?);
    let vector: Vec<f32> = cells.iter().map(|&cell| f32::from(cell) * scale).collect();
    let is_known = scale != 0.0;
    let by_vector = is_known.then(|| is_among(open, ordinal, &open.nearest(&vector, PROBE_DEPTH)));
    Ok((by_words, by_vector))
}

/// The chunk itself, or one with the same text: there may be more copies than places in the list.
fn is_among(open: &Index, ordinal: Ordinal, hits: &[(Ordinal, f32)]) -> bool {
    let row = open.lexical.row(ordinal);
    let is_it = |hit| hit == ordinal || open.lexical.row(hit) == row;
    hits.iter().any(|&(hit, _)| is_it(hit))
}

fn rarest(open: &Index, mut terms: Vec<String>) -> tantivy::Result<Words> {
    terms.sort();
    terms.dedup();
    let terms = terms.into_iter();
    let counted = terms.map(|term| Ok((open.lexical.frequency(&term)?, term)));
    let mut counted = counted.collect::<tantivy::Result<Vec<(u64, String)>>>()?;
    counted.sort();
    counted.truncate(PROBE_TERMS);
    Ok(Words {
        terms: counted.into_iter().map(|(_, term)| (term, 1.0)).collect(),
        ..Words::default()
    })
}
