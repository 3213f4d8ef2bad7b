//! Resuming: the lines that an earlier call wrote.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::{Line, Outcome, Summary};

pub(crate) struct Earlier {
    /// Open for appending after the last complete line.
    pub(crate) file: File,
    pub(crate) done: HashSet<String>,
    pub(crate) summary: Summary,
}

impl Earlier {
    /// Opens or creates the file. An incomplete last line, left by a killed call, is removed. With `retry_failed`, failed jobs don't count
    /// as done.
    ///
    /// # Errors
    /// If the file cannot be read or written, or contains a line that `batch` didn't write.
    pub(crate) fn open(path: &Path, retry_failed: bool) -> io::Result<Earlier> {
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
                let error = format!("line {number} was not written by `batch`: {e}");
                io::Error::new(io::ErrorKind::InvalidData, error)
            })?;
            let failed = matches!(line.outcome, Outcome::Failed { .. });
            if failed && retry_failed {
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
    fn an_incomplete_line_is_removed_and_writing_resumes_after_the_last_complete_one() {
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
    fn another_file_is_refused_with_the_line() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("lines");
        std::fs::write(&path, line("a") + "hello\n").expect("write");
        let error = Earlier::open(&path, false).err().expect("an error");
        assert!(error.to_string().contains("line 2"), "{error}");
        let kept = std::fs::read_to_string(&path).expect("read");
        assert!(kept.ends_with("hello\n"), "a foreign file is left alone");
    }
}
