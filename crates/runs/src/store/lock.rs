//! Lock files: one per run in progress, and one for opening the store. The system releases the locks of a killed process.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Held while the store is opened.
pub(super) const GATE: &str = "open.lock";

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How often a lock file is created again that another process took for an orphan.
const ATTEMPTS: usize = 20;

/// A run in progress. If it is dropped unfinished, the run is later marked `interrupted`.
#[derive(Debug)]
pub struct OpenRun {
    pub run_id: String,
    lock: File,
    lock_path: PathBuf,
}

impl OpenRun {
    /// A file is locked before it gets its name, so that other processes don't remove it as an
    /// orphan.
    pub(super) fn begin(locks: &Path, run_id: &str) -> io::Result<OpenRun> {
        let (new, lock_path) = (locks.join(format!("{run_id}.new")), path(locks, run_id));
        for _ in 0..ATTEMPTS {
            let lock = File::create(&new)?;
            lock.lock()?;
            match fs::rename(&new, &lock_path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => {
                    let run_id = run_id.to_owned();
                    return renamed.map(|()| OpenRun {
                        run_id,
                        lock,
                        lock_path,
                    });
                }
            }
        }
        Err(io::Error::other("another process removes its lock"))
    }

    pub(super) fn close(self) {
        drop(self.lock);
        // If the removal fails, the file is removed later as an orphan.
        let _ = fs::remove_file(&self.lock_path);
    }
}

/// The lock file of a run.
pub(super) fn path(locks: &Path, run_id: &str) -> PathBuf {
    locks.join(format!("{run_id}.lock"))
}

/// Creates and locks a file; waits no longer than `patience`.
pub(super) fn hold(path: &Path, patience: Duration) -> io::Result<File> {
    let file = File::create(path)?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                std::thread::sleep(POLL_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => {
                let error = "another process holds its lock";
                return Err(io::Error::new(io::ErrorKind::WouldBlock, error));
            }
        }
    }
}

/// Whether a process holds the lock of a run.
pub(super) fn is_held(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// Removes the lock files of killed processes.
pub(super) fn remove_orphans(locks: &Path) {
    for entry in fs::read_dir(locks).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|name| name != GATE) && !is_held(&path) {
            // Another process may have removed it, or be about to.
            let _ = fs::remove_file(&path);
        }
    }
}
