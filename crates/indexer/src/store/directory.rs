//! The folder of an index for tantivy: waits for the disk once per commit instead of once per file, and takes no locks. The writer
//! holds the lock of the index, and a reader opens again if a file was removed meanwhile.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

use super::files::{replace, sync_all, sync_folder};

/// Tantivy's list of its files. The folder itself is the list, so a killed writer leaves nothing behind that a later one misses.
const MANAGED: &str = ".managed.json";

#[derive(Debug, Clone)]
pub(crate) struct Folder {
    folder: PathBuf,
    inner: MmapDirectory,
    /// Files written since the last commit.
    written: Arc<Mutex<Vec<PathBuf>>>,
}

impl Folder {
    pub(crate) fn open(folder: &Path) -> tantivy::Result<Folder> {
        Ok(Folder {
            folder: folder.to_owned(),
            inner: MmapDirectory::open(folder)?,
            written: Arc::default(),
        })
    }
}

/// Whether tantivy wrote the file: its segments are named by 32 hexadecimal digits.
pub(crate) fn is_of_segment(name: &str) -> bool {
    let segment = name.split('.').next().unwrap_or_default();
    segment.len() == 32 && segment.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Directory for Folder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let target = self.folder.join(path);
        let file = File::create_new(&target).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.push(target);
        Ok(BufWriter::new(Box::new(Plain(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path != Path::new(MANAGED) {
            return self.inner.atomic_read(path);
        }
        let broken = |error| OpenReadError::wrap_io_error(error, path.to_owned());
        let entries = fs::read_dir(&self.folder).map_err(broken)?.flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let names: Vec<String> = names.filter(|name| is_of_segment(name)).collect();
        serde_json::to_vec(&names).map_err(|error| broken(error.into()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(MANAGED) {
            return Ok(());
        }
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that a merge replaced is gone already.
        written.retain(|file| file.exists());
        sync_all(&written)?;
        written.clear();
        sync_folder(&self.folder)?;
        replace(&self.folder.join(path), data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

/// A file that is closed without waiting for the disk.
struct Plain(File);

impl Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Plain {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}
