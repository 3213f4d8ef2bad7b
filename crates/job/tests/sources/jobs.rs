//! Jobs for tests of the sources of numbers: the project's cases and the shared samples.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

/// Event logs of the shared samples that are looked at.
const LOGS: usize = 4;

/// Results of `look` for each job, several jobs at the same time.
pub(crate) fn each<T: Send>(look: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let jobs = jobs();
    let looked = jobs.par_iter().with_max_len(1).map(|path| look(path));
    looked.collect()
}

fn jobs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut jobs: Vec<PathBuf> = Vec::new();
    for case in sorted(&root.join("tests/cases")) {
        match case.join("job") {
            folder if folder.is_dir() => jobs.push(folder),
            _ if case.is_dir() => jobs.extend(named(&case, "app-")),
            _ => {}
        }
    }
    for (name, start, most) in [
        ("jobs-dev", "job-", usize::MAX),
        ("spark-dev/logs", "app-", LOGS),
    ] {
        let folder = testkit::shared(name);
        jobs.extend(
            folder
                .iter()
                .flat_map(|folder| named(folder, start))
                .take(most),
        );
    }
    jobs
}

fn named(folder: &Path, start: &'static str) -> impl Iterator<Item = PathBuf> {
    let is_job = move |path: &PathBuf| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with(start))
    };
    sorted(folder).into_iter().filter(is_job)
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    paths
}
