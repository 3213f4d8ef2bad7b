//! Opens the files of a job folder: never through a link, never waiting for a pipe or a device.
//!
//! A listed file may have been replaced meanwhile, so a file is checked after it was opened, not before.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A folder that stays open while its files are opened.
#[derive(Debug)]
pub(crate) struct Folder(platform::Folder);

impl Folder {
    /// # Errors
    /// If there is no such folder, or it must not be read.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        platform::folder(path).map(Folder)
    }

    /// Opens a regular file for reading by its name in the folder: `profile`, `logs/profile`.
    ///
    /// # Errors
    /// If it cannot be opened, is a link or is reached through one, or is not a regular file.
    pub(crate) fn file(&self, name: &str) -> io::Result<RegularFile> {
        let file = platform::open(&self.0, name)?;
        let about = file.metadata()?;
        match about.is_file() {
            true => Ok(RegularFile {
                file,
                bytes: about.len(),
            }),
            false => Err(io::Error::other("it is not a regular file")),
        }
    }
}

/// A file as it was opened.
#[derive(Debug)]
pub(crate) struct RegularFile {
    pub(crate) file: File,
    pub(crate) bytes: u64,
}

impl RegularFile {
    /// The first bytes of the file, at most `most`.
    pub(crate) fn head(self, most: u64) -> io::Result<Vec<u8>> {
        // one byte more than the file, so that its end is reached without growing the buffer
        let expected = usize::try_from(self.bytes.min(most)).unwrap_or_default() + 1;
        let mut head = Vec::with_capacity(expected);
        self.file.take(most).read_to_end(&mut head)?;
        Ok(head)
    }
}

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::path::Path;

    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;

    pub(super) type Folder = OwnedFd;

    fn directory() -> OFlags {
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY
    }

    pub(super) fn folder(path: &Path) -> io::Result<Folder> {
        // the folder itself is the user's choice and may be a link
        Ok(openat(CWD, path, directory(), Mode::empty())?)
    }

    pub(super) fn open(folder: &Folder, name: &str) -> io::Result<File> {
        let (folders, file) = name.rsplit_once('/').unwrap_or(("", name));
        let mut below: Option<OwnedFd> = None;
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            let at = below.as_ref().unwrap_or(folder).as_fd();
            let opened = openat(at, part, directory() | OFlags::NOFOLLOW, Mode::empty());
            below = Some(opened.map_err(explain)?);
        }
        let at = below.as_ref().unwrap_or(folder).as_fd();
        // a pipe without a writer would block, and a terminal become the process's own
        let flags =
            OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = openat(at, file, flags, Mode::empty()).map_err(explain)?;
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
    use std::path::{Path, PathBuf};

    pub(super) type Folder = PathBuf;

    /// Opens a link itself instead of its target.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x0000_0400;

    pub(super) fn folder(path: &Path) -> io::Result<Folder> {
        std::fs::read_dir(path)?;
        Ok(path.to_owned())
    }

    pub(super) fn open(folder: &Folder, name: &str) -> io::Result<File> {
        let link = || io::Error::other("it has become a link, which is not followed");
        let mut path = folder.clone();
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
        let open = |folder: &Path, name: &str| Folder::open(folder)?.file(name);
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
            ("none/none", ""),
        ] {
            let error = open(&job, name).expect_err(name).to_string();
            assert!(error.contains(reason), "{name}: {error}");
        }
    }

    #[test]
    fn a_head_is_as_long_as_asked_for_or_as_the_file() {
        let root = tempfile::tempdir().expect("a folder");
        fs::write(root.path().join("f"), "12345").expect("written");
        let folder = Folder::open(root.path()).expect("a folder");
        for (most, expected) in [(0, ""), (3, "123"), (5, "12345"), (u64::MAX, "12345")] {
            let file = folder.file("f").expect("a file");
            assert_eq!(file.bytes, 5);
            assert_eq!(file.head(most).expect("read"), expected.as_bytes());
        }
    }
}
