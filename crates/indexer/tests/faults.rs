//! A full disk or a missing permission leaves the last good generation, and the error names the file.
//!
//! The disk is filled by a limit on the size of files: the writer is this test program started again below `ulimit -f`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use indexer::build::update;
use indexer::verify::verify;
use indexer::{BuildError, Index, Query, Settings};

const CHILD: &str = "INDEXER_FAULT_CHILD";
const DOCUMENTS: usize = 100;

/// Sizes of the largest file that may be written, in blocks of 512 bytes: from nothing at all to all but the largest file.
const LIMITS: [usize; 5] = [0, 1, 8, 64, 256];

fn write(folder: &Path, version: usize) {
    for document in 0..DOCUMENTS {
        let text = format!(
            "# Document {document}\n\n## Fix\n\nuse salt number{document}x, state version{version}x\n"
        );
        fs::write(folder.join(format!("doc{document}.md")), text).expect("written");
    }
}

fn served(index: &Path) -> String {
    let open = Index::open(index, &Settings::default()).expect("opened");
    let hits = open.search(&Query::new("salt number7x", 1));
    hits.expect("searched").remove(0).chunk.text
}

#[test]
fn a_full_disk_leaves_the_last_good_generation() {
    if let Ok(folder) = std::env::var(CHILD) {
        let (knowledge, index) = (
            Path::new(&folder).join("knowledge"),
            Path::new(&folder).join("index"),
        );
        match update(&knowledge, &index, &Settings::default(), &mut |_| {}) {
            Ok(_) => return,
            Err(error) => panic!("refused: {error}"),
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (knowledge, index) = (folder.path().join("knowledge"), folder.path().join("index"));
    fs::create_dir(&knowledge).expect("a folder");
    write(&knowledge, 1);
    update(&knowledge, &index, &Settings::default(), &mut |_| {}).expect("built");
    write(&knowledge, 2);
    let mut refused = 0;
    for limit in LIMITS {
        let output = below(limit, folder.path());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            assert!(served(&index).contains("version2x"), "limit {limit}");
            break;
        }
        refused += 1;
        // 101 is a panic of the test; a signal or an abort would be another end.
        assert_eq!(output.status.code(), Some(101), "limit {limit}: {said}");
        assert!(said.contains("refused: "), "limit {limit}: {said}");
        assert!(said.contains("still in place"), "limit {limit}: {said}");
        assert!(served(&index).contains("version1x"), "limit {limit}");
        let verified = verify(&index, &Settings::default(), &mut |_| {}).expect("verified");
        assert!(
            verified.is_whole(),
            "limit {limit}: {:?}",
            verified.problems
        );
    }
    assert!(refused >= 3, "the limits were never reached");
    write(&knowledge, 3);
    update(&knowledge, &index, &Settings::default(), &mut |_| {}).expect("there is room again");
    assert!(served(&index).contains("version3x"));
    let generations = fs::read_dir(&index).expect("listed").flatten();
    let generations = generations.filter(|e| e.file_name().to_string_lossy().starts_with("gen-"));
    assert_eq!(generations.count(), 1, "half-built generations are removed");
}

/// Runs the update where no file may grow beyond `limit` blocks; a write beyond is an error, as on a full disk.
fn below(limit: usize, folder: &Path) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .arg(std::env::current_exe().expect("this program"));
    command.args([
        "--exact",
        "a_full_disk_leaves_the_last_good_generation",
        "--nocapture",
    ]);
    command.env(CHILD, folder).output().expect("started")
}

#[test]
fn a_missing_permission_leaves_the_last_good_generation() {
    let folder = tempfile::tempdir().expect("a folder");
    let (knowledge, index) = (folder.path().join("knowledge"), folder.path().join("index"));
    fs::create_dir(&knowledge).expect("a folder");
    write(&knowledge, 1);
    let settings = Settings::default();
    update(&knowledge, &index, &settings, &mut |_| {}).expect("built");
    write(&knowledge, 2);
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
    };

    allow(&index, 0o555);
    if fs::write(index.join("probe"), "").is_ok() {
        testkit::skip("a missing permission", "this user may write everywhere");
        return;
    }
    let refused = update(&knowledge, &index, &settings, &mut |_| {});
    allow(&index, 0o755);
    assert!(
        matches!(refused, Err(BuildError::Write { .. })),
        "{refused:?}"
    );
    assert!(served(&index).contains("version1x"));

    let document = knowledge.join("doc7.md");
    allow(&document, 0o000);
    let refused = update(&knowledge, &index, &settings, &mut |_| {});
    allow(&document, 0o644);
    match refused {
        Err(BuildError::Read { path, .. }) => assert_eq!(path, document),
        other => panic!("{other:?}"),
    }
    assert!(served(&index).contains("version1x"));
    update(&knowledge, &index, &settings, &mut |_| {}).expect("allowed again");
    assert!(served(&index).contains("version2x"));
}
