//! Readers and a writer at the same time: no error, and never a mixture of two states.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use indexer::build::update;
use indexer::{Index, Query, Settings};

const READERS: usize = 8;
const UPDATES: usize = 50;
const DOCUMENTS: usize = 6;

/// Every document carries the number of its update, so that a mixture shows.
fn write(folder: &std::path::Path, version: usize) {
    for document in 0..DOCUMENTS {
        let text =
            format!("# Document {document}\n\n## Fix\n\nuse salt, state version{version}x\n");
        fs::write(folder.join(format!("doc{document}.md")), text).expect("written");
    }
}

#[test]
fn readers_never_see_a_mixture() {
    let folder = tempfile::tempdir().expect("a folder");
    let (knowledge, index) = (folder.path().join("knowledge"), folder.path().join("index"));
    fs::create_dir(&knowledge).expect("a folder");
    let settings = Settings::default();
    write(&knowledge, 0);
    update(&knowledge, &index, &settings, &mut |_| {}).expect("built");
    let done = AtomicBool::new(false);
    let searches = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let open = Index::open(&index, &settings).expect("opened");
                    let hits = open
                        .search(&Query::new("use salt", DOCUMENTS))
                        .expect("searched");
                    let mut versions: Vec<usize> =
                        hits.iter().map(|hit| version_of(&hit.chunk.text)).collect();
                    assert_eq!(versions.len(), DOCUMENTS);
                    versions.dedup();
                    assert_eq!(versions.len(), 1, "a mixture of {versions:?}");
                    assert!(
                        versions[0] >= last,
                        "went back from {last} to {}",
                        versions[0]
                    );
                    last = versions[0];
                    searches.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for version in 1..=UPDATES {
            write(&knowledge, version);
            let summary = update(&knowledge, &index, &settings, &mut |_| {}).expect("updated");
            assert_eq!(summary.changed.len(), DOCUMENTS);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(
        searches.load(Ordering::Relaxed) >= READERS,
        "the readers had their turn"
    );
    let open = Index::open(&index, &settings).expect("opened");
    let hits = open.search(&Query::new("use salt", 1)).expect("searched");
    assert_eq!(version_of(&hits[0].chunk.text), UPDATES);
}

fn version_of(text: &str) -> usize {
    let number = text
        .split("version")
        .nth(1)
        .and_then(|rest| rest.split('x').next());
    number
        .and_then(|number| number.parse().ok())
        .expect("every text has its version")
}
