//! The etag of a job: it changes when a file of the job does. No file is read for it.

use std::fs;
use std::path::Path as FilePath;
use std::time::UNIX_EPOCH;

use object_store::ObjectMeta;
use object_store::path::Path;

use crate::error::{Error, Result};

/// Digits of an etag: 128 bits.
const ETAG_DIGITS: usize = 32;
/// Files of a job folder that its etag covers; more are not read either.
const MAX_FILES: usize = 10_000;

/// The etag of a local job and its bytes: names, sizes and times of its files, which are not read.
pub(crate) fn state_of(path: &FilePath) -> Result<(String, u64)> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    let mut state = State::default();
    let about = fs::metadata(path).map_err(failed)?;
    if about.is_dir() {
        let mut left = MAX_FILES;
        files(path, "", &mut left, &mut state).map_err(failed)?;
    } else {
        state.file("", &about);
    }
    Ok(state.finish())
}

fn files(
    folder: &FilePath,
    prefix: &str,
    left: &mut usize,
    state: &mut State,
) -> std::io::Result<()> {
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?
        .take(*left)
        .collect::<std::io::Result<_>>()?;
    *left -= entries.len();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        // of the entry itself: links are not followed
        let about = entry.metadata()?;
        if about.is_dir() {
            files(&entry.path(), &name, left, state)?;
        } else {
            state.file(&name, &about);
        }
    }
    Ok(())
}

/// The etag of a job of objects, in the order of their names, and its bytes.
pub(crate) fn state_of_objects(objects: &[(&str, &ObjectMeta)]) -> (String, u64) {
    let mut state = State::default();
    for (name, meta) in objects {
        let changed = meta.e_tag.clone();
        let changed = changed.unwrap_or_else(|| meta.last_modified.to_rfc3339());
        state.add(name, meta.size, &changed);
    }
    state.finish()
}

/// The etag of an application on a History Server: of its attempt, and when that last changed.
pub(crate) fn state_of_attempt(attempt: &str, changed: &str) -> String {
    let mut state = State::default();
    state.add(attempt, 0, changed);
    state.finish().0
}

#[derive(Default)]
struct State {
    hash: blake3::Hasher,
    bytes: u64,
}

impl State {
    fn file(&mut self, name: &str, about: &fs::Metadata) {
        let modified = about.modified().ok();
        let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        self.add(
            name,
            about.len(),
            &since.unwrap_or_default().as_nanos().to_string(),
        );
    }

    fn add(&mut self, name: &str, size: u64, changed: &str) {
        self.bytes += size;
        self.hash
            .update(format!("{name}\0{size}\0{changed}\n").as_bytes());
    }

    fn finish(self) -> (String, u64) {
        let mut etag = self.hash.finalize().to_string();
        etag.truncate(ETAG_DIGITS);
        (etag, self.bytes)
    }
}

/// The name of an object relative to a prefix; `None` for one that is not below it.
pub(crate) fn relative(prefix: &Path, object: &Path) -> Option<String> {
    let mut parts = object.prefix_match(prefix)?.peekable();
    parts.peek()?;
    let parts: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_etag_changes_with_names_sizes_and_times() {
        let here = tempfile::tempdir().expect("folder");
        let job = here.path();
        fs::create_dir(job.join("sub")).expect("made");
        fs::write(job.join("sub/a"), "12").expect("written");
        let mut seen = Vec::new();
        let mut state = || {
            let (etag, size) = state_of(job).expect("a state");
            let is_new = !seen.contains(&etag);
            seen.push(etag);
            (is_new, size)
        };
        assert_eq!(state(), (true, 2));
        assert_eq!(state(), (false, 2));
        fs::write(job.join("sub/a"), "123").expect("written");
        assert_eq!(state(), (true, 3));
        let file = fs::File::options()
            .write(true)
            .open(job.join("sub/a"))
            .expect("open");
        file.set_modified(UNIX_EPOCH).expect("set");
        assert_eq!(state(), (true, 3));
        fs::rename(job.join("sub/a"), job.join("sub/b")).expect("renamed");
        assert_eq!(state(), (true, 3));
    }
}
