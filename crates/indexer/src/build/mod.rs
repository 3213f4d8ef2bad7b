//! From knowledge to a new generation of the index: read, compare, cut, embed, write beside, verify, swap.
//!
//! Knows nothing of queries.

mod embed;
mod graphs;
mod plan;
mod read;
mod write;

use std::path::Path;

use serde::Serialize;

pub(crate) use read::{Listing, from_memory, sources};

use crate::chunk;
use crate::document::Source;
use crate::embed::{Embedder, load};
use crate::error::{BuildError, OpenError};
use crate::model::Chunk;
use crate::settings::{Rebuild, Settings};
use crate::store::cache::Cache;
use crate::store::generation::{self, Held, Writer};
use crate::store::manifest::Documents;
use crate::store::mark;

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Documents that are new.
    pub added: Vec<String>,
    /// Documents whose text or front matter changed.
    pub changed: Vec<String>,
    /// Documents that are gone.
    pub removed: Vec<String>,
    /// Documents that lie elsewhere with the same text: old and new path.
    pub moved: Vec<(String, String)>,
    /// Documents left as they were.
    pub unchanged: usize,
    /// Chunks in the index now.
    pub chunks: usize,
    /// Texts that were embedded.
    pub embedded: usize,
    /// Texts whose vector was already known.
    pub cached: usize,
    /// Name of the generation that is served now.
    pub generation: String,
    /// Whether a new generation was made.
    pub rebuilt: bool,
}

/// What an update is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Listing and hashing documents.
    Read,
    /// Cutting documents into chunks.
    Chunk,
    /// Turning texts into vectors.
    Embed,
    /// Writing the stores.
    Write,
    /// Building the graph.
    Graph,
    /// Checking the new generation before it is served.
    Verify,
}

/// How far an update is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Current phase.
    pub phase: Phase,
    /// Units done in it.
    pub done: usize,
    /// Units in it; 0 if not known.
    pub total: usize,
}

/// The document whose entries widen queries.
pub(crate) const GLOSSARY: &str = "glossary.toml";

/// Reports the start of a phase.
fn start(progress: &mut dyn FnMut(Progress), phase: Phase, total: usize) {
    progress(Progress {
        phase,
        done: 0,
        total,
    });
}

/// Brings `index` up to date with the documents under `knowledge`.
///
/// # Errors
/// See [`BuildError`]; the last good generation is then still served.
pub fn update(
    knowledge: &Path,
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, BuildError> {
    start(progress, Phase::Read, 0);
    let listing = Listing::of(knowledge)?;
    update_with(listing, &chunk::chunks, index, settings, progress)
}

/// As [`update`], with documents held in memory: pairs of path (as it would be below the knowledge folder) and text.
///
/// # Errors
/// See [`BuildError`].
pub fn update_from(
    documents: impl IntoIterator<Item = (String, String)>,
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, BuildError> {
    start(progress, Phase::Read, 0);
    let sources = from_memory(documents);
    if sources.is_empty() {
        return Err(BuildError::NoDocuments {
            path: Path::new("the given list").to_owned(),
        });
    }
    update_with(sources.into(), &chunk::chunks, index, settings, progress)
}

/// Whether `index` was last brought up to date from documents that this mark stands for, as [`set_mark`] noted. Reads two small
/// files: a caller whose documents seldom change need not hash them at every start.
pub fn has_mark(index: &Path, mark: &[u8]) -> bool {
    mark::holds(index, mark)
}

/// Notes that the generation of `summary` was made of documents that `mark` stands for.
///
/// # Errors
/// When the note cannot be written; the index is as good without it.
pub fn set_mark(index: &Path, summary: &Summary, mark: &[u8]) -> Result<(), BuildError> {
    mark::set(index, &summary.generation, mark)
}

/// How a document becomes chunks.
pub(crate) type Cutter<'a> = &'a (dyn Fn(&Source) -> Vec<Chunk> + Sync);

/// As [`update`], with documents that are listed already and another way to cut them.
pub(crate) fn update_with(
    mut listing: Listing,
    cutter: Cutter<'_>,
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, BuildError> {
    let writer = Writer::lock(index)?;
    let embedder = load(&settings.embedder)?;
    let current = current(index, settings.rebuild, &*embedder)?;
    let mut hashes = listing.hashes()?;
    let everything = settings.rebuild != Rebuild::Changed;
    let compared = current
        .as_ref()
        .map(|(held, documents)| (documents, held.manifest.segments.as_slice()));
    let plan = plan::plan(&listing.sources, &hashes, compared, everything);
    if let (true, Some((held, _))) = (plan.is_empty(), &current) {
        graphs::update(index, settings, progress)?;
        writer.collect();
        return Ok(Summary {
            chunks: held.manifest.chunks,
            generation: held.manifest.generation.clone(),
            ..plan.summary
        });
    }
    let mut wanted = plan.write.clone();
    // The glossary is written into every generation.
    let glossary = listing.sources.iter().position(|s| s.path == GLOSSARY);
    wanted.extend(glossary.filter(|at| wanted.binary_search(at).is_err()));
    listing.load(&wanted, &mut hashes)?;
    let job = write::Job {
        writer: &writer,
        index,
        sources: &listing.sources,
        cutter,
        hashes: &hashes,
        plan,
        current: current.as_ref().map(|(held, documents)| (held, documents)),
        embedder: &*embedder,
        rebuild: settings.rebuild,
    };
    let summary = write::run(job, progress)?;
    // The lock on the old generation goes before the collection, so that it is collected too.
    drop(current);
    graphs::update(index, settings, progress)?;
    writer.collect();
    Ok(summary)
}

/// The generation to start from; `None` if there is none, or if it is to be ignored.
fn current(
    index: &Path,
    rebuild: Rebuild,
    embedder: &dyn Embedder,
) -> Result<Option<(Held, Documents)>, BuildError> {
    let held = match generation::hold(index) {
        Ok(held) => held,
        Err(OpenError::Missing { .. }) => return Ok(None),
        Err(_) if rebuild == Rebuild::Full => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let agrees = match rebuild {
        Rebuild::Changed => held.manifest.check(&embedder.fingerprint()),
        // Texts are cut again, known vectors are kept: the model must be the same.
        Rebuild::Rechunk => held
            .manifest
            .check_format()
            .and_then(|()| held.manifest.check_embedder(&embedder.fingerprint())),
        Rebuild::Reembed => held.manifest.check_code(),
        Rebuild::Full => Ok(()),
    };
    agrees?;
    match generation::documents(&held.folder) {
        Ok(documents) => Ok(Some((held, documents))),
        Err(_) if rebuild == Rebuild::Full => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The cache of vectors of `embedder`; `None` if it is faster than its cache would be.
fn open_cache(index: &Path, embedder: &dyn Embedder) -> Result<Option<Cache>, BuildError> {
    if !embedder.worth_caching() {
        return Ok(None);
    }
    let folder = index.join("cache");
    Cache::open(&folder, &embedder.fingerprint(), embedder.dimension())
        .map(Some)
        .map_err(crate::store::files::write_error(&folder))
}
