//! Writing files so that they survive: written under a new name, synced, renamed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::error::BuildError;

/// A closure for `map_err` that names `path`.
pub(crate) fn write_error(path: &Path) -> impl Fn(io::Error) -> BuildError + '_ {
    move |source| BuildError::Write {
        path: path.to_owned(),
        source,
    }
}

/// A closure for `map_err` that names `path`.
pub(crate) fn read_error(path: &Path) -> impl Fn(io::Error) -> BuildError + '_ {
    move |source| BuildError::Read {
        path: path.to_owned(),
        source,
    }
}

/// Writes a new file and waits until it is on disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// Replaces `path` by `bytes` at one moment: readers see the old content or the new, never a part.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    write_synced(&beside, bytes)?;
    fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Waits until the names in `folder` are on disk. Systems that cannot open folders do without.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(file) => file.sync_all(),
        Err(_) if cfg!(not(unix)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives `from` a second name, or copies it where the file system has no hard links.
pub(crate) fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(_) => fs::copy(from, to).map(|_| ()),
    }
}

/// Bytes of all files below `folder`.
pub(crate) fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder_bytes(&entry.path()),
            Ok(_) => entry.metadata().map_or(0, |meta| meta.len()),
            Err(_) => 0,
        })
        .sum()
}
