//! Runs the seeds of the fuzz targets, and a corpus if there is one, as plain tests.

#[path = "../../../../tests/fuzz/kinds.rs"]
mod kinds;

use std::path::{Path, PathBuf};

fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz");
    ["seeds", "corpus"]
        .iter()
        .filter_map(|part| std::fs::read_dir(root.join(part).join(target)).ok())
        .flatten()
        .flatten()
        .map(|entry| (entry.path(), std::fs::read(entry.path()).expect("readable")))
        .collect()
}

#[test]
fn readers_take_any_input() {
    let inputs = inputs("readers");
    let options = job::Options::default();
    for kind in kinds::KINDS {
        let seeded = inputs
            .iter()
            .any(|(_, bytes)| bytes.first().is_some_and(|b| kinds::choose(*b) == kind));
        assert!(seeded, "no seed for {kind:?}");
    }
    for (path, bytes) in inputs {
        let Some((choice, file)) = bytes.split_first() else {
            continue;
        };
        for end in [file.len(), file.len() / 2, file.len() / 3] {
            let job = job::read_memory(&[("file", kinds::choose(*choice), &file[..end])], &options);
            assert!(job.diagnostics.len() <= 20, "{}", path.display());
        }
    }
}

#[test]
fn seeds_are_told_apart_by_their_content() {
    for (path, bytes) in inputs("readers") {
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        // made to be hard, or of a form that only its folder explains
        if ["nested", "cut", "bomb", "nul", "numbers"].contains(&name.as_str()) {
            continue;
        }
        let Some((choice, file)) = bytes.split_first() else {
            continue;
        };
        assert_eq!(job::kind_of(file), kinds::choose(*choice), "{name}");
    }
}

#[test]
fn folders_in_memory_are_read_as_one_job() {
    for (path, bytes) in inputs("folder")
        .into_iter()
        .filter(|(p, _)| p.parent().is_some_and(|p| p.ends_with("seeds/folder")))
    {
        let text = String::from_utf8(bytes).expect("seeds are text");
        let parts: Vec<&[u8]> = text.split("=====\n").map(str::as_bytes).collect();
        let files: Vec<_> = parts
            .iter()
            .map(|p| ("file", job::kind_of(p), *p))
            .collect();
        let job = job::read_memory(&files, &job::Options::default());
        assert!(
            job.script.is_some() && !job.stages.is_empty() && !job.tables.is_empty(),
            "{}",
            path.display()
        );
    }
}

#[test]
fn scripts_are_lossless() {
    for (path, bytes) in inputs("script") {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let script = job::script::Script::parse("seed", text.clone());
        assert_eq!(script.tree().print(&text), text, "{}", path.display());
    }
}
