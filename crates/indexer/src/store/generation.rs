//! Opening an index, and the right to write it.
//!
//! Tantivy's `meta.json` decides: a writer replaces it in one step when everything that it names is on disk. A reader keeps the files that
//! it has mapped; if a file is removed before it could be opened, the reader starts again with the new `meta.json`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::de::DeserializeOwned;
use tantivy::{Index, IndexReader, ReloadPolicy, Searcher};

use super::directory::{Folder, is_of_segment};
use super::entries::schema;
use super::files::{self, names, write_error};
use super::lexical;
use super::manifest::{Documents, Manifest, check_format};
use super::stamp::{State, since_1970};
use super::vectors::Vectors;
use super::{DOCUMENTS, GLOSSARY, GRAPHS, check, graph};
use crate::error::{BuildError, OpenError, damaged};
use crate::glossary::Glossary;
use crate::guard::guarded;

const META: &str = "meta.json";
const LOCK: &str = "LOCK";

/// Beginnings of the names in an index of an older format.
const OLDER: [&str; 6] = [
    "CURRENT",
    "cache",
    "gen-",
    "documents-",
    "glossary-",
    "SOURCE",
];

/// How often a reader tries again when a commit removed the files that it was about to open.
const OPEN_ATTEMPTS: usize = 100;
const OPEN_PAUSE: Duration = Duration::from_millis(2);

/// A commit, open for reading.
pub(crate) struct Held {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) vectors: Arc<Vectors>,
    pub(crate) searcher: Searcher,
}

impl Held {
    pub(crate) fn documents(&self) -> Result<Documents, OpenError> {
        self.list(DOCUMENTS)
    }

    pub(crate) fn glossary(&self) -> Result<Glossary, OpenError> {
        self.list(GLOSSARY)
    }

    /// Files that are not as they were written, with the reason.
    pub(crate) fn unsound(&self) -> Vec<(PathBuf, String)> {
        let index = self.searcher.index();
        check::unsound(&self.folder, index, &self.manifest, &self.vectors)
    }

    fn list<T: DeserializeOwned>(&self, name: &str) -> Result<T, OpenError> {
        self.guarded(|| lexical::list(&self.searcher, name))
    }

    /// Reads something that tantivy trusts.
    pub(crate) fn guarded<T>(
        &self,
        read: impl FnOnce() -> tantivy::Result<T>,
    ) -> Result<T, OpenError> {
        open_guarded(&self.folder, read)
    }
}

fn open_guarded<T>(
    place: &Path,
    read: impl FnOnce() -> tantivy::Result<T>,
) -> Result<T, OpenError> {
    let read = || read().map_err(|error| damaged(place, error));
    guarded(read, |reason| damaged(place, reason))
}

/// Changes with every commit and merge.
pub(crate) fn state(index: &Path) -> Option<State> {
    State::of(&fs::symlink_metadata(index.join(META)).ok()?)
}

/// The manifest of the last commit; `None` if there is no readable index.
pub(crate) fn manifest(index: &Path) -> Option<Manifest> {
    let meta = files::read(&index.join(META)).ok()?;
    let meta: serde_json::Value = serde_json::from_slice(&meta).ok()?;
    Manifest::parse(meta["payload"].as_str()?).ok()
}

/// Whether `index` was built from the documents that the caller names `mark`. Reads one small file, so a caller with rarely changing documents
/// need not hash them at every start.
pub fn has_mark(index: &Path, mark: &str) -> bool {
    manifest(index).is_some_and(|manifest| manifest.mark == mark)
}

/// Opens the last commit; with `check`, compares the checksums of a small index.
pub(crate) fn hold(index: &Path, check: bool) -> Result<Held, OpenError> {
    for _ in 0..OPEN_ATTEMPTS {
        let before = state(index);
        let held = hold_once(index, check);
        if state(index) == before {
            return held;
        }
        std::thread::sleep(OPEN_PAUSE);
    }
    let reason = "it was replaced faster than it could be opened";
    Err(damaged(&index.join(META), reason))
}

