//! What an index holds and how it was made; needs no embedder, so that it answers when the model is the trouble.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::error::OpenError;
use crate::model::{Kind, Language};
use crate::store::files::folder_bytes;
use crate::store::generation::{self, BM25, Held, damaged};
use crate::store::lexical::Lexical;
use crate::store::manifest::Manifest;

/// What an index holds and how it was made.
#[derive(Debug, Clone, Serialize)]
pub struct Info {
    /// Name of the generation.
    pub generation: String,
    /// Documents.
    pub documents: usize,
    /// Chunks.
    pub chunks: usize,
    /// Chunks by kind; kinds without any are left out.
    pub kinds: BTreeMap<String, usize>,
    /// Chunks by language.
    pub languages: BTreeMap<String, usize>,
    /// Segments that the chunks are in.
    pub segments: usize,
    /// Rows of deleted or replaced chunks that the segments still hold.
    pub dead: usize,
    /// Fingerprint of the embedder.
    pub embedder: String,
    /// Components of a vector.
    pub dimension: usize,
    /// Version of the stored format.
    pub format: u32,
    /// Version of the chunker.
    pub chunker: String,
    /// Version of the analyser.
    pub analyser: String,
    /// Bytes on disk.
    pub bytes: u64,
}

/// What the index in `folder` holds.
///
/// # Errors
/// When there is none, or it is damaged or of another format.
pub fn info(folder: &Path) -> Result<Info, OpenError> {
    let held = generation::hold(folder)?;
    held.manifest.check_format()?;
    let bm25 = held.folder.join(BM25);
    let lexical = Lexical::open(&bm25).map_err(|error| damaged(&bm25, &error.to_string()))?;
    Ok(Info::of(&held, &lexical))
}

impl Info {
    pub(crate) fn of(held: &Held, lexical: &Lexical) -> Info {
        let count = |facet: &str, values: &[&str]| -> BTreeMap<String, usize> {
            let counted = values.iter().map(|&value| {
                // A store that cannot count is reported by `verify`.
                let chunks = lexical.count_facet(facet, value).unwrap_or(0);
                (value.to_owned(), chunks)
            });
            counted.filter(|(_, chunks)| *chunks > 0).collect()
        };
        let manifest: Manifest = held.manifest.clone();
        Info {
            kinds: count("kind", &Kind::ALL.map(Kind::as_str)),
            languages: count(
                "language",
                &[Language::Zh, Language::En].map(Language::as_str),
            ),
            generation: manifest.generation,
            documents: manifest.documents,
            chunks: manifest.chunks,
            segments: manifest.segments.len(),
            dead: manifest.segments.iter().map(|s| s.dead_rows()).sum(),
            embedder: manifest.embedder,
            dimension: manifest.dimension,
            format: manifest.format,
            chunker: manifest.chunker,
            analyser: manifest.analyser,
            bytes: folder_bytes(&held.folder),
        }
    }
}
