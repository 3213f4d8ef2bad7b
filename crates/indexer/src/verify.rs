//! Checks that an index is whole: the manifest against both stores, and every chunk found by its own text in both branches.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use crate::analyze;
use crate::build::{Phase, Progress};
use crate::context;
use crate::error::{OpenError, damaged};
use crate::guard::guarded;
use crate::search::Index;
use crate::settings::Settings;
use crate::store::generation::{READERS, documents};
use crate::store::lexical::Words;
use crate::store::manifest::{BM25, DOCUMENTS, Documents, MANIFEST, Manifest, Ordinal, QUESTIONS};
use crate::store::questions::Place;
use crate::store::stamp::is_note;

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
    let open = Index::open_unchecked(index, settings)?;
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
    check_files(&open.held.folder, manifest, &mut out);
    let bm25 = open.held.folder.join(BM25);
    let checked = || {
        check_documents(&open, &mut out)?;
        let live = check_stores(&open, &mut out);
        check_findable(&open, &live, &mut out);
        Ok(())
    };
    guarded(checked, |reason| damaged(&bm25, reason))?;
    report(total);
    Ok(out)
}

/// Checks that the folder has exactly the files of the manifest, with their checksums.
fn check_files(folder: &Path, manifest: &Manifest, out: &mut Verification) {
    let files: Vec<_> = manifest.files.par_iter().collect();
    let checked = files.into_par_iter().map(|(name, expected)| {
        let bytes = fs::read(folder.join(name)).ok();
        let whole = bytes.map(|bytes| *blake3::hash(&bytes).to_hex() == *expected.blake3);
        (name, whole)
    });
    for (name, whole) in checked.collect::<Vec<_>>() {
        match whole {
            None => out.problem(name, "missing"),
            Some(false) => out.problem(name, "its checksum is wrong"),
            Some(true) => {}
        }
    }
    for name in present(folder) {
        let expected =
            [MANIFEST, READERS].contains(&&*name) || is_note(&name) || name.ends_with(".lock");
        if !expected && !manifest.files.contains_key(&name) {
            out.problem(name, "not in the manifest");
        }
    }
}

/// Files of the folder and of its subfolders, sorted.
fn present(folder: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let inside = present(&entry.path()).into_iter();
            out.extend(inside.map(|inner| format!("{name}/{inner}")));
        } else {
            out.push(name);
        }
    }
    out.sort();
    out
}

/// Each live row belongs to exactly one document.
fn check_documents(open: &Index, out: &mut Verification) -> Result<(), OpenError> {
    let documents = documents(&open.held.folder)?;
    if documents.len() != out.documents {
        let (found, expected) = (documents.len(), out.documents);
        let reason = format!("{found} documents, the manifest has {expected}");
        out.problem(DOCUMENTS, reason);
    }
    let live: HashSet<Ordinal> = open.segments.ordinals().collect();
    let mut owned: HashSet<Ordinal> = HashSet::with_capacity(live.len());
    for (path, entry) in &documents {
        for row in entry.first..entry.first + entry.count {
            let ordinal = Ordinal::new(entry.seq, row);
            if !live.contains(&ordinal) {
                out.problem(path, format!("row {row} of segment {} is dead", entry.seq));
            }
            if !owned.insert(ordinal) {
                out.problem(path, format!("row {row} also belongs to another document"));
            }
            let chunk = open.segments.chunk(ordinal);
            if chunk.as_ref().is_ok_and(|chunk| chunk.document != *path) {
                out.problem(path, format!("row {row} has a chunk of another document"));
            }
        }
    }
    for ordinal in live.difference(&owned) {
        out.problem(name_of(open, *ordinal), "belongs to no document");
    }
    check_questions(open, &documents, out);
    Ok(())
}

