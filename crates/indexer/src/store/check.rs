//! Checks that the files of a generation are as their writer closed them, before anything is mapped or handed to a library: both
//! trust the content of a file.

use std::path::{Component, Path};

use rayon::prelude::*;

use super::files;
use super::manifest::{BM25, DOCUMENTS, FileSum, GLOSSARY, Manifest, Segment, meta};
use super::stamp::{self, Note, State};
use crate::error::{OpenError, damaged};

/// Size of a generation up to which its checksums are compared too, which takes some ten milliseconds. In a larger one only the sizes
/// are; `index verify` compares the checksums of any.
const HASHED: u64 = 64 << 20;

/// Checks a manifest. No checksum covers it.
pub(crate) fn check_manifest(manifest: &Manifest, name: &str) -> Result<(), String> {
    if manifest.generation != name {
        return Err(format!("it is of the generation `{}`", manifest.generation));
    }
    let mut live = 0;
    for segment in &manifest.segments {
        if !is_consistent(segment) {
            return Err(format!("the rows of segment {} are wrong", segment.seq));
        }
        live += segment.live_rows();
    }
    let (chunks, listed) = (manifest.chunks, &manifest.files);
    if live != chunks {
        return Err(format!("{chunks} chunks, but {live} rows in segments"));
    }
    let files = manifest.segments.iter().flat_map(Segment::files);
    let fixed = [DOCUMENTS, GLOSSARY, &meta(BM25)].map(str::to_owned);
    match files.chain(fixed).find(|file| !listed.contains_key(file)) {
        Some(file) => Err(format!("`{file}` is not listed")),
        None => Ok(()),
    }
}

/// Dead rows are ascending ranges within the segment.
fn is_consistent(segment: &Segment) -> bool {
    let mut end = 0;
    let mut ranges = segment.dead.iter();
    let in_order = ranges.all(|&(first, count)| {
        let is_next = first >= end;
        end = first.saturating_add(count);
        is_next && end <= segment.rows
    });
    in_order && u32::try_from(segment.rows).is_ok()
}

/// Checks every file of the manifest. A file with a verified checksum and an unchanged state is not read again.
pub(crate) fn check_files(folder: &Path, manifest: &Manifest) -> Result<(), OpenError> {
    let states = check_states(folder, manifest)?;
    let sizes = manifest.files.values().map(|sum| sum.bytes);
    if sizes.fold(0, u64::saturating_add) > HASHED {
        return Ok(());
    }
    let noted = stamp::noted(folder);
    let is_noted = |name: &String| {
        let state = states.get(name);
        state.is_some_and(|state| noted.get(name) == Some(state))
    };
    let files = manifest.files.iter();
    let unknown: Vec<_> = files.filter(|(name, _)| !is_noted(name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    unknown.into_par_iter().try_for_each(|(name, sum)| {
        let path = folder.join(name);
        check_content(&path, sum).map_err(|reason| damaged(&path, reason))
    })?;
    stamp::write(folder, states);
    Ok(())
}

/// The states of the files, if they have the names and sizes of the manifest.
fn check_states(folder: &Path, manifest: &Manifest) -> Result<Note, OpenError> {
    let mut states = Note::new();
    for (name, sum) in &manifest.files {
        let path = folder.join(name);
        let state = check_state(&path, name, sum).map_err(|reason| damaged(&path, reason))?;
        states.extend(state.map(|state| (name.clone(), state)));
    }
    Ok(states)
}

fn check_state(path: &Path, name: &str, sum: &FileSum) -> Result<Option<State>, String> {
    let mut parts = Path::new(name).components();
    if !parts.all(|part| matches!(part, Component::Normal(_))) {
        return Err("its name leaves the folder".to_owned());
    }
    let state = files::regular(path).map_err(|error| error.to_string())?;
    match state.len() == sum.bytes {
        true => Ok(State::of(&state)),
        false => Err(format!(
            "it has {} bytes instead of {}",
            state.len(),
            sum.bytes
        )),
    }
}

fn check_content(path: &Path, sum: &FileSum) -> Result<(), String> {
    let file = files::open_regular(path).map_err(|error| error.to_string())?;
    let mut hasher = blake3::Hasher::new();
    hasher
        .update_reader(file)
        .map_err(|error| error.to_string())?;
    match *hasher.finalize().to_hex() == *sum.blake3 {
        true => Ok(()),
        false => Err("its checksum is wrong".to_owned()),
    }
}
