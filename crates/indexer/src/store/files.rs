//! Durable writes: under a new name, synced, renamed. The files of a commit are synced together.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::BuildError;

/// For `map_err`.
pub(crate) fn write_error(path: &Path) -> impl Fn(io::Error) -> BuildError + '_ {
    move |source| BuildError::Write {
        path: path.to_owned(),
        source,
    }
}

/// For `map_err`.
pub(crate) fn read_error(path: &Path) -> impl Fn(io::Error) -> BuildError + '_ {
    move |source| BuildError::Read {
        path: path.to_owned(),
        source,
    }
}

/// Files synced in parallel; a batch costs little more than one file.
const SYNCED_AT_ONCE: usize = 16;

/// Waits until all of these files are on disk.
pub(crate) fn sync_all(paths: &[PathBuf]) -> io::Result<()> {
    for batch in paths.chunks(SYNCED_AT_ONCE) {
        std::thread::scope(|scope| {
            let waits = batch.iter().map(|path| scope.spawn(|| sync(path)));
            let waits: Vec<_> = waits.collect();
            let failed = |_| Err(io::Error::other("a thread that synced a file failed"));
            let ends = waits.into_iter().map(|wait| wait.join());
            let mut ends = ends.map(|end| end.unwrap_or_else(failed));
            ends.try_for_each(|end| end)
        })?;
    }
    Ok(())
}

fn sync(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.sync_data()
}

/// Opens a file of the index. A link, or something that would block like a pipe, is refused.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Reads a file of the index, as [`open_regular`] opens it.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces a file atomically: readers see the old content or the new, never a part.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, bytes)?;
    sync(&beside)?;
    fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Waits until the names in `folder` are on disk, on systems that can open folders.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(file) => file.sync_all(),
        Err(_) if cfg!(not(unix)) => Ok(()),
        Err(error) => Err(error),
    }
}

pub(crate) fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => folder_bytes(&entry.path()),
        Ok(_) => entry.metadata().map_or(0, |meta| meta.len()),
        Err(_) => 0,
    });
    bytes.sum()
}
