//! An index built by version 0.1 is refused, and built anew it answers like a new one. `fixtures/knowledge` are its documents.

use std::fs;
use std::path::Path;

use indexer::{Engine, Index, Query};

use crate::support::{World, fixture};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("listed").flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("copied")),
        }
    }
}

fn old() -> World {
    let world = World::new();
    copy(&fixture("fixtures/knowledge"), &world.knowledge());
    copy(&fixture("fixtures/index-1"), &world.index());
    world
}

#[test]
fn it_is_refused() {
    let world = old();
    let opened = Index::open(&world.index(), &world.settings);
    let refused = opened.err().expect("refused").to_string();
    let updated = world.try_update().expect_err("refused").to_string();
    for message in [refused, updated] {
        assert!(message.contains("has format `5 or older`"), "{message}");
    }
}

#[test]
fn built_anew_it_answers_like_a_new_one() {
    let (world, new) = (old(), World::new());
    world.rebuild(indexer::Rebuild::Full);
    world.assert_whole("built anew");
    copy(&fixture("fixtures/knowledge"), &new.knowledge());
    new.update();
    let skew = "why does one vertex read most rows";
    for query in [skew, "热点键 join", "垃圾回收时间太长"] {
        let hits = world.search(query);
        assert!(!hits.is_empty(), "{query}");
        assert_eq!(hits, new.search(query), "{query}");
    }
    for (engine, expect) in [(Engine::Scope, 5), (Engine::Spark, 0)] {
        let mut query = Query::new(skew, 10);
        query.filter.engine = Some(engine);
        let hits = world.open().search(&query).expect("searched");
        assert_eq!(hits.len(), expect, "{engine:?}");
    }
    world.write("experience/new.md", "# New\n\n## Fix\n\nspecialword\n");
    let summary = world.update();
    let counts = [summary.added.len(), summary.unchanged, summary.embedded];
    assert_eq!(counts, [1, 5, 1]);
    assert_eq!(world.search("specialword")[0], "experience/new.md#fix");
}
