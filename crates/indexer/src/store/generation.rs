//! Generations: the current one, its readers, the writer of the next one, and the removal of old ones.
//!
//! A reader holds a shared lock on `READERS` of its generation, the collector an exclusive one. The system releases
//! locks when a process ends, so a killed process blocks no other. On file systems without locks, old generations
//! are never collected.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::check::{check_files, check_manifest};
use super::files::{self, write_error};
use super::lexical::Lexical;
use super::manifest::{BM25, DOCUMENTS, Documents, MANIFEST, Manifest, QUESTIONS, check_format};
use super::questions::Questions;
use super::{GRAPHS, graph};
use crate::error::{BuildError, OpenError, damaged};
use crate::guard::guarded;

const CURRENT: &str = "CURRENT";
const LOCK: &str = "LOCK";
pub(crate) const READERS: &str = "READERS";
const PREFIX: &str = "gen-";

/// How often a reader tries again when the generation that it was about to open has been collected.
const OPEN_ATTEMPTS: usize = 100;
const OPEN_PAUSE: Duration = Duration::from_millis(2);

/// The current generation, protected from the collector as long as this lives.
pub(crate) struct Held {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    _readers: Option<File>,
}

impl Held {
    /// Checks the files, which must be done before any other than a small JSON file is opened.
    pub(crate) fn check(&self) -> Result<(), OpenError> {
        check_files(&self.folder, &self.manifest)
    }

    pub(crate) fn lexical(&self) -> Result<Lexical, OpenError> {
        let path = self.folder.join(BM25);
        let open = || Lexical::open(&path).map_err(|error| damaged(&path, error));
        guarded(open, |reason| damaged(&path, reason))
    }

    /// `None` if no document has questions.
    pub(crate) fn questions(&self) -> Result<Option<Questions>, OpenError> {
        if !self.manifest.has_questions() {
            return Ok(None);
        }
        let path = self.folder.join(QUESTIONS);
        let open = || Questions::open(&path).map_err(|error| damaged(&path, error));
        guarded(open, |reason| damaged(&path, reason)).map(Some)
    }
}

/// `None` if there is no index.
pub(crate) fn current_name(index: &Path) -> Option<String> {
    let name = String::from_utf8(files::read_regular(&index.join(CURRENT)).ok()?).ok()?;
    let name = name.trim();
    let is_plain = name.starts_with(PREFIX) && !name.contains(['/', '\\']) && !name.contains("..");
    is_plain.then(|| name.to_owned())
}

/// Opens the current generation.
pub(crate) fn hold(index: &Path) -> Result<Held, OpenError> {
    let mut last = None;
    for _ in 0..OPEN_ATTEMPTS {
        let pointer = index.join(CURRENT);
        let Some(name) = current_name(index) else {
            let path = index.to_owned();
            return Err(match pointer.exists() {
                true => damaged(&pointer, "it does not name a generation"),
                false => OpenError::Missing { path },
            });
        };
        match hold_named(index, &name) {
            Ok(held) => return Ok(held),
            Err(error) => {
                // The same name twice in a row: the generation is damaged, not collected.
                let again = last.as_ref() == Some(&name);
                if again && current_name(index).as_ref() == Some(&name) {
                    return Err(error);
                }
                last = Some(name);
                std::thread::sleep(OPEN_PAUSE);
            }
        }
    }
    let reason = "the generation was replaced faster than it could be opened";
    Err(damaged(&index.join(CURRENT), reason))
}

fn hold_named(index: &Path, name: &str) -> Result<Held, OpenError> {
    let folder = index.join(name);
    let readers = files::open_regular(&folder.join(READERS)).ok();
    if let Some(file) = &readers
        && let Err(TryLockError::WouldBlock) = file.try_lock_shared()
    {
        return Err(damaged(&folder, "it is being collected"));
    }
    let path = folder.join(MANIFEST);
    let raw: Value = read_json(&path)?;
    if let Some(format) = raw["format"].as_u64() {
        check_format(format)?;
    }
    let manifest = serde_json::from_value(raw).map_err(|error| damaged(&path, error))?;
    check_manifest(&manifest, name).map_err(|reason| damaged(&path, reason))?;
    Ok(Held {
        manifest,
        folder,
        _readers: readers,
    })
}

