//! Which folders are jobs.

use std::fs;
use std::path::{Path, PathBuf};

use job::OpenError;
use job::model::FileKind;
use rayon::prelude::*;

use crate::formats::is_archive;

/// Levels of folders that are searched: `cluster/month/day/job`.
const DEPTH: usize = 4;

/// The jobs under a path: the folder itself if it contains a file of a job, otherwise folders and archives below it, sorted. A path
/// without jobs is returned itself, so that its error is reported.
pub(crate) fn jobs_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, DEPTH, &mut found);
    if found.is_empty() {
        found.push(folder.to_path_buf());
    }
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    let kinds = paths.iter().filter_map(|path| kind(path));
    let kinds: Vec<FileKind> = kinds.collect();
    if !kinds.is_empty() {
        if !kinds.contains(&FileKind::SparkEvents) {
            found.push(folder.to_path_buf());
            return;
        }
        found.extend(applications(folder));
        // the folder of a History Server contains logs and folders of logs; a user's own folder contains logs and folders
        // of jobs
        if depth == 0 {
            return;
        }
        for path in paths.iter().filter(|p| p.is_dir() && has_job(p, depth)) {
            collect(path, depth - 1, found);
        }
        return;
    }
    let archive = |path: &&PathBuf| is_archive(&path.to_string_lossy()) && path.is_file();
    let archives = found.len();
    found.extend(paths.iter().filter(archive).cloned());
    let below: Vec<&PathBuf> = paths.iter().filter(|p| p.is_dir()).collect();
    if below.is_empty() || depth == 0 {
        // An empty folder, or one with other files, counts as a job that cannot be read, unless it is the folder that was given.
        if depth < DEPTH && found.len() == archives {
            found.push(folder.to_path_buf());
        }
        return;
    }
    let of_folder = |path: &&PathBuf| {
        let mut found = Vec::new();
        collect(path, depth - 1, &mut found);
        found
    };
    let below: Vec<Vec<PathBuf>> = below.par_iter().map(of_folder).collect();
    found.extend(below.into_iter().flatten());
}

/// Whether a path is a folder that contains a file of a job, or an event log.
pub fn is_job(path: &Path) -> bool {
    let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
    kind(path).is_some() || entries.any(|entry| kind(&entry.path()).is_some())
}

/// The folder, or its event logs if they are of several applications.
fn applications(folder: &Path) -> Vec<PathBuf> {
    match job::open(folder, &job::Options::default()) {
        Err(OpenError::SeveralApplications { logs, .. }) => {
            logs.iter().map(|log| folder.join(log)).collect()
        }
        _ => vec![folder.to_path_buf()],
    }
}

/// Whether a folder, or one below it, contains an event log or a file that only a SCOPE or U-SQL job has. Scripts, errors and driver logs
/// may belong to the event logs next to the folder.
fn has_job(folder: &Path, depth: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths = entries.filter_map(|e| Some(e.ok()?.path()));
    paths.any(|path| match kind(&path) {
        Some(kind) => !matches!(
            kind,
            FileKind::SparkScript | FileKind::DriverLog | FileKind::Script | FileKind::Error
        ),
        None => depth > 1 && path.is_dir() && has_job(&path, depth - 1),
    })
}

/// Kind of a job's file; `None` for other files and for folders.
fn kind(path: &Path) -> Option<FileKind> {
    let known = |k: &FileKind| !matches!(k, FileKind::Unknown | FileKind::Ignored);
    job::recognize(path).ok().filter(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_found_below_folders_and_foreign_files_are_none() {
        let root = tempfile::tempdir().expect("folder");
        for job in ["2026/01/a", "2026/01/b", "2026/02/c"] {
            let folder = root.path().join(job);
            fs::create_dir_all(&folder).expect("folder");
            fs::write(folder.join("scope.script"), "x = SELECT a FROM b;\n").expect("script");
        }
        fs::create_dir_all(root.path().join("2026/02/empty")).expect("folder");
        fs::write(root.path().join("README.md"), "# Jobs\n").expect("readme");
        fs::write(root.path().join("2026/01/c.zip"), "PK").expect("archive");
        let jobs = [
            "2026/01/c.zip",
            "2026/01/a",
            "2026/01/b",
            "2026/02/c",
            "2026/02/empty",
        ];
        let expected = jobs.map(|job| root.path().join(job));
        assert_eq!(jobs_under(root.path()), expected);
        let one = root.path().join("2026/01/a");
        assert_eq!(jobs_under(&one), [one]);
        let missing = root.path().join("missing");
        assert_eq!(jobs_under(&missing), [missing]);
    }

    #[test]
    fn jobs_next_to_event_logs_are_found_too() {
        let root = tempfile::tempdir().expect("folder");
        for (name, text) in [
            (
                "app-1",
                "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n",
            ),
            ("a/ScopeVertexDef.xml", "<ScopeVertices></ScopeVertices>\n"),
            ("month/b/JobInfo.xml", "<JobInfo></JobInfo>\n"),
            (
                "scripts/etl.py",
                "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n",
            ),
            ("notes/todo.md", "# Later\n"),
        ] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
            fs::write(path, text).expect("file");
        }
        let expected = ["", "a", "month/b"].map(|job| root.path().join(job));
        assert_eq!(jobs_under(root.path()), expected);
    }
}
