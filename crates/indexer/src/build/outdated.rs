//! Whether an index is older than its documents, at little more than the cost of listing them.

use std::fs;
use std::path::Path;

use super::plan;
use super::read::{Listing, untouched_since};
use crate::error::{BuildError, OpenError};
use crate::store::generation;

/// The number of documents that were added, changed or removed since `index` was built from `knowledge`. Texts are compared only if something
/// has been touched since.
pub fn outdated(knowledge: &Path, index: &Path) -> Result<usize, BuildError> {
    let missing = || OpenError::Missing {
        path: index.to_owned(),
    };
    let manifest = generation::manifest(index).ok_or_else(missing)?;
    let written = fs::metadata(index.join(&manifest.documents_file)).and_then(|m| m.modified());
    // Where times are unknown, only the texts can tell.
    if let Ok(written) = written
        && untouched_since(knowledge, written)? == Some(manifest.documents)
    {
        return Ok(0);
    }
    let mut listing = Listing::of(knowledge)?;
    let documents = generation::documents(index, &manifest)?;
    let mut hashes = listing.hashes(Some(&documents))?;
    let (_, written) = plan::changes(&listing.sources, &hashes, &documents);
    listing.load(&written, &mut hashes)?;
    // an update leaves broken documents and unfinished cases out
    super::skip_broken(&mut listing, &mut hashes, &written)?;
    let (changes, _) = plan::changes(&listing.sources, &hashes, &documents);
    Ok(changes.added.len() + changes.changed.len() + changes.removed.len() + changes.moved.len())
}
