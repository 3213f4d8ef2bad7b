//! Lists the files of a folder. Names that lead out of the folder are refused.

use std::fs;
use std::path::Path;

use super::error::OpenError;
use super::opening::{Folder, RegularFile};
use super::reader::JobReader;
use super::{Options, reader};
use crate::model::{FileKind, Job, JobFile};
use crate::problem::Problem;
use crate::sniff::{HEAD_BYTES, sniff};
use crate::spark;

/// Lists a folder and recognizes its files. Reads only their first bytes.
pub fn open(path: &Path, options: &Options) -> Result<JobReader, OpenError> {
    let unreadable = |source| OpenError::Unreadable {
        path: path.to_owned(),
        source,
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return open_log(path, options),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(OpenError::Missing(path.to_owned()));
        }
        Err(error) => return Err(unreadable(error)),
    }
    let mut job = Job {
        path: path.to_owned(),
        ..Job::default()
    };
    let folder = Folder::open(path).map_err(unreadable)?;
    let folders = list(path, "", &folder, options, &mut job)?;
    let known = |file: &JobFile| !matches!(file.kind, FileKind::Unknown | FileKind::Ignored);
    let any_here = job.files.iter().any(known);
    let is_script = |file: &JobFile| {
        matches!(
            file.kind,
            FileKind::Script | FileKind::SparkScript | FileKind::DriverLog
        )
    };
    // an application's folder may have the log in a subfolder, next to scripts
    let takes_logs = job.files.iter().all(|file| is_script(file) || !known(file));
    let any_entry = !job.files.is_empty() || !folders.is_empty();
    let (mut inside, mut elsewhere) = (None, Vec::new());
    for below in folders {
        let from = job.files.len();
        // a folder that cannot be listed is reported like a file that cannot be read
        match list(&path.join(&below), &below, &folder, options, &mut job) {
            Err(OpenError::Unreadable { source, .. }) => {
                reader::unreadable_file(&mut job, &below, &source);
            }
            listed => {
                listed?;
            }
        }
        let is_log = |file: &JobFile| file.kind == FileKind::SparkEvents;
        let rolling = takes_logs && is_rolling_log(&below);
        if !takes_logs && is_rolling_log(&below) && job.files[from..].iter().any(is_log) {
            elsewhere.push(below.clone());
        }
        let has_any = job.files[from..].iter().any(known);
        inside = inside.or_else(|| has_any.then_some(below));
        let mut at = 0;
        job.files.retain(|file| {
            at += 1;
            at <= from || rolling && is_log(file) || belongs_below(file.kind)
        });
    }
    if !any_here && !job.files.iter().any(|f| f.kind == FileKind::SparkEvents) {
        let is_cut = |f: &&JobFile| {
            folder
                .file(&f.name)
                .is_ok_and(|f| spark::is_cut_at_start(f.file))
        };
        let cut = job.files.iter().find(is_cut);
        let path = path.to_owned();
        return Err(match cut {
            Some(file) => OpenError::CutOff(path.join(&file.name)),
            None if any_entry || !job.diagnostics.is_empty() => {
                OpenError::NoKnownFile { path, inside }
            }
            None => OpenError::Empty(path),
        });
    }
    job.files.sort_by(|a, b| a.name.cmp(&b.name));
    one_application(path, &folder, elsewhere, &mut job)?;
    Ok(JobReader::new(job, Some(folder), options.clone()))
}

