//! The file system's stamp of a file (size, times, inode). An unchanged file is not read again: neither to compare its checksum, nor to see
//! whether a document has changed.
//!
//! It protects against accidents, not against an attacker who can write to the folder and set the time
//! back.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Name of the note in a generation's folder: the stamps of the files when their checksums were right.
const CHECKED: &str = "CHECKED";

/// A file may be written twice within one tick of the file system's clock, so a stamp younger than this proves nothing.
const SETTLED: Duration = Duration::from_secs(3);

/// The size of a file, the nanoseconds from 1970 to when it was last written, and on Unix its inode, else 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State(u64, u64, u64);

impl State {
    /// `None` if the system does not say when it was written.
    pub(crate) fn of(file: &Metadata) -> Option<State> {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(file);
        #[cfg(not(unix))]
        let inode = 0;
        let written = file.modified().ok()?;
        Some(State(file.len(), since_1970(written)?, inode))
    }

    /// The state of two files that are one document.
    pub(crate) fn with(self, other: State) -> State {
        let inode = self.2.rotate_left(1) ^ other.2;
        State(self.0 + other.0, self.1.max(other.1), inode)
    }

    pub(crate) fn is_written_after(self, time: SystemTime) -> bool {
        since_1970(time).is_none_or(|time| self.1 > time)
    }

    /// Whether any writing after `read`, when the state was read, shows.
    pub(crate) fn is_settled(self, read: SystemTime) -> bool {
        read.checked_sub(SETTLED)
            .is_some_and(|then| !self.is_written_after(then))
    }
}

fn since_1970(time: SystemTime) -> Option<u64> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// Files with their stamps when their checksums were right.
pub(crate) type Note = BTreeMap<String, State>;

/// Cached stamps of the files of a generation; empty if the note is unreadable.
pub(crate) fn noted(folder: &Path) -> Note {
    let note = super::files::read_regular(&folder.join(CHECKED)).ok();
    let note = note.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    note.unwrap_or_default()
}

/// Notes that the files in these states had the right checksums, if they have been at rest long enough and the folder can be written.
pub(crate) fn write(folder: &Path, states: Note) {
    let now = SystemTime::now();
    let settled = states
        .into_iter()
        .filter(|(_, state)| state.is_settled(now));
    let settled: Note = settled.collect();
    if settled.is_empty() {
        return;
    }
    // Not synced: a note that is cut off or lost costs one comparison.
    let beside = folder.join(format!("{CHECKED}.{}", std::process::id()));
    let written = serde_json::to_vec(&settled).map(|bytes| fs::write(&beside, bytes));
    let is_written = matches!(written, Ok(Ok(())));
    if !is_written || fs::rename(&beside, folder.join(CHECKED)).is_err() {
        let _ = fs::remove_file(&beside);
    }
}

/// Whether a file of a generation is a note, or one that a process is writing or was killed while writing.
pub(crate) fn is_note(name: &str) -> bool {
    let rest = name.strip_prefix(CHECKED);
    rest.is_some_and(|rest| {
        let process = rest.strip_prefix('.');
        rest.is_empty() || process.is_some_and(|id| id.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// Takes over the stamps of files that a new generation shares with an older one: a link changes no stamp.
pub(crate) fn inherit(from: &Path, to: &Path) {
    let _ = fs::hard_link(from.join(CHECKED), to.join(CHECKED));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_is_being_written_is_one_too() {
        for (name, expected) in [
            ("CHECKED", true),
            ("CHECKED.4711", true),
            ("CHECKED.bak", false),
            ("CHECKED4711", false),
            ("manifest.json", false),
        ] {
            assert_eq!(is_note(name), expected, "{name}");
        }
    }

    #[test]
    fn a_note_holds_until_a_file_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("seg");
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let state = |text: &str, written: SystemTime| {
            fs::write(&path, text).expect("written");
            let file = fs::File::options().append(true).open(&path);
            let file = file.expect("opened");
            file.set_modified(written).expect("dated");
            State::of(&file.metadata().expect("its state")).expect("a time")
        };
        let note = |state| Note::from([("seg".to_owned(), state)]);
        assert!(noted(folder.path()).is_empty());
        let before = state("one", long_ago);
        write(folder.path(), note(before));
        assert_eq!(noted(folder.path()), note(before));
        assert_ne!(state("two", SystemTime::now()), before);
        let later = tempfile::tempdir().expect("a folder");
        inherit(folder.path(), later.path());
        assert_eq!(noted(later.path()), note(before));
    }

    #[test]
    fn nothing_is_noted_of_a_file_that_was_just_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = |time| State(3, since_1970(time).expect("after 1970"), 0);
        let now = SystemTime::now();
        let (new, old) = (written(now - SETTLED / 2), written(now - 2 * SETTLED));
        write(folder.path(), Note::from([("new".to_owned(), new)]));
        assert!(!folder.path().join(CHECKED).exists());
        let both = [("new".to_owned(), new), ("old".to_owned(), old)];
        write(folder.path(), Note::from(both));
        assert_eq!(noted(folder.path()), Note::from([("old".to_owned(), old)]));
    }
}