fn hold_once(folder: &Path, is_checked: bool) -> Result<Held, OpenError> {
    let meta = folder.join(META);
    let missing = || OpenError::Missing {
        path: folder.to_owned(),
    };
    if fs::symlink_metadata(&meta).is_err() {
        // Format 5 and older kept each generation in a folder, and its name in a file.
        if folder.join(OLDER[0]).exists() {
            check_format("5 or older")?;
        }
        return Err(missing());
    }
    let names = names(folder).map_err(|error| damaged(folder, error))?;
    if let Some((name, _)) = names.iter().find(|(_, is_regular)| !is_regular) {
        // A pipe would block its reader.
        return Err(damaged(&folder.join(name), "it is not a regular file"));
    }
    let (index, payload) = open_guarded(&meta, || {
        let index = Index::open(Folder::open(folder)?)?;
        let payload = index.load_metas()?.payload;
        Ok((index, payload))
    })?;
    // A writer was killed between creating the index and its first commit.
    let payload = payload.ok_or_else(missing)?;
    let manifest = Manifest::parse(&payload).map_err(|error| match error {
        Ok(mismatch) => OpenError::Mismatch(mismatch),
        Err(reason) => damaged(&meta, reason),
    })?;
    if index.schema() != schema() {
        return Err(damaged(&meta, "it does not fit the format"));
    }
    let path = folder.join(&manifest.vectors);
    let vectors = Vectors::open(&path).map_err(|reason| damaged(&path, reason))?;
    if vectors.dimension() != manifest.dimension || vectors.len() < manifest.rows {
        return Err(damaged(&path, "it does not fit the manifest"));
    }
    if is_checked {
        check::check(folder, &index, &manifest, &vectors)?;
    }
    let searcher = open_guarded(folder, || {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader: IndexReader = reader.try_into()?;
        Ok(reader.searcher())
    })?;
    Ok(Held {
        searcher,
        vectors: Arc::new(vectors),
        folder: folder.to_owned(),
        manifest,
    })
}

/// The right to write the index, until dropped or until the process ends.
pub(crate) struct Writer {
    pub(crate) index: PathBuf,
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
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut lock = options.open(&path).map_err(write_error(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                let _ = lock.read_to_string(&mut owner);
                if owner.trim().is_empty() {
                    owner = "another process".to_owned();
                }
                let (path, owner) = (index.to_owned(), owner.trim().to_owned());
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

    /// A name for the generation after `previous`.
    pub(crate) fn next_generation(&self, previous: Option<&str>) -> String {
        let digits = previous.and_then(|name| name.split('-').next());
        let number: u64 = digits.and_then(|digits| digits.parse().ok()).unwrap_or(0);
        // Differs between processes and moments; need not be random.
        let now = since_1970(SystemTime::now()).unwrap_or_default() as u32;
        let unique = now ^ std::process::id().rotate_left(16);
        format!("{:08}-{unique:08x}", number + 1)
    }

    /// The file of vectors to continue for a model: the current one, or one left by an earlier use of the model.
    pub(crate) fn vectors_file(&self, model: &str, current: Option<&str>) -> Option<String> {
        let is_of_model = |name: &String| is_vectors_of(name, model);
        let current = current.map(str::to_owned).filter(is_of_model);
        let names = names(&self.index).unwrap_or_default().into_iter();
        current.or_else(|| names.map(|(name, _)| name).filter(is_of_model).max())
    }

    /// Makes room for a new index where no usable one is. With `all`, vectors go too; otherwise the vectors of an interrupted first build are used.
    pub(crate) fn clear(&self, all: bool) -> Result<(), BuildError> {
        let failed = write_error(&self.index);
        for entry in fs::read_dir(&self.index).map_err(&failed)? {
            let path = entry.map_err(&failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_older = OLDER.iter().any(|older| name.starts_with(older));
            let is_index = is_of_segment(&name) || name == META;
            let is_cache = name.ends_with(".vec") || name == GRAPHS;
            if is_older || is_index || all && is_cache {
                let removed = match path.is_dir() && !path.is_symlink() {
                    true => fs::remove_dir_all(&path),
                    false => fs::remove_file(&path),
                };
                removed.map_err(write_error(&path))?;
            }
        }
        Ok(())
    }

    /// Removes the vectors that the commit no longer needs; tantivy removes its own files. A failed removal is tried again next time.
    pub(crate) fn collect(&self, manifest: &Manifest) {
        let model = model_of(&manifest.vectors);
        let is_old = |name: &String| is_vectors_of(name, model) && *name != manifest.vectors;
        let names = names(&self.index).unwrap_or_default().into_iter();
        for (name, _) in names.filter(|(name, _)| is_old(name)) {
            let _ = fs::remove_file(self.index.join(name));
        }
        graph::collect(&self.index.join(GRAPHS), &manifest.vectors);
    }
}

fn is_vectors_of(name: &str, model: &str) -> bool {
    name.ends_with(".vec") && model_of(name) == model
}

/// The model in the name of a file of vectors.
fn model_of(name: &str) -> &str {
    name.split('-').next().unwrap_or_default()
}

fn note_owner(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    let seconds = since_1970(SystemTime::now()).unwrap_or_default() / 1_000_000_000;
    let since = format!("since {seconds} seconds after 1970");
    write!(lock, "process {} ({since})", std::process::id())
}
