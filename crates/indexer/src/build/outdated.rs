//! Whether an index is older than its documents, at little more than the cost of listing them.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::plan;
use super::read::Listing;
use crate::error::BuildError;
use crate::store::generation;

/// The number of documents that were added, changed or removed since `index` was built from `knowledge`. Texts are compared only if something
/// has been touched since.
///
/// # Errors
/// When the documents or the index cannot be read.
pub fn outdated(knowledge: &Path, index: &Path) -> Result<usize, BuildError> {
    let held = generation::hold(index, false)?;
    let written =
        fs::metadata(held.folder.join(held.manifest.documents_file())).and_then(|m| m.modified());
    let listing = Listing::of(knowledge)?;
    let is_touched = |written: SystemTime| listing.touched_since(knowledge, written);
    // Where times are unknown, only the texts can tell.
    if !written.map_or(true, is_touched) && listing.sources.len() == held.manifest.documents {
        return Ok(0);
    }
    let documents = held.documents()?;
    let hashes = listing.hashes(Some(&documents))?;
    let changes = plan::changes(&listing.sources, &hashes, &documents);
    Ok(changes.added.len() + changes.changed.len() + changes.removed.len() + changes.moved.len())
}
