//! From knowledge to the next commit of the index: read, compare, chunk, embed, write.

mod embed;
mod outdated;
mod plan;
mod read;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

pub use outdated::outdated;
pub(crate) use read::{Listing, from_memory, sources};

use crate::chunk::{self, Contents};
use crate::document::{self, Problem, Source};
use crate::embed::{Embedder, load};
pub use crate::error::Skipped;
use crate::error::{BuildError, OpenError};
use crate::model::Chunk;
use crate::settings::{Rebuild, Settings};
pub use crate::store::generation::has_mark;
use crate::store::generation::{self, Held, Writer};
use crate::store::lexical;
use crate::store::manifest::Documents;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub added: Vec<String>,
    /// Text or front matter changed.
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    /// Old and new path of moved documents with unchanged text.
    pub moved: Vec<(String, String)>,
    pub unchanged: usize,
    /// Chunks in the index after the update.
    pub chunks: usize,
    pub embedded: usize,
    pub cached: usize,
    pub generation: String,
    pub rebuilt: bool,
    /// Broken documents, which are not in the index until they are fixed.
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Read,
    Chunk,
    Embed,
    Write,
    Verify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    pub done: usize,
    /// 0 if unknown.
    pub total: usize,
}

/// The document with the query expansions.
pub(crate) const GLOSSARY: &str = "glossary.toml";

fn start(progress: &mut dyn FnMut(Progress), phase: Phase, total: usize) {
    let done = 0;
    progress(Progress { phase, done, total });
}

/// Brings `index` up to date with the documents under `knowledge`.
pub fn update(
    knowledge: &Path,
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, BuildError> {
    start(progress, Phase::Read, 0);
    let listing = Listing::of(knowledge)?;
    update_with((listing, ""), &chunk::contents, index, settings, progress)
}

/// As [`update`], with documents in memory: pairs of path (relative to the knowledge folder) and text. The commit has `mark`, for [`has_mark`].
pub fn update_from(
    documents: impl IntoIterator<Item = (String, String)>,
    mark: &str,
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, BuildError> {
    start(progress, Phase::Read, 0);
    let sources = from_memory(documents);
    if sources.is_empty() {
        let path = Path::new("the given list").to_owned();
        return Err(BuildError::NoDocuments { path });
    }
    let listing = sources.into();
    update_with((listing, mark), &chunk::contents, index, settings, progress)
}

/// As [`update`], with documents of one chunk each.
pub fn update_chunks(
    chunks: impl IntoIterator<Item = Chunk>,
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, BuildError> {
    let chunks: BTreeMap<String, Chunk> = chunks
        .into_iter()
        .map(|c| (c.document.clone(), c))
        .collect();
    // The title is not in the text, but changes the chunk.
    let source =
        |chunk: &Chunk| Source::new(&chunk.document, format!("{}\n{}", chunk.title, chunk.text));
    let sources: Vec<Source> = chunks.values().map(source).collect();
    let cut = |source: &Source| Contents::from(Vec::from_iter(chunks.get(&source.path).cloned()));
    update_with((sources.into(), ""), &cut, index, settings, progress)
}

/// The changes of an update.
struct Job<'a> {
    writer: &'a Writer,
    listing: &'a Listing,
    mark: &'a str,
    cutter: Cutter<'a>,
    plan: plan::Plan,
    current: Option<(&'a Held, &'a Documents)>,
    embedder: &'a dyn Embedder,
    rebuild: Rebuild,
}

type Cutter<'a> = &'a (dyn Fn(&Source) -> Contents + Sync);

/// As [`update`], with documents already listed and another chunker.
fn update_with(
    (mut listing, mark): (Listing, &str),
    cutter: Cutter<'_>,
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, BuildError> {
    let writer = Writer::lock(index)?;
    let embedder = load(&settings.embedder)?;
    let current = current(index, settings.rebuild, &*embedder)?;
    let current = current.as_ref().map(|(held, documents)| (held, documents));
    let everything = settings.rebuild != Rebuild::Changed || current.is_none();
    listing.read(current.map(|(_, documents)| documents), everything)?;
    let stored = |(held, documents): (&Held, _)| {
        let stored = held.guarded(|| lexical::stored(&held.searcher))?;
        Ok::<_, OpenError>((documents, stored as usize))
    };
    let compared = current.map(stored).transpose()?;
    let mut plan = plan::plan(&listing.documents, compared, everything);
    let skipped = skip_broken(&mut listing, &plan.write)?;
    if !skipped.is_empty() {
        plan = plan::plan(&listing.documents, compared, everything);
    }
    if plan.whole {
        listing.read(None, true)?;
    }
    plan.summary.skipped = skipped;
    if let (true, Some((held, _))) = (plan.is_empty(), current)
        && (mark.is_empty() || held.manifest.mark == mark)
    {
        writer.collect(&held.manifest);
        return Ok(Summary {
            chunks: held.manifest.chunks,
            generation: held.manifest.generation.clone(),
            ..plan.summary
        });
    }
    let job = Job {
        writer: &writer,
        listing: &listing,
        mark,
        cutter,
        plan,
        current,
        embedder: &*embedder,
        rebuild: settings.rebuild,
    };
    let (manifest, summary) = write::run(job, progress)?;
    writer.collect(&manifest);
    Ok(summary)
}

/// Removes broken documents from the list of documents to write.
///
/// # Errors
/// If no document is left: typing mistakes never empty an index.
fn skip_broken(listing: &mut Listing, written: &[usize]) -> Result<Vec<Skipped>, BuildError> {
    let mut skipped = Vec::new();
    // From the end on, so that the other positions stay.
    for &at in written.iter().rev() {
        let source = &listing.documents[at].source;
        if let Some(Problem { line, reason }) = document::broken(source) {
            let document = listing.documents.remove(at).source.path;
            skipped.push(Skipped {
                document,
                line,
                reason,
            });
        }
    }
    skipped.reverse();
    match skipped.first() {
        Some(first) if listing.documents.is_empty() => Err(BuildError::Broken(first.clone())),
        _ => Ok(skipped),
    }
}

/// The index to start from; `None` to start from scratch.
fn current(
    index: &Path,
    rebuild: Rebuild,
    embedder: &dyn Embedder,
) -> Result<Option<(Held, Documents)>, BuildError> {
    let held = generation::hold(index, true);
    let held = held.and_then(|held| Ok((held.documents()?, held)));
    let (documents, held) = match held {
        Ok(held) => held,
        Err(OpenError::Missing { .. }) => return Ok(None),
        Err(_) if rebuild == Rebuild::Full => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match rebuild {
        Rebuild::Changed => held
            .manifest
            .check_code()
            .and_then(|()| held.manifest.check_embedder(&embedder.fingerprint())),
        // Known vectors are kept, so the model must be the same.
        Rebuild::Rechunk => held.manifest.check_embedder(&embedder.fingerprint()),
        Rebuild::Reembed => held.manifest.check_code(),
        Rebuild::Full => Ok(()),
    }?;
    Ok(Some((held, documents)))
}
