//! Checksums are compared again after a change of a file, and only then.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use indexer::{Index, OpenError};

use crate::support::World;

/// A world with an index of files from a minute ago, so that their times can be trusted.
fn settled() -> World {
    let world = World::new();
    world.write_version(20, 1);
    world.update();
    for name in world.files() {
        let file = File::options().append(true).open(world.index().join(name));
        let then = SystemTime::now() - Duration::from_secs(60);
        file.expect("opened").set_modified(then).expect("set");
    }
    world
}

#[test]
fn a_file_that_changes_after_it_was_checked_is_found_damaged() {
    for end in [".store", ".term", ".vec"] {
        let world = settled();
        let open = || Index::open(&world.index(), &world.settings);
        assert!(open().is_ok());
        let noted = world.index().join("CHECKED");
        let state = fs::read_to_string(&noted).expect("noted");
        let mut names = world.files().into_iter();
        let name = names.find(|name| name.ends_with(end));
        let name = name.expect("there");
        assert!(state.contains(&name), "{state}");
        let path = world.index().join(&name);
        let whole = fs::read(&path).expect("read");
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        fs::write(&path, flipped).expect("written");
        assert!(matches!(open(), Err(OpenError::Damaged { .. })), "{name}");
        fs::write(&path, whole).expect("written");
        assert!(open().is_ok(), "{name}");
        // A damaged note is no evidence.
        fs::write(&noted, "{").expect("written");
        assert!(open().is_ok(), "{name}");
    }
}

#[test]
fn a_file_that_was_just_written_is_checked_every_time() {
    let world = World::new();
    world.write_version(20, 1);
    world.update();
    world.open();
    assert!(!world.index().join("CHECKED").exists());
}
