//! Generations: which one is current, who reads it, who writes the next, and when old ones go.
//!
//! A reader holds a shared lock on `READERS` of its generation, the collector takes it exclusively; the system drops
//! locks with the process, so that a killed one blocks nobody. File systems without locks never lose a generation:
//! what cannot be locked is not collected.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::files::{self, write_error};
use super::manifest::{Documents, Manifest};
use crate::error::{BuildError, OpenError};

const CURRENT: &str = "CURRENT";
const LOCK: &str = "LOCK";
const READERS: &str = "READERS";
const PREFIX: &str = "gen-";
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const DOCUMENTS: &str = "documents.json";
pub(crate) const GLOSSARY: &str = "glossary.json";
/// Folder of the lexical store in a generation.
pub(crate) const BM25: &str = "bm25";

/// How often a reader looks again when the generation that it was about to open is collected under its hands.
const OPEN_ATTEMPTS: usize = 100;
const OPEN_PAUSE: Duration = Duration::from_millis(2);

/// The current generation, kept from the collector as long as this lives.
pub(crate) struct Held {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    _readers: Option<File>,
}

/// Name of the current generation; `None` if there is no index.
pub(crate) fn current_name(index: &Path) -> Option<String> {
    let name = fs::read_to_string(index.join(CURRENT)).ok()?;
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
            return Err(if pointer.exists() {
                damaged(&pointer, "it does not name a generation")
            } else {
                OpenError::Missing {
                    path: index.to_owned(),
                }
            });
        };
        match hold_named(index, &name) {
            Ok(held) => return Ok(held),
            Err(error) => {
                // The same name twice in a row was not replaced meanwhile: it is damaged, not collected.
                let again = last.as_ref() == Some(&name);
                if again && current_name(index).as_ref() == Some(&name) {
                    return Err(error);
                }
                last = Some(name);
                std::thread::sleep(OPEN_PAUSE);
            }
        }
    }
    Err(damaged(
        &index.join(CURRENT),
        "the generation was replaced faster than it could be opened",
    ))
}

fn hold_named(index: &Path, name: &str) -> Result<Held, OpenError> {
    let folder = index.join(name);
    let readers = File::open(folder.join(READERS)).ok();
    if let Some(file) = &readers
        && let Err(TryLockError::WouldBlock) = file.try_lock_shared()
    {
        return Err(damaged(&folder, "it is being collected"));
    }
    let path = folder.join(MANIFEST);
    let bytes = fs::read(&path).map_err(|error| damaged(&path, &error.to_string()))?;
    let manifest = serde_json::from_slice(&bytes).map_err(|error| {
        // Another format need not parse; its version tells.
        match format_of(&bytes) {
            Some(found) if found != super::FORMAT => OpenError::Mismatch(crate::error::Mismatch {
                what: "format",
                found: found.to_string(),
                expected: super::FORMAT.to_string(),
                remedy: "--full",
            }),
            _ => damaged(&path, &error.to_string()),
        }
    })?;
    Ok(Held {
        folder,
        manifest,
        _readers: readers,
    })
}

fn format_of(manifest: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(manifest).ok()?;
    u32::try_from(value.get("format")?.as_u64()?).ok()
}

pub(crate) fn damaged(path: &Path, reason: &str) -> OpenError {
    OpenError::Damaged {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Documents of a generation.
pub(crate) fn documents(folder: &Path) -> Result<Documents, OpenError> {
    let path = folder.join(DOCUMENTS);
    let bytes = fs::read(&path).map_err(|error| damaged(&path, &error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(&path, &error.to_string()))
}

/// The right to write the index; ends when dropped, or with the process.
pub(crate) struct Writer {
    index: PathBuf,
    _lock: File,
}

impl Writer {
    /// Takes the right to write, making the folder if need be.
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
                let mut owner = String::new();
                let _ = lock.read_to_string(&mut owner);
                return Err(BuildError::Locked {
                    path: index.to_owned(),
                    owner: match owner.trim() {
                        "" => "another process".to_owned(),
                        owner => owner.to_owned(),
                    },
                });
            }
            Err(TryLockError::Error(source)) => return Err(write_error(&path)(source)),
        }
        note_owner(&mut lock).map_err(write_error(&path))?;
        Ok(Writer {
            index: index.to_owned(),
            _lock: lock,
        })
    }

    /// An empty folder for the next generation, numbered after `previous`.
    pub(crate) fn new_generation(
        &self,
        previous: Option<&str>,
    ) -> Result<(String, PathBuf), BuildError> {
        let number = previous.map_or(0, generation_number) + 1;
        // A generation that a kill left half-built may have the number; names are never used twice.
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

    /// Makes `name` the current generation, at one moment.
    pub(crate) fn publish(&self, name: &str) -> Result<(), BuildError> {
        files::sync_folder(&self.index).map_err(write_error(&self.index))?;
        let path = self.index.join(CURRENT);
        files::replace(&path, format!("{name}\n").as_bytes()).map_err(write_error(&path))
    }

    /// Removes generations that are neither current nor read. What cannot be removed is tried again next time.
    pub(crate) fn collect(&self) {
        let current = current_name(&self.index);
        let Ok(entries) = fs::read_dir(&self.index) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
                continue;
            };
            if Some(name) != current.as_deref() {
                remove_unread(&entry.path());
            }
        }
    }
}

fn remove_unread(folder: &Path) {
    let readers = folder.join(READERS);
    match OpenOptions::new().read(true).write(true).open(&readers) {
        Ok(file) => {
            if file.try_lock().is_ok() {
                // The manifest goes first: what a kill leaves behind cannot be taken for a generation.
                let _ = fs::remove_file(folder.join(MANIFEST));
                let _ = fs::remove_dir_all(folder);
            }
        }
        // A folder that a kill left before its lock file was made, or after it was removed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let _ = fs::remove_dir_all(folder);
        }
        Err(_) => {}
    }
}

fn generation_number(name: &str) -> u64 {
    let digits = name.trim_start_matches(PREFIX).split('-').next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn note_owner(lock: &mut File) -> io::Result<()> {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    lock.set_len(0)?;
    lock.rewind()?;
    write!(
        lock,
        "process {} (since {seconds} seconds after 1970)",
        std::process::id()
    )
}

/// Differs between processes and between moments; need not be random.
fn unique() -> u32 {
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    nanos ^ std::process::id().rotate_left(16)
}
