//! Folders for copies of jobs, removed when they are dropped. Folders of killed processes are removed at the next start.
//!
//! A process keeps a lock on a file in its folder; a folder without a held lock belongs to no process.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

const PREFIX: &str = "scopeagent-";
const LOCK: &str = "lock";

#[derive(Debug)]
pub(super) struct Temporary {
    parent: PathBuf,
    /// Made when it is first needed.
    own: Mutex<Option<Arc<Own>>>,
}

#[derive(Debug)]
struct Own {
    folder: tempfile::TempDir,
    _lock: File,
}

/// A folder for one job.
#[derive(Debug)]
pub(super) struct Folder {
    folder: tempfile::TempDir,
    _in: Arc<Own>,
}

impl Folder {
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Temporary {
    pub(super) fn below(parent: &Path) -> Temporary {
        Temporary {
            parent: parent.to_owned(),
            own: Mutex::default(),
        }
    }

    /// A new empty folder.
    pub(super) fn folder(&self) -> Result<Folder> {
        let failed = |source| Error::File {
            path: self.parent.clone(),
            source,
        };
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let own = match &*own {
            Some(own) => own,
            None => own.insert(Arc::new(self.start().map_err(failed)?)),
        };
        let folder = tempfile::Builder::new()
            .prefix("job-")
            .tempdir_in(own.folder.path());
        Ok(Folder {
            folder: folder.map_err(failed)?,
            _in: Arc::clone(own),
        })
    }

    fn start(&self) -> std::io::Result<Own> {
        sweep(&self.parent);
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(&self.parent)?;
        // Locked before the folder gets its name, so other processes don't remove it as a leftover.
        let unnamed = folder.path().join("new");
        let lock = File::create(&unnamed)?;
        lock.lock()?;
        fs::rename(unnamed, folder.path().join(LOCK))?;
        Ok(Own {
            folder,
            _lock: lock,
        })
    }
}

/// Removes the folders of processes that are gone.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let lock = File::open(entry.path().join(LOCK));
        if is_ours && is_folder && lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // one that cannot be removed is left to its owner
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_behind_is_removed_and_nothing_else() {
        let here = tempfile::tempdir().expect("folder");
        let left = here.path().join("scopeagent-left");
        fs::create_dir(&left).expect("made");
        fs::write(left.join(LOCK), "").expect("written");
        let foreign = here.path().join("scopeagent-foreign");
        fs::create_dir(&foreign).expect("made");
        let other = Temporary::below(here.path());
        let used = other.folder().expect("a folder");
        let mine = Temporary::below(here.path());
        let folder = mine.folder().expect("a folder");
        assert!(!left.exists());
        assert!(foreign.exists() && used.path().exists() && folder.path().exists());
        drop((folder, mine, used, other));
        assert_eq!(fs::read_dir(here.path()).expect("a folder").count(), 1);
    }
}