/// A Spark event log alone.
fn open_log(path: &Path, options: &Options) -> Result<JobReader, OpenError> {
    let mut job = Job {
        path: path.to_owned(),
        ..Job::default()
    };
    // the file that the user names may be a link
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, name) = place_of(&real).ok_or_else(|| OpenError::NotAFolder(path.to_owned()))?;
    let folder = Folder::open(folder).map_err(|source| OpenError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let opened = folder.file(name).map_err(|source| OpenError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    if opened.bytes == 0 {
        return Err(OpenError::Empty(path.to_owned()));
    }
    file(&folder, name.to_owned(), &mut job);
    if !job.files.iter().any(|f| f.kind == FileKind::SparkEvents) {
        return Err(match spark::is_cut_at_start(opened.file) {
            true => OpenError::CutOff(path.to_owned()),
            false => OpenError::NotAFolder(path.to_owned()),
        });
    }
    Ok(JobReader::new(job, Some(folder), options.clone()))
}

/// Refuses the logs of several applications, some of them in folders `elsewhere`. Only one part of a rolling log begins an application; a
/// compacted part replaces all parts before it.
fn one_application(
    path: &Path,
    folder: &Folder,
    elsewhere: Vec<String>,
    job: &mut Job,
) -> Result<(), OpenError> {
    let is_log = |f: &&JobFile| f.kind == FileKind::SparkEvents;
    if job.files.iter().filter(is_log).count() < 2 {
        return Ok(());
    }
    let compacted = job.files.iter().filter(|f| f.name.ends_with(".compact"));
    if let Some(last) = compacted.filter_map(|f| spark::part(&f.name)).max() {
        for file in job
            .files
            .iter_mut()
            .filter(|f| f.kind == FileKind::SparkEvents)
        {
            let replaced = spark::part(&file.name)
                .is_some_and(|n| n < last || (n == last && !file.name.ends_with(".compact")));
            if replaced {
                file.kind = FileKind::Ignored;
            }
        }
    }
    let logs: Vec<&str> = job
        .files
        .iter()
        .filter(is_log)
        .map(|f| f.name.as_str())
        .collect();
    let begins = |name: &&&str| {
        let log = folder.file(name);
        log.is_ok_and(|log| spark::begins_application(log.file))
    };
    let begun: Vec<String> = logs
        .iter()
        .filter(begins)
        .map(|name| (*name).to_owned())
        .collect();
    match begun.len() {
        0 | 1 => Ok(()),
        _ => Err(OpenError::SeveralApplications {
            path: path.to_owned(),
            logs: begun.into_iter().chain(elsewhere).collect(),
        }),
    }
}

/// Recognizes the kind of a file by its first bytes. A link is not followed.
pub fn recognize(path: &Path) -> std::io::Result<FileKind> {
    let (folder, name) = place_of(path).ok_or_else(|| std::io::Error::other("it has no name"))?;
    kind_of(Folder::open(folder)?.file(name)?)
}

fn kind_of(file: RegularFile) -> std::io::Result<FileKind> {
    Ok(sniff(&file.head(HEAD_BYTES as u64)?))
}

/// The folder of a file, and its name in it.
fn place_of(path: &Path) -> Option<(&Path, &str)> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    Some((
        folder.unwrap_or(Path::new(".")),
        path.file_name()?.to_str()?,
    ))
}

/// Folders inside a job folder contain logs (`logs/`, `diagnosticstreams/`). Other files in them belong
/// to another job.
fn belongs_below(kind: FileKind) -> bool {
    use FileKind as K;
    matches!(
        kind,
        K::VertexEvents
            | K::VertexStdout
            | K::VertexCommand
            | K::UserDiagnostics
            | K::Error
            | K::DriverLog
    )
}

/// Adds the files of the job folder, or of a subfolder, to the job, and returns the names of its subfolders.
fn list(
    path: &Path,
    prefix: &str,
    folder: &Folder,
    options: &Options,
    job: &mut Job,
) -> Result<Vec<String>, OpenError> {
    let unreadable = |source| OpenError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut folders = Vec::new();
    let entries = fs::read_dir(path).map_err(unreadable)?;
    for (n, entry) in entries.enumerate() {
        if n == options.max_files {
            return Err(OpenError::TooManyFiles {
                path: path.to_owned(),
                most: n,
            });
        }
        let entry = entry.map_err(unreadable)?;
        if is_of_macos(&entry.file_name()) {
            continue;
        }
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
            Ok(kind) if kind.is_file() => file(folder, name, job),
            Ok(_) => job.note(&name, None, &Problem::NoFile),
            Err(error) => reader::unreadable_file(job, &name, &error),
        }
    }
    folders.sort();
    Ok(folders)
}

/// Whether macOS added the file to a folder or archive, to store attributes of another file.
fn is_of_macos(name: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b"._") || name == b"__MACOSX" || name == b".DS_Store"
}

/// Whether a folder has Spark's name for the parts of a rolling log.
fn is_rolling_log(folder: &str) -> bool {
    folder.starts_with("eventlog_v2_")
}

fn file(folder: &Folder, name: String, job: &mut Job) {
    let sniffed = folder.file(&name).and_then(|file| {
        let bytes = file.bytes;
        Ok((kind_of(file)?, bytes))
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