/// Questions belong to documents.
fn check_questions(open: &Index, documents: &Documents, out: &mut Verification) {
    let Some(questions) = &open.questions else {
        return;
    };
    let places = documents.values();
    let places: HashSet<Place> = places
        .map(|entry| (Ordinal::new(entry.seq, entry.first), entry.count))
        .collect();
    match questions.documents() {
        Ok(found) if found.iter().all(|place| places.contains(place)) => {}
        Ok(_) => out.problem(QUESTIONS, "questions of a document that is not there"),
        Err(error) => out.problem(QUESTIONS, error.to_string()),
    }
    match questions.damaged_files() {
        Ok(damaged) => report_damaged(damaged, out),
        Err(error) => out.problem(QUESTIONS, error.to_string()),
    }
}

fn report_damaged(files: HashSet<PathBuf>, out: &mut Verification) {
    for file in files {
        out.problem(file.display().to_string(), "its checksum is wrong");
    }
}

fn name_of(open: &Index, ordinal: Ordinal) -> &str {
    open.segments.id(ordinal).unwrap_or("?")
}

/// Both stores hold the same chunks. Returns their ordinals, ascending.
fn check_stores(open: &Index, out: &mut Verification) -> Vec<Ordinal> {
    let live: BTreeSet<Ordinal> = open.segments.ordinals().collect();
    let lexical = open.lexical.damaged_files();
    match lexical.and_then(|damaged| Ok((damaged, open.lexical.ordinals()?))) {
        Ok((damaged, words)) => {
            report_damaged(damaged, out);
            let words: BTreeSet<Ordinal> = words.into_iter().collect();
            for ordinal in live.difference(&words) {
                out.problem(name_of(open, *ordinal), "not in the BM25 store");
            }
            for ordinal in words.difference(&live) {
                out.problem(format!("bm25 entry {}", ordinal.0), "has no live chunk");
            }
        }
        Err(error) => out.problem("bm25", error.to_string()),
    }
    let mut ids = HashSet::new();
    for &ordinal in &live {
        match open.segments.id(ordinal) {
            Some(id) if !ids.insert(id) => out.problem(id, "two chunks have this id"),
            Some(_) => {}
            None => out.problem(format!("chunk {}", ordinal.0), "it cannot be read"),
        }
    }
    live.into_iter().collect()
}

fn check_findable(open: &Index, live: &[Ordinal], out: &mut Verification) {
    let found = live.par_iter().map(|&ordinal| find(open, ordinal));
    for (ordinal, found) in live.iter().zip(found.collect::<Vec<_>>()) {
        let id = name_of(open, *ordinal);
        match found {
            Err(reason) => out.problem(id, reason),
            Ok((by_words, by_vector)) => {
                out.found_by_words += usize::from(by_words);
                out.found_by_vector += usize::from(by_vector == Some(true));
                out.without_vector += usize::from(by_vector.is_none());
                if !by_words {
                    out.problem(id, "not found by its own words");
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
    let chunk = open.segments.chunk(ordinal)?;
    let probe = rarest(open, context::lexical_terms(&chunk)).map_err(|e| e.to_string())?;
    // A chunk of punctuation only has no words to search for.
    let by_words = if probe.terms.is_empty() {
        analyze::terms(&chunk.text).is_empty()
    } else {
        let hits = open.lexical.search(&probe, None, PROBE_DEPTH);
        is_among(open, ordinal, &hits.map_err(|error| error.to_string())?)
    };
    let vector = open.segments.vector(ordinal).ok_or("it has no vector")?;
    let is_known = vector.iter().any(|&value| value != 0.0);
    let by_vector = is_known.then(|| is_among(open, ordinal, &open.nearest(vector, PROBE_DEPTH)));
    Ok((by_words, by_vector))
}

/// The chunk itself, or one with the same text: there may be more copies than places in the list.
fn is_among(open: &Index, ordinal: Ordinal, hits: &[(Ordinal, f32)]) -> bool {
    let is_it = |hit| hit == ordinal || open.segments.same_text(hit, ordinal);
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
