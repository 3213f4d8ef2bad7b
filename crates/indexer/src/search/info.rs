//! Content and origin of an index. Needs no embedder, so it works even if the model is the problem.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::error::OpenError;
use crate::model::Kind;
use crate::store::FORMAT;
use crate::store::generation::{self, Held};
use crate::store::lexical::Lexical;
use crate::store::manifest::Manifest;

#[derive(Debug, Clone, Serialize)]
pub struct Info {
    pub generation: String,
    pub documents: usize,
    pub chunks: usize,
    /// Chunks by kind, for kinds that occur.
    pub kinds: BTreeMap<String, usize>,
    pub languages: BTreeMap<String, usize>,
    pub segments: usize,
    /// Vectors of deleted or replaced chunks still in the file.
    pub dead: usize,
    pub embedder: String,
    pub dimension: usize,
    pub format: u32,
    pub chunker: String,
    pub analyser: String,
    pub bytes: u64,
}

/// # Errors
/// If there is no index, or it is damaged or has another format.
pub fn info(folder: &Path) -> Result<Info, OpenError> {
    let held = generation::hold(folder, true)?;
    let lexical = held.guarded(|| Lexical::open(&held.searcher, held.manifest.chunks))?;
    Ok(Info::of(&held, &lexical))
}

impl Info {
    pub(crate) fn of(held: &Held, lexical: &Lexical) -> Info {
        // A store that cannot count is reported by `verify`.
        let chunks =
            |facet: &str, value: &str| lexical.with_facet(facet, value).map_or(0, |all| all.len());
        let count = |facet: &str, values: &[&str]| -> BTreeMap<String, usize> {
            let values = values.iter();
            let counted = values.map(|&value| (value.to_owned(), chunks(facet, value)));
            counted.filter(|(_, chunks)| *chunks > 0).collect()
        };
        let manifest: Manifest = held.manifest.clone();
        Info {
            kinds: count("kind", &Kind::ALL.map(Kind::as_str)),
            languages: count("language", &["zh", "en"]),
            generation: manifest.generation,
            documents: manifest.documents,
            chunks: manifest.chunks,
            segments: held.searcher.segment_readers().len(),
            dead: manifest.rows.saturating_sub(manifest.chunks),
            embedder: manifest.embedder,
            dimension: manifest.dimension,
            format: FORMAT,
            chunker: manifest.chunker,
            analyser: manifest.analyser,
            bytes: folder_bytes(&held.folder),
        }
    }
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => folder_bytes(&entry.path()),
        about => about.map_or(0, |about| about.len()),
    });
    bytes.sum()
}
