//! Opening an index, and the right to write it.
//!
//! Tantivy's `meta.json` decides: a writer replaces it in one step when everything that it names is on disk. A reader keeps the files that
//! it has mapped; if a file is removed before it could be opened, the reader starts again with the new `meta.json`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use rayon::prelude::*;
use tantivy::Searcher;
use tantivy::directory::error::OpenReadError;
use tantivy::index::SegmentId;

use super::checked::Files;
use super::directory::{Folder, is_of_segment};
use super::files::{self, write_error};
use super::lexical::{self, Lexical};
use super::manifest::{Documents, Manifest, check_format};
use super::named::{self, is_named};
use super::questions::Questions;
use super::stamp::State;
use super::vectors::Vectors;
use super::{GRAPHS, graph};
use crate::error::{BuildError, OpenError, damaged};
use crate::glossary::Glossary;
use crate::guard::guarded;

const META: &str = "meta.json";
const LOCK: &str = "LOCK";

/// Names in an index of format 5 or older, which kept each generation in a folder.
const OLDER: [&str; 2] = ["CURRENT", "cache"];
const OLDER_GENERATION: &str = "gen-";

/// How often a reader tries again when a commit removed the files that it was about to open.
const OPEN_ATTEMPTS: usize = 100;
const OPEN_PAUSE: Duration = Duration::from_millis(2);

/// Size of an index up to which an opening compares the checksums of files that have changed, which takes milliseconds; `index verify`
/// compares all checksums of any index.
const CHECKED: u64 = 64 << 20;

/// A commit, open for reading.
pub(crate) struct Held {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) vectors: Arc<Vectors>,
    pub(crate) searcher: Searcher,
}

impl Held {
    pub(crate) fn lexical(&self) -> Result<Lexical, OpenError> {
        let open = || Lexical::open(&self.searcher, self.manifest.chunks);
        let open = || open().map_err(|error| damaged(&self.folder, error));
        guarded(open, |reason| damaged(&self.folder, reason))
    }

    pub(crate) fn questions(&self) -> Result<Option<Questions>, OpenError> {
        let open = || Questions::open(&self.searcher).map_err(|error| damaged(&self.folder, error));
        guarded(open, |reason| damaged(&self.folder, reason))
    }

    pub(crate) fn documents(&self) -> Result<Documents, OpenError> {
        documents(&self.folder, &self.manifest)
    }

    pub(crate) fn glossary(&self) -> Result<Glossary, OpenError> {
        glossary(&self.folder, &self.manifest)
    }

    /// Files of this commit that are not as they were written, with the reason.
    pub(crate) fn damaged_files(&self) -> Vec<(PathBuf, String)> {
        let index = self.searcher.index();
        let names = files_of_segments(&self.folder, index);
        damaged_files(&self.folder, index, &names, &self.manifest, &self.vectors)
    }
}

pub(crate) fn documents(folder: &Path, manifest: &Manifest) -> Result<Documents, OpenError> {
    named::read(folder, named::DOCUMENTS, &manifest.documents_file)
}

fn glossary(folder: &Path, manifest: &Manifest) -> Result<Glossary, OpenError> {
    named::read(folder, named::GLOSSARY, &manifest.glossary_file)
}

fn files_of_segments(folder: &Path, index: &tantivy::Index) -> Vec<String> {
    let ids = index.searchable_segment_ids().unwrap_or_default();
    let ids: Vec<String> = ids.iter().map(SegmentId::uuid_string).collect();
    let is_used = |name: &String| ids.iter().any(|id| name.starts_with(id));
    let names = names(folder).unwrap_or_default().into_iter();
    names.map(|(name, _)| name).filter(is_used).collect()
}