pub(crate) fn documents(folder: &Path) -> Result<Documents, OpenError> {
    read_json(&folder.join(DOCUMENTS))
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, OpenError> {
    let bytes = files::read_regular(path).map_err(|error| damaged(path, error))?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(path, error))
}

/// The right to write the index, until dropped or until the process ends.
pub(crate) struct Writer {
    index: PathBuf,
    lock: File,
}

/// Unlocked by name: a process that another thread is just starting has a copy of the file, and closing ours would leave the lock to it.
impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl Writer {
    /// Creates the folder if necessary.
    pub(crate) fn lock(index: &Path) -> Result<Writer, BuildError> {
        fs::create_dir_all(index).map_err(write_error(index))?;
        let path = index.join(LOCK);
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(write_error(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let (path, mut owner) = (index.to_owned(), String::new());
                let _ = lock.read_to_string(&mut owner);
                let owner = match owner.trim() {
                    "" => "another process".to_owned(),
                    owner => owner.to_owned(),
                };
                return Err(BuildError::Locked { path, owner });
            }
            Err(TryLockError::Error(source)) => return Err(write_error(&path)(source)),
        }
        note_owner(&mut lock).map_err(write_error(&path))?;
        Ok(Writer {
            index: index.to_owned(),
            lock,
        })
    }

    /// An empty folder for the next generation, numbered after `previous`.
    pub(crate) fn new_generation(
        &self,
        previous: Option<&str>,
    ) -> Result<(String, PathBuf), BuildError> {
        let number = previous.map_or(0, generation_number) + 1;
        // A killed writer may have left a folder with this number.
        for attempt in 0_u32.. {
            let name = format!("{PREFIX}{number:08}-{:08x}", unique() ^ attempt);
            let folder = self.index.join(&name);
            match fs::create_dir(&folder) {
                Ok(()) => {
                    let readers = folder.join(READERS);
                    File::create(&readers).map_err(write_error(&readers))?;
                    return Ok((name, folder));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(write_error(&folder)(error)),
            }
        }
        unreachable!("four billion names are taken")
    }

    /// Atomically makes `name` the current generation.
    pub(crate) fn publish(&self, name: &str) -> Result<(), BuildError> {
        files::sync_folder(&self.index).map_err(write_error(&self.index))?;
        let path = self.index.join(CURRENT);
        files::replace(&path, format!("{name}\n").as_bytes()).map_err(write_error(&path))
    }

    /// Removes generations that are neither current nor being read. A failed removal is tried again next time.
    pub(crate) fn collect(&self) {
        let current = current_name(&self.index);
        let Ok(entries) = fs::read_dir(&self.index) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().into_string().unwrap_or_default();
            if name.starts_with(PREFIX) && Some(&name) != current.as_ref() {
                remove_unread(&entry.path());
            }
        }
        let graphs = self.index.join(GRAPHS);
        if let (true, Ok(held)) = (graphs.is_dir(), hold(&self.index)) {
            graph::collect(&graphs, &held.manifest);
        }
    }
}

fn remove_unread(folder: &Path) {
    let readers = folder.join(READERS);
    match OpenOptions::new().read(true).write(true).open(&readers) {
        Ok(file) if file.try_lock().is_ok() => {
            // The manifest first: the remains of a killed process then cannot pass for a generation.
            let _ = fs::remove_file(folder.join(MANIFEST));
            let _ = fs::remove_dir_all(folder);
        }
        // A process was killed before it created the lock file, or after it removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let _ = fs::remove_dir_all(folder);
        }
        _ => {}
    }
}

fn generation_number(name: &str) -> u64 {
    let digits = name.trim_start_matches(PREFIX).split('-').next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn note_owner(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    let (process, seconds) = (std::process::id(), since_1970().as_secs());
    let since = format!("since {seconds} seconds after 1970");
    write!(lock, "process {process} ({since})")
}

fn since_1970() -> Duration {
    UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// Differs between processes and moments; need not be random.
fn unique() -> u32 {
    since_1970().subsec_nanos() ^ std::process::id().rotate_left(16)
}
