//! Whether an index is older than its documents, at little more than the cost of listing them.

use std::path::Path;

use super::plan;
use super::read::{Listing, untouched_since};
use crate::document::is_unfinished;
use crate::error::{BuildError, OpenError};
use crate::store::generation;

/// The number of documents that were added, changed or removed since `index` was built from `knowledge`. Texts are compared only if something
/// has been touched since.
///
/// # Errors
/// When the documents or the index cannot be read.
pub fn outdated(knowledge: &Path, index: &Path) -> Result<usize, BuildError> {
    let missing = || OpenError::Missing {
        path: index.to_owned(),
    };
    let manifest = generation::manifest(index).ok_or_else(missing)?;
    if untouched_since(knowledge, manifest.listed)? == Some(manifest.documents) {
        return Ok(0);
    }
    let mut listing = Listing::of(knowledge)?;
    let known = generation::hold(index, false)?.documents()?;
    listing.read(Some(&known), false)?;
    let (changes, written) = plan::changes(&listing.documents, &known);
    let is_left_out = |at: &&usize| {
        let source = &listing.documents[**at].source;
        !known.contains_key(&source.path) && is_unfinished(source)
    };
    let left_out = written.iter().filter(is_left_out).count();
    let all = [&changes.added, &changes.changed, &changes.removed];
    Ok(all.map(Vec::len).iter().sum::<usize>() + changes.moved.len() - left_out)
}
