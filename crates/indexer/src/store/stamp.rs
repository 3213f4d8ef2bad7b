//! A note in a generation's folder that its files had the right checksums, so that they are not read again each time it is opened.
//!
//! The note holds what the system says of each file, which every write changes, and is void if anything differs. It protects
//! from accidents, not from somebody who may write to the folder and could replace the manifest, too.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Name of the note.
pub(crate) const CHECKED: &str = "CHECKED";

/// A file may be written twice within one tick of the file system's clock: nothing is noted of a file that changed less than this long ago.
const SETTLED: Duration = Duration::from_secs(3);

/// What the system says of a file: its size, when it was written and, on Unix, its inode and when that changed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    bytes: u64,
    written: Option<SystemTime>,
    inode: Option<(u64, i64, i64)>,
}

impl State {
    pub(crate) fn of(file: &Metadata) -> State {
        #[cfg(unix)]
        let inode = {
            use std::os::unix::fs::MetadataExt;
            Some((file.ino(), file.ctime(), file.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let inode = None;
        State {
            bytes: file.len(),
            written: file.modified().ok(),
            inode,
        }
    }

    fn is_settled(&self, now: SystemTime) -> bool {
        let is_before = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > SETTLED);
        let changed = self.inode.and_then(|(_, seconds, _)| {
            let since_1970 = Duration::from_secs(u64::try_from(seconds).ok()?);
            SystemTime::UNIX_EPOCH.checked_add(since_1970)
        });
        self.written.is_some_and(is_before) && changed.is_none_or(is_before)
    }
}

/// Whether the files are as they were when they were compared with their checksums.
pub(crate) fn is_valid(folder: &Path, files: &[State]) -> bool {
    let noted = super::files::read_regular(&folder.join(CHECKED)).ok();
    let noted = noted.and_then(|bytes| serde_json::from_slice::<Vec<State>>(&bytes).ok());
    noted.is_some_and(|noted| noted == files)
}

/// Notes that the files had the right checksums, if they have been at rest long enough and the folder can be written.
pub(crate) fn write(folder: &Path, files: &[State]) {
    let now = SystemTime::now();
    if !files.iter().all(|file| file.is_settled(now)) {
        return;
    }
    // Not synced: a note that is cut off or lost costs one comparison.
    let beside = folder.join(format!("{CHECKED}.{}", std::process::id()));
    let written = serde_json::to_vec(files).map(|bytes| fs::write(&beside, bytes));
    let is_written = matches!(written, Ok(Ok(())));
    if !is_written || fs::rename(&beside, folder.join(CHECKED)).is_err() {
        let _ = fs::remove_file(&beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            vec![State::of(&file.metadata().expect("its state"))]
        };
        let before = state("one", long_ago);
        assert!(!is_valid(folder.path(), &before), "nothing is noted");
        let noted = serde_json::to_vec(&before).expect("serialized");
        fs::write(folder.path().join(CHECKED), noted).expect("noted");
        assert!(is_valid(folder.path(), &before));
        assert!(!is_valid(folder.path(), &state("two", SystemTime::now())));
    }

    #[test]
    fn nothing_is_noted_of_a_file_that_was_just_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |written| State {
            bytes: 3,
            written: Some(written),
            inode: None,
        };
        let now = SystemTime::now();
        write(folder.path(), &[file(now - SETTLED / 2)]);
        assert!(!folder.path().join(CHECKED).exists());
        let old = [file(now - 2 * SETTLED)];
        write(folder.path(), &old);
        assert!(is_valid(folder.path(), &old));
    }
}
