//! Checks that an index is whole: the manifest against both stores, and every chunk found by its own text in both branches.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use crate::analyze;
use crate::build::{Phase, Progress};
use crate::context;
use crate::error::OpenError;
use crate::model::Filter;
use crate::search::Index;
use crate::settings::Settings;
use crate::store::generation::{DOCUMENTS, MANIFEST, documents};
use crate::store::lexical::Words;
use crate::store::manifest::{Manifest, Ordinal};

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
    /// Empty when the index is whole.
    pub problems: Vec<Problem>,
}

impl Verification {
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
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
    let open = Index::open(index, settings)?;
    let manifest = &open.held.manifest;
    let total = manifest.chunks;
    progress(Progress {
        phase: Phase::Verify,
        done: 0,
        total,
    });
    let mut out = Verification {
        generation: manifest.generation.clone(),
        documents: manifest.documents,
        chunks: total,
        ..Verification::default()
    };
    check_files(&open.held.folder, manifest, &mut out);
    check_documents(&open, &mut out)?;
    let live = check_stores(&open, &mut out);
    check_findable(&open, &live, &mut out);
    progress(Progress {
        phase: Phase::Verify,
        done: total,
        total,
    });
    Ok(out)
}

impl Verification {
    fn problem(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.problems.push(Problem {
            place: place.into(),
            reason: reason.into(),
        });
    }
}

/// Every file of the manifest is there with its checksum, and no other file is.
fn check_files(folder: &Path, manifest: &Manifest, out: &mut Verification) {
    let sums: Vec<(&String, Option<String>)> = manifest
        .files
        .par_iter()
        .map(|(name, _)| {
            let sum = fs::read(folder.join(name)).ok();
            (
                name,
                sum.map(|bytes| blake3::hash(&bytes).to_hex().to_string()),
            )
        })
        .collect();
    for (name, sum) in sums {
        match sum {
            None => out.problem(name, "missing"),
            Some(sum) if sum != manifest.files[name].blake3 => {
                out.problem(name, "its checksum does not hold");
            }
            Some(_) => {}
        }
    }
    for name in present(folder) {
        let expected = name == MANIFEST || name == "READERS" || name.ends_with(".lock");
        if !expected && !manifest.files.contains_key(&name) {
            out.problem(name, "not named in the manifest");
        }
    }
}

fn present(folder: &Path) -> Vec<String> {
    let list = |folder: &Path, prefix: &str| -> Vec<(String, bool)> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let named = entries.map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy().into_owned();
            (format!("{prefix}{name}"), is_folder)
        });
        named.collect()
    };
    let mut out = Vec::new();
    for (name, is_folder) in list(folder, "") {
        if is_folder {
            let inside = list(&folder.join(&name), &format!("{name}/"));
            out.extend(inside.into_iter().map(|(name, _)| name));
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
        let reason = format!(
            "{} documents, the manifest has {}",
            documents.len(),
            out.documents
        );
        out.problem(DOCUMENTS, reason);
    }
    let live: HashSet<Ordinal> = open.segments.ordinals().collect();
    let mut owned: HashSet<Ordinal> = HashSet::with_capacity(live.len());
    for (path, entry) in &documents {
        for row in entry.first..entry.first + entry.count {
            let ordinal = Ordinal::new(entry.seq, row);
            if !live.contains(&ordinal) {
                out.problem(
                    path,
                    format!("row {row} of segment {} is not alive", entry.seq),
                );
            }
            if !owned.insert(ordinal) {
                out.problem(path, format!("row {row} belongs to another document too"));
            }
            let chunk = open.segments.chunk(ordinal);
            if chunk.as_ref().is_ok_and(|chunk| chunk.document != *path) {
                out.problem(path, format!("row {row} holds a chunk of another document"));
            }
        }
    }
    for ordinal in live.difference(&owned) {
        let id = open.segments.id(*ordinal).unwrap_or("?");
        out.problem(id, "no document has it");
    }
    Ok(())
}

/// Both stores hold the same chunks. Returns them in order.
fn check_stores(open: &Index, out: &mut Verification) -> Vec<Ordinal> {
    let live: BTreeSet<Ordinal> = open.segments.ordinals().collect();
    match open.lexical.damaged_files() {
        Ok(files) => {
            for file in files {
                out.problem(file.display().to_string(), "its checksum does not hold");
            }
        }
        Err(error) => out.problem("bm25", error.to_string()),
    }
    match open.lexical.ordinals() {
        Ok(words) => {
            let words: BTreeSet<Ordinal> = words.into_iter().collect();
            for ordinal in live.difference(&words) {
                let id = open.segments.id(*ordinal).unwrap_or("?");
                out.problem(id, "not in the BM25 store");
            }
            for ordinal in words.difference(&live) {
                let place = format!("bm25 entry {}", ordinal.0);
                out.problem(place, "no such chunk is alive");
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

struct Found {
    by_words: bool,
    by_vector: Option<bool>,
}

fn check_findable(open: &Index, live: &[Ordinal], out: &mut Verification) {
    let found: Vec<Result<Found, String>> = live
        .par_iter()
        .map(|&ordinal| find(open, ordinal))
        .collect();
    for (ordinal, found) in live.iter().zip(found) {
        let id = open.segments.id(*ordinal).unwrap_or("?");
        match found {
            Ok(found) => {
                out.found_by_words += usize::from(found.by_words);
                out.found_by_vector += usize::from(found.by_vector == Some(true));
                out.without_vector += usize::from(found.by_vector.is_none());
                if !found.by_words {
                    out.problem(id, "not found by its own words");
                }
                if found.by_vector == Some(false) {
                    out.problem(id, "not found by its own vector");
                }
            }
            Err(reason) => out.problem(id, reason),
        }
    }
}

fn find(open: &Index, ordinal: Ordinal) -> Result<Found, String> {
    let chunk = open.segments.chunk(ordinal)?;
    let terms = context::lexical_terms(&chunk);
    let probe = rarest(open, terms)?;
    let by_words = if probe.terms.is_empty() {
        // A chunk of nothing but signs has no words to be found by.
        analyze::terms(&chunk.text).is_empty()
    } else {
        let hits = open
            .lexical
            .search(&probe, &Filter::default(), PROBE_DEPTH)
            .map_err(|error| error.to_string())?;
        is_among(open, ordinal, &hits)
    };
    let vector = open
        .segments
        .vector(ordinal)
        .ok_or("it has no vector row")?;
    let by_vector = vector.iter().any(|&value| value != 0.0).then(|| {
        let hits = open.nearest(vector, PROBE_DEPTH);
        is_among(open, ordinal, &hits)
    });
    Ok(Found {
        by_words,
        by_vector,
    })
}

/// The chunk itself, or one with the same text: there may be more copies than places in the list.
fn is_among(open: &Index, ordinal: Ordinal, hits: &[(Ordinal, f32)]) -> bool {
    hits.iter()
        .any(|&(hit, _)| hit == ordinal || open.segments.same_text(hit, ordinal))
}

fn rarest(open: &Index, mut terms: Vec<String>) -> Result<Words, String> {
    terms.sort();
    terms.dedup();
    let mut counted = Vec::with_capacity(terms.len());
    for term in terms {
        let frequency = open
            .lexical
            .frequency(&term)
            .map_err(|error| error.to_string())?;
        counted.push((frequency, term));
    }
    counted.sort();
    counted.truncate(PROBE_TERMS);
    Ok(Words {
        terms: counted.into_iter().map(|(_, term)| (term, 1.0)).collect(),
        pairs: Vec::new(),
    })
}
