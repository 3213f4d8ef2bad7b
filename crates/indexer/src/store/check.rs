//! Checksums of the files of a commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rayon::prelude::*;
use tantivy::Index;
use tantivy::directory::error::OpenReadError;
use tantivy::index::SegmentId;

use super::files;
use super::manifest::Manifest;
use super::stamp::State;
use super::vectors::Vectors;
use crate::error::{OpenError, damaged};
use crate::guard::guarded;

/// Size of an index up to which an opening compares the checksums of files that have changed, which takes milliseconds; `index verify`
/// compares all checksums of any index.
const CHECKED: u64 = 64 << 20;

/// States of the files with right checksums, a cache: a file is compared again only after a change.
const NOTE: &str = "CHECKED";

/// Compares the checksums of a small index, unless its files are as they were when they were right.
pub(crate) fn check(
    folder: &Path,
    index: &Index,
    manifest: &Manifest,
    vectors: &Vectors,
) -> Result<(), OpenError> {
    let now = SystemTime::now();
    let (mut states, mut bytes, mut are_settled) = (String::new(), 0, true);
    for name in names(folder, index).iter().chain([&manifest.vectors]) {
        let about = fs::symlink_metadata(folder.join(name)).ok();
        let state = about.as_ref().and_then(State::of);
        bytes += about.map_or(0, |about| about.len());
        // Later changes of the file show.
        are_settled &= state.is_some_and(|state| state.is_settled(now));
        states += &format!("{name} {state:?}\n");
    }
    let note = folder.join(NOTE);
    let is_noted = || files::read_text(&note).is_ok_and(|known| known == states);
    if bytes > CHECKED || are_settled && is_noted() {
        return Ok(());
    }
    if let Some((path, reason)) = unsound(folder, index, manifest, vectors).into_iter().next() {
        return Err(damaged(&path, reason));
    }
    if are_settled {
        // Without the note the checksums are compared again.
        let _ = fs::write(note, states);
    }
    Ok(())
}

/// Names of tantivy's files, sorted.
fn names(folder: &Path, index: &Index) -> Vec<String> {
    let ids = index.searchable_segment_ids().unwrap_or_default();
    let ids: Vec<String> = ids.iter().map(SegmentId::uuid_string).collect();
    let is_used = |name: &String| ids.iter().any(|id| name.starts_with(id));
    let names = files::names(folder).unwrap_or_default().into_iter();
    let mut names: Vec<String> = names.map(|(name, _)| name).filter(is_used).collect();
    names.sort_unstable();
    names
}

/// Files of this commit that are not as they were written, with the reason.
pub(crate) fn unsound(
    folder: &Path,
    index: &Index,
    manifest: &Manifest,
    vectors: &Vectors,
) -> Vec<(PathBuf, String)> {
    let reason = |name: &String| {
        let check = || match index.directory().validate_checksum(Path::new(name)) {
            // A commit after this one may have removed the file, which this reader has open.
            Ok(true) | Err(OpenReadError::FileDoesNotExist(_)) => Ok(()),
            Ok(false) => Err("its checksum is wrong".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let reason = guarded(check, |reason| reason).err()?;
        Some((folder.join(name), reason))
    };
    let names = names(folder, index);
    let mut out: Vec<_> = names.par_iter().filter_map(reason).collect();
    let rows = (0..manifest.rows).into_par_iter();
    if let Some(row) = rows.find_any(|&row| !vectors.is_whole(row)) {
        let reason = format!("the checksum of row {row} is wrong");
        out.push((folder.join(&manifest.vectors), reason));
    }
    out
}
