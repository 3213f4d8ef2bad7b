//! Lists the files of a folder, and refuses what leads out of it.

use std::fs;
use std::io::Read;
use std::path::Path;

use super::error::OpenError;
use super::reader::JobReader;
use super::{Options, opening, reader};
use crate::model::{FileKind, Job, JobFile};
use crate::problem::Problem;
use crate::sniff::{HEAD_BYTES, sniff};

/// Lists a folder and recognizes its files. Reads only their first bytes.
pub fn open(path: &Path, options: &Options) -> Result<JobReader, OpenError> {
    let unreadable = |source| OpenError::Unreadable {
        path: path.to_owned(),
        source,
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(OpenError::NotAFolder(path.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(OpenError::Missing(path.to_owned()));
        }
        Err(error) => return Err(unreadable(error)),
    }
    let mut job = Job {
        path: path.to_owned(),
        ..Job::default()
    };
    let folders = list(path, "", options, &mut job).map_err(unreadable)?;
    let known = |file: &JobFile| !matches!(file.kind, FileKind::Unknown | FileKind::Ignored);
    let any_here = job.files.iter().any(known);
    let mut inside = None;
    for folder in folders {
        let from = job.files.len();
        // a folder that cannot be listed is reported like a file that cannot be read
        if let Err(error) = list(&path.join(&folder), &folder, options, &mut job) {
            reader::unreadable_file(&mut job, &folder, &error);
        }
        if inside.is_none() && job.files[from..].iter().any(known) {
            inside = Some(folder);
        }
        let mut at = 0;
        job.files.retain(|file| {
            at += 1;
            at <= from || belongs_below(file.kind)
        });
    }
    if !any_here {
        let empty = job.files.is_empty() && inside.is_none() && job.diagnostics.is_empty();
        let path = path.to_owned();
        return Err(match empty {
            true => OpenError::Empty(path),
            false => OpenError::NoKnownFile { path, inside },
        });
    }
    job.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(JobReader {
        job,
        options: options.clone(),
        scripts: Vec::new(),
    })
}

/// Folders inside a job folder contain logs (`logs/`, `diagnosticstreams/`). Anything else in them is
/// of another job.
fn belongs_below(kind: FileKind) -> bool {
    use FileKind as K;
    matches!(
        kind,
        K::VertexEvents | K::VertexStdout | K::VertexCommand | K::UserDiagnostics | K::Error
    )
}

/// Lists the files of one folder into the job, and returns the names of the folders in it.
fn list(
    path: &Path,
    prefix: &str,
    options: &Options,
    job: &mut Job,
) -> std::io::Result<Vec<String>> {
    let mut folders = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(path)?.take(options.max_files + 1).collect();
    if entries.len() > options.max_files {
        entries.truncate(options.max_files);
        let problem = Problem::TooManyFiles(options.max_files);
        job.note(prefix, None, &problem);
    }
    for entry in entries {
        let entry = entry?;
        let Ok(own_name) = entry.file_name().into_string() else {
            let lossy = entry.file_name().to_string_lossy().into_owned();
            job.note(&lossy, None, &Problem::NameNotUnicode);
            continue;
        };
        let name = match prefix {
            "" => own_name,
            _ => format!("{prefix}/{own_name}"),
        };
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => job.note(&name, None, &Problem::Link),
            Ok(kind) if kind.is_dir() => folders.push(name),
            Ok(kind) if kind.is_file() => file(name, job),
            Ok(_) => job.note(&name, None, &Problem::NoFile),
            Err(error) => reader::unreadable_file(job, &name, &error),
        }
    }
    folders.sort();
    Ok(folders)
}

fn file(name: String, job: &mut Job) {
    let sniffed = opening::open(&job.path, &name).and_then(|file| {
        let bytes = file.metadata()?.len();
        let mut head = Vec::new();
        file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        Ok((sniff(&head), bytes))
    });
    match sniffed {
        Ok((kind, bytes)) => job.files.push(JobFile {
            name,
            kind,
            bytes,
            read: false,
        }),
        Err(error) => reader::unreadable_file(job, &name, &error),
    }
}
