//! A full disk or a missing permission leaves the last good generation, and the error names the file.
//!
//! A limit on the size of files stands for a full disk: the writer is this test program, started again below `ulimit -f`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use indexer::{BuildError, Query};

use crate::support::{World, version_of};

const DOCUMENTS: usize = 100;

/// Limits of the file size, in blocks of 512 bytes: from zero to just below the largest file.
const LIMITS: [usize; 5] = [0, 1, 8, 64, 256];

fn served(world: &World) -> usize {
    let hits = world.open().search(&Query::new("salt number7x", 1));
    version_of(&hits.expect("searched").remove(0).chunk.text)
}

#[test]
fn a_full_disk_leaves_the_last_good_generation() {
    if let Some(world) = World::of_parent() {
        let updated = world.try_update();
        return drop(updated.unwrap_or_else(|error| panic!("refused: {error}")));
    }
    let world = World::new();
    world.write_version(DOCUMENTS, 1);
    world.update();
    world.write_version(DOCUMENTS, 2);
    let mut refused = 0;
    for limit in LIMITS {
        // A write beyond the limit is an error, as on a full disk.
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"");
        let test = "faults::a_full_disk_leaves_the_last_good_generation";
        let mut child = world.child(&["sh", "-c", &script], test);
        let output = child.output().expect("started");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            assert_eq!(served(&world), 2, "limit {limit}");
            break;
        }
        refused += 1;
        // 101 is a panic of the test; a signal or an abort would be another end.
        assert_eq!(output.status.code(), Some(101), "limit {limit}: {said}");
        assert!(said.contains("refused: "), "limit {limit}: {said}");
        assert!(said.contains("still in place"), "limit {limit}: {said}");
        assert_eq!(served(&world), 1, "limit {limit}");
        world.assert_whole(&format!("limit {limit}"));
    }
    assert!(refused >= 3, "the limits were never reached");
    world.write_version(DOCUMENTS, 3);
    world.update();
    assert_eq!(served(&world), 3, "there is space again");
    assert_eq!(
        world.left_over(),
        [""; 0],
        "files of failed writers are removed"
    );
}

#[test]
fn a_missing_permission_leaves_the_last_good_generation() {
    let world = World::new();
    world.write_version(DOCUMENTS, 1);
    world.update();
    world.write_version(DOCUMENTS, 2);
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
    };

    allow(&world.index(), 0o555);
    if fs::write(world.index().join("probe"), "").is_ok() {
        let reason = "this user may write everywhere";
        return testkit::skip("an index without permission", reason);
    }
    let refused = world.try_update();
    allow(&world.index(), 0o755);
    let is_expected = matches!(
        refused,
        Err(BuildError::Write { .. } | BuildError::Lexical { .. })
    );
    assert!(is_expected, "{refused:?}");
    assert_eq!(served(&world), 1);

    let document = world.knowledge().join("doc7.md");
    allow(&document, 0o000);
    let refused = world.try_update();
    allow(&document, 0o644);
    match refused {
        Err(BuildError::Read { path, .. }) => assert_eq!(path, document),
        other => panic!("{other:?}"),
    }
    assert_eq!(served(&world), 1);
    world.update();
    assert_eq!(served(&world), 2);
}
