//! Where an earlier call stopped: the lines that its file holds.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::{Line, Outcome, Summary};

/// What an earlier call left, and the file to go on with.
pub(crate) struct Earlier {
    /// Open for writing behind the last whole line.
    pub(crate) file: File,
    /// Jobs that are done.
    pub(crate) done: HashSet<String>,
    /// What they came to.
    pub(crate) summary: Summary,
}

impl Earlier {
    /// Opens the file, or makes it. A last line without its end was being written when the call
    /// was killed; it is taken away. With `again`, jobs that failed are not counted as done.
    ///
    /// # Errors
    /// If the file cannot be read or written, or holds a line that is none of a batch.
    pub(crate) fn open(path: &Path, again: bool) -> io::Result<Earlier> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut earlier = (HashSet::new(), Summary::default());
        let mut whole = 0;
        let mut reader = BufReader::new(&file);
        let mut text = String::new();
        for number in 1.. {
            text.clear();
            let bytes = reader.read_line(&mut text)?;
            if bytes == 0 || !text.ends_with('\n') {
                break;
            }
            whole += bytes as u64;
            let line: Line = serde_json::from_str(&text).map_err(|e| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("line {number} is none that `batch` wrote: {e}"),
                )
            })?;
            let failed = matches!(line.outcome, Outcome::Failed { .. });
            if failed && again {
                continue;
            }
            earlier.1.add(&line);
            earlier.0.insert(line.job);
        }
        drop(reader);
        file.set_len(whole)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Earlier {
            file,
            done: earlier.0,
            summary: earlier.1,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn line(job: &str) -> String {
        let line = Line {
            job: job.to_owned(),
            took_seconds: 0.1,
            outcome: Outcome::Failed {
                error: "gone".to_owned(),
            },
        };
        serde_json::to_string(&line).expect("JSON") + "\n"
    }

    #[test]
    fn a_torn_line_is_taken_away_and_writing_goes_on_behind_the_last_whole_one() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("lines");
        std::fs::write(&path, line("a") + "{\"job\": \"b\", \"tru").expect("write");
        let mut earlier = Earlier::open(&path, false).expect("open");
        assert_eq!(earlier.done, HashSet::from(["a".to_owned()]));
        earlier.file.write_all(line("b").as_bytes()).expect("write");
        let again = Earlier::open(&path, false).expect("open");
        assert_eq!(again.done.len(), 2);
        assert!(Earlier::open(&path, true).expect("open").done.is_empty());
    }

    #[test]
    fn a_foreign_file_is_refused_with_its_line() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("lines");
        std::fs::write(&path, line("a") + "hello\n").expect("write");
        let error = Earlier::open(&path, false).err().expect("an error");
        assert!(error.to_string().contains("line 2"), "{error}");
        let kept = std::fs::read_to_string(&path).expect("read");
        assert!(kept.ends_with("hello\n"), "a foreign file is left alone");
    }
}
