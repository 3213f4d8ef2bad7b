//! Which folders are jobs.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use job::model::FileKind;

/// Levels of folders that are searched: `cluster/month/day/job`.
const DEPTH: usize = 4;
/// Bytes by which a file is recognized; the readers look no further.
const HEAD: u64 = 4096;

/// The job folders under a path: the folder itself if it contains a file of a job, else those below it, sorted. A folder without any is
/// returned itself, so that its error is reported.
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
    if paths.iter().any(|path| is_of_a_job(path)) {
        found.push(folder.to_path_buf());
        return;
    }
    let below: Vec<&PathBuf> = paths.iter().filter(|p| p.is_dir()).collect();
    if below.is_empty() || depth == 0 {
        // An empty folder, or one with other files, counts as a job that cannot be read, unless it is the folder that was given.
        if depth < DEPTH {
            found.push(folder.to_path_buf());
        }
        return;
    }
    for path in below {
        collect(path, depth - 1, found);
    }
}

/// Whether a folder contains a file of a job.
pub(crate) fn is_job(folder: &Path) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| is_of_a_job(&entry.path()))
}

fn is_of_a_job(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|f| f.take(HEAD).read_to_end(&mut head));
    read.is_ok() && !matches!(job::kind_of(&head), FileKind::Unknown | FileKind::Ignored)
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
        let jobs = ["2026/01/a", "2026/01/b", "2026/02/c", "2026/02/empty"];
        let expected = jobs.map(|job| root.path().join(job));
        assert_eq!(jobs_under(root.path()), expected);
        let one = root.path().join("2026/01/a");
        assert_eq!(jobs_under(&one), [one]);
        let missing = root.path().join("missing");
        assert_eq!(jobs_under(&missing), [missing]);
    }
}
