//! Readers and a writer at the same time: no error, and never a mixture of two states.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use indexer::Query;

use crate::support::{World, version_of};

const READERS: usize = 8;
const UPDATES: usize = 50;
const DOCUMENTS: usize = 6;

/// Stops the readers when the writer ends, even by a panic.
struct EndsWith<'a>(&'a AtomicBool);

impl Drop for EndsWith<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn readers_never_see_a_mixture() {
    let world = World::new();
    world.write_version(DOCUMENTS, 0);
    world.update();
    let done = AtomicBool::new(false);
    let searches = AtomicUsize::new(0);
    let read = || {
        let mut last = 0;
        while !done.load(Ordering::Relaxed) {
            let query = Query::new("use salt", DOCUMENTS);
            let hits = world.open().search(&query).expect("searched");
            assert_eq!(hits.len(), DOCUMENTS);
            let mut versions: Vec<usize> =
                hits.iter().map(|hit| version_of(&hit.chunk.text)).collect();
            versions.dedup();
            assert_eq!(versions.len(), 1, "a mixture of {versions:?}");
            assert!(versions[0] >= last, "back from {last} to {}", versions[0]);
            last = versions[0];
            searches.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(read);
        }
        let _ends = EndsWith(&done);
        for version in 1..=UPDATES {
            world.write_version(DOCUMENTS, version);
            assert_eq!(world.update().changed.len(), DOCUMENTS);
        }
    });
    let searches = searches.load(Ordering::Relaxed);
    assert!(searches >= READERS, "the readers had their turn");
    let hits = world.open().search(&Query::new("use salt", 1));
    assert_eq!(version_of(&hits.expect("searched")[0].chunk.text), UPDATES);
}
