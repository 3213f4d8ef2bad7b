//! From knowledge to a new generation of the index.

use std::path::Path;

use serde::Serialize;

use crate::error::BuildError;
use crate::settings::Settings;

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
    let _ = (knowledge, settings, progress);
    Err(not_yet(index))
}

/// As [`update`], with documents held in memory: pairs of relative path and text.
///
/// # Errors
/// See [`BuildError`].
pub fn update_from(
    documents: impl IntoIterator<Item = (String, String)>,
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, BuildError> {
    let _ = (documents.into_iter().count(), settings, progress);
    Err(not_yet(index))
}

fn not_yet(index: &Path) -> BuildError {
    BuildError::Verify {
        reason: format!("{} cannot be built yet", index.display()),
    }
}
