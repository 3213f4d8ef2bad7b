//! Durable writes: under a new name, synced, renamed. The files of a commit are synced together. And reads of files that other programs may
//! write.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

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

/// Waits until all of these files are on disk.
pub(crate) fn sync_all(paths: &[PathBuf]) -> io::Result<()> {
    paths.par_iter().try_for_each(|path| sync(path))
}

fn sync(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.sync_data()
}

/// Opens a file that another program may have replaced. A link, or something that would block like a pipe, is refused.
/// Returns its size as well.
pub(crate) fn open_regular(path: &Path) -> io::Result<(File, u64)> {
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
    let about = file.metadata()?;
    match about.is_file() {
        true => Ok((file, about.len())),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Bytes of a file, at most: a playbook has a few kilobytes, a collection of judgments a megabyte.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a file as [`open_regular`] opens it, in as few system calls as possible: with thousands of documents they take most of an update's
/// time.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (file, size) = open_regular(path)?;
    if size > MAX_BYTES {
        let reason = format!("it has {size} bytes; at most {MAX_BYTES} are read");
        return Err(io::Error::other(reason));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    // The limit saves the call that would only find the end.
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As [`read`], for UTF-8.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::other("it is not UTF-8"))
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

/// Files, links and pipes of a folder, and whether each is a regular file.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<(String, bool)>> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if !kind.is_dir() {
            let name = entry.file_name().to_string_lossy().into_owned();
            out.push((name, kind.is_file()));
        }
    }
    Ok(out)
}