/// Compares the checksums of a small index, unless its files are as they were when they were right.
fn check_files(
    folder: &Path,
    index: &tantivy::Index,
    manifest: &Manifest,
    vectors: &Vectors,
) -> Result<(), OpenError> {
    let mut names = files_of_segments(folder, index);
    names.sort_unstable();
    let others = [
        &manifest.vectors,
        &manifest.documents_file,
        &manifest.glossary_file,
    ];
    let all: Vec<String> = names.iter().chain(others).cloned().collect();
    let files = Files::of(folder, &all);
    if files.as_ref().is_some_and(|files| files.are_known(folder))
        || files::folder_bytes(folder) > CHECKED
    {
        return Ok(());
    }
    let damages = damaged_files(folder, index, &names, manifest, vectors);
    if let Some((path, reason)) = damages.into_iter().next() {
        return Err(damaged(&path, reason));
    }
    documents(folder, manifest)?;
    glossary(folder, manifest)?;
    if let Some(files) = files {
        files.note(folder);
    }
    Ok(())
}

fn damaged_files(
    folder: &Path,
    index: &tantivy::Index,
    names: &[String],
    manifest: &Manifest,
    vectors: &Vectors,
) -> Vec<(PathBuf, String)> {
    let reason = |name: &String| {
        let check = || match index.directory().validate_checksum(Path::new(name)) {
            // A commit after this one may have removed the file, which this reader has open.
            Ok(true) | Err(OpenReadError::FileDoesNotExist(_)) => Ok(()),
            Ok(false) => Err("its checksum is wrong".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        Some((folder.join(name), guarded(check, |reason| reason).err()?))
    };
    let mut out: Vec<(PathBuf, String)> = names.par_iter().filter_map(reason).collect();
    let rows = (0..manifest.rows).into_par_iter();
    if let Some(row) = rows.find_any(|&row| !vectors.is_whole(row)) {
        let reason = format!("the checksum of row {row} is wrong");
        out.push((folder.join(&manifest.vectors), reason));
    }
    out
}

/// Changes with every commit and merge.
pub(crate) fn state(index: &Path) -> Option<State> {
    State::of(&fs::symlink_metadata(index.join(META)).ok()?)
}

/// The manifest of the last commit; `None` if there is no readable index.
pub(crate) fn manifest(index: &Path) -> Option<Manifest> {
    let meta = files::read_regular(&index.join(META)).ok()?;
    let meta: serde_json::Value = serde_json::from_slice(&meta).ok()?;
    Manifest::parse(meta["payload"].as_str()?).ok()
}

/// Opens the last commit; with `check`, compares the checksums of a small index first.
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

fn hold_once(folder: &Path, check: bool) -> Result<Held, OpenError> {
    let meta = folder.join(META);
    let missing = || OpenError::Missing {
        path: folder.to_owned(),
    };
    if fs::symlink_metadata(&meta).is_err() {
        return Err(older_format(folder).map_or_else(missing, OpenError::Mismatch));
    }
    let names = names(folder).map_err(|error| damaged(folder, error))?;
    if let Some((name, _)) = names.iter().find(|(_, is_regular)| !is_regular) {
        // A pipe would block its reader.
        return Err(damaged(&folder.join(name), "it is not a regular file"));
    }
    let open = || {
        let index = tantivy::Index::open(Folder::open(folder)?)?;
        let payload = index.load_metas()?.payload;
        Ok::<_, tantivy::TantivyError>((index, payload))
    };
    let open = || open().map_err(|error| damaged(&meta, error));
    let (index, payload) = guarded(open, |reason| damaged(&meta, reason))?;
    // A writer was killed between creating the index and its first commit.
    let payload = payload.ok_or_else(missing)?;
    let manifest = Manifest::parse(&payload).map_err(|error| match error {
        Ok(mismatch) => OpenError::Mismatch(mismatch),
        Err(reason) => damaged(&meta, reason),
    })?;
    let path = folder.join(&manifest.vectors);
    let vectors = Vectors::open(&path).map_err(|reason| damaged(&path, reason))?;
    if vectors.dimension() != manifest.dimension || vectors.len() < manifest.rows {
        return Err(damaged(&path, "it does not fit the manifest"));
    }
    if check {
        check_files(folder, &index, &manifest, &vectors)?;
    }
    let open = || lexical::searcher(&index).map_err(|error| damaged(folder, error));
    Ok(Held {
        searcher: guarded(open, |reason| damaged(folder, reason))?,
        vectors: Arc::new(vectors),
        folder: folder.to_owned(),
        manifest,
    })
}

/// Files and links of the folder, and whether each is a regular file.
fn names(folder: &Path) -> io::Result<Vec<(String, bool)>> {
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

/// The mismatch of an index that an earlier version wrote.
fn older_format(folder: &Path) -> Option<crate::error::Mismatch> {
    let generation = files::read_regular(&folder.join(OLDER[0])).ok()?;
    let generation = String::from_utf8(generation).ok()?;
    let is_plain = |name: &&str| name.starts_with(OLDER_GENERATION) && !name.contains('/');
    let manifest = Some(generation.trim()).filter(is_plain)?;
    let manifest = files::read_regular(&folder.join(manifest).join("manifest.json")).ok();
    let manifest: Option<serde_json::Value> =
        manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let format = manifest.and_then(|manifest| manifest["format"].as_u64());
    check_format(&format.unwrap_or(0).to_string()).err()
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

    /// A name for the generation after `previous`.
    pub(crate) fn next_generation(&self, previous: Option<&str>) -> String {
        let digits = previous.and_then(|name| name.split('-').next());
        let number: u64 = digits.and_then(|digits| digits.parse().ok()).unwrap_or(0);
        // Differs between processes and moments; need not be random.
        let unique = since_1970().subsec_nanos() ^ std::process::id().rotate_left(16);
        format!("{:08}-{unique:08x}", number + 1)
    }

    /// The file of vectors to continue for a model: the current one, or one left by an earlier use of the model.
    pub(crate) fn vectors_file(&self, model: &str, current: Option<&str>) -> Option<String> {
        let is_of_model = |name: &String| is_vectors_of(name, model);
        let current = current.map(str::to_owned).filter(is_of_model);
        let names = names(&self.index).unwrap_or_default().into_iter();
        current.or_else(|| names.map(|(name, _)| name).filter(is_of_model).max())
    }

    /// Makes room for a new index where no usable one is. With `all`, vectors go too; otherwise those of an interrupted first build are used.
    pub(crate) fn clear(&self, all: bool) -> Result<(), BuildError> {
        for entry in fs::read_dir(&self.index).map_err(write_error(&self.index))? {
            let path = entry.map_err(write_error(&self.index))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_older = name.starts_with(OLDER_GENERATION) || OLDER.contains(&&*name);
            let is_index = is_of_segment(&name) || is_named(&name) || name == META;
            let is_cache = name.ends_with(".vec") || name == GRAPHS;
            let removed = match path.is_dir() && !path.is_symlink() {
                _ if !(is_older || is_index || all && is_cache) => Ok(()),
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(write_error(&path))?;
        }
        Ok(())
    }

    /// Removes the files that the commit no longer needs; tantivy removes its own. A failed removal is tried again next time.
    pub(crate) fn collect(&self, manifest: &Manifest) {
        let model = model_of(&manifest.vectors);
        let Manifest {
            vectors,
            documents_file,
            glossary_file,
            ..
        } = manifest;
        let is_old = |name: &String| {
            let is_of_model = is_vectors_of(name, model) && name != vectors;
            is_of_model || is_named(name) && name != documents_file && name != glossary_file
        };
        let names = names(&self.index).unwrap_or_default().into_iter();
        for (name, _) in names.filter(|(name, _)| is_old(name)) {
            let _ = fs::remove_file(self.index.join(name));
        }
        graph::collect(&self.index.join(GRAPHS), vectors);
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
    let (process, seconds) = (std::process::id(), since_1970().as_secs());
    let since = format!("since {seconds} seconds after 1970");
    write!(lock, "process {process} ({since})")
}

fn since_1970() -> Duration {
    UNIX_EPOCH.elapsed().unwrap_or_default()
}
