//! Opens the files of a job folder: never through a link, never waiting for a pipe or a device.
//!
//! What was listed may be something else by now, so a file is checked after it was opened, not before.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file for reading by its name in a folder: `profile`, `logs/profile`.
///
/// # Errors
/// If it cannot be opened, is a link or is reached through one, or is not a regular file.
pub(crate) fn open(folder: &Path, name: &str) -> io::Result<File> {
    let file = platform::open(folder, name)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;

    pub(super) fn open(folder: &Path, name: &str) -> io::Result<File> {
        let directory = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
        // the folder itself is the user's choice and may be a link
        let mut at = openat(CWD, folder, directory, Mode::empty())?;
        let (folders, file) = name.rsplit_once('/').unwrap_or(("", name));
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            at = openat(&at, part, directory | OFlags::NOFOLLOW, Mode::empty()).map_err(explain)?;
        }
        // a pipe without a writer would block, and a terminal become the process's own
        let flags =
            OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = openat(&at, file, flags, Mode::empty()).map_err(explain)?;
        Ok(File::from(file))
    }

    /// `O_NOFOLLOW` reports a link as "too many levels of symbolic links".
    fn explain(error: Errno) -> io::Error {
        match error {
            Errno::LOOP | Errno::MLINK => {
                io::Error::other("it has become a link, which is not followed")
            }
            other => other.into(),
        }
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
    use std::path::Path;

    /// Opens a link itself instead of what it points to.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x0000_0400;

    pub(super) fn open(folder: &Path, name: &str) -> io::Result<File> {
        let link = || io::Error::other("it has become a link, which is not followed");
        let mut path = folder.to_owned();
        for part in name.split('/') {
            path.push(part);
            if std::fs::symlink_metadata(&path)?.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT
                != 0
            {
                return Err(link());
            }
        }
        let flags = FILE_FLAG_OPEN_REPARSE_POINT;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(&path)?;
        match file.metadata()?.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT {
            0 => Ok(file),
            _ => Err(link()),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_pipes_and_folders_are_refused_without_waiting() {
        let root = tempfile::tempdir().expect("a folder");
        let job = root.path().join("job");
        fs::create_dir_all(job.join("logs")).expect("made");
        fs::write(root.path().join("secret"), "x").expect("written");
        fs::write(job.join("logs/profile"), "x").expect("written");
        symlink(root.path().join("secret"), job.join("link")).expect("a link");
        symlink(root.path(), job.join("out")).expect("a link");
        let pipe = job.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        assert!(open(&job, "logs/profile").is_ok());
        let linked = root.path().join("linked");
        symlink(&job, &linked).expect("a link");
        assert!(
            open(&linked, "logs/profile").is_ok(),
            "the folder itself may be a link"
        );
        for (name, reason) in [
            ("link", "link"),
            ("out/secret", ""),
            ("pipe", "regular"),
            ("logs", "regular"),
            ("none", ""),
        ] {
            let error = open(&job, name).expect_err(name).to_string();
            assert!(error.contains(reason), "{name}: {error}");
        }
    }
}
