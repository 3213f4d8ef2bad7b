//! Files in memory instead of a folder.

use super::Options;
use super::kinds::order;
use super::reader::JobReader;
use crate::model::{FileKind, Job, JobFile};
use crate::read;
use crate::sniff::{HEAD_BYTES, sniff};

/// Reads files in memory, each with a given kind; for tests and fuzzing.
pub fn read_memory(files: &[(&str, FileKind, &[u8])], options: &Options) -> Job {
    let mut reader = JobReader::new(Job::default(), None, options.clone());
    let mut files = files.to_vec();
    files.sort_by_key(|(_, kind, _)| order(*kind));
    for (name, kind, bytes) in files {
        reader.job.files.push(JobFile {
            name: name.to_owned(),
            kind,
            bytes: bytes.len() as u64,
            read: true,
        });
        if !reader.belongs(name, kind) {
            continue;
        }
        match kind {
            FileKind::VertexEvents => {
                read::events::read(name, bytes, &reader.options, &mut reader.job);
            }
            FileKind::SparkEvents => {
                reader
                    .spark_events(name, bytes)
                    .expect("memory is readable");
            }
            _ => reader.take(name, kind, bytes),
        }
    }
    reader.connect();
    reader.job
}

/// Recognizes the kind of a file by its first bytes.
pub fn kind_of(head: &[u8]) -> FileKind {
    sniff(&head[..head.len().min(HEAD_BYTES)])
}
