//! An index kept open: graphs answer as the scan does, and updates are seen.

use std::fs;

use indexer::{Fusion, Index, Language, OpenError, Query, Session, Settings};

use crate::support::{World, ids};

fn world() -> World {
    let mut world = World::new();
    world.settings.graph_from = 1;
    for number in 0..400 {
        let topic = ["salt", "spill", "sort", "skew"][number % 4];
        let stage = number / 7;
        let fix = format!("word{number}x {topic} of the hot key in stage {stage}");
        let text = format!("# Document {number}\n\n## Fix\n\n{fix}\n");
        world.write(&format!("experience/doc{number}.md"), &text);
    }
    let chinese = "# 垃圾回收\n\n## 修复\n\n减少垃圾回收\n";
    world.write("experience/gc-zh.md", chinese);
    world.update();
    world
}

fn assert_alike(by_graph: &Index, by_scan: &Index) {
    for text in "salt of the hot key|word17x|垃圾回收|spill in stage 12".split('|') {
        let mut query = Query::new(text, 10);
        query.fusion = Some(Fusion::Vector);
        for languages in [vec![], vec![Language::Zh], vec![Language::En]] {
            query.filter.languages = languages;
            assert_eq!(ids(by_graph, &query), ids(by_scan, &query), "{text}");
        }
    }
}

#[test]
fn graphs_answer_as_the_scan_does() {
    let world = world();
    let session = Session::open(&world.index(), &world.settings).expect("opened");
    let graphs = || fs::read_dir(world.index().join("graph")).map_or(0, Iterator::count);
    let check = || {
        let open = session.current().expect("current");
        session.wait_for_graphs();
        assert_alike(&open, &world.open());
    };
    check();
    assert_eq!(graphs(), 1);
    // A dead row, and one that is newer than the graph.
    let text = "# Document 17\n\n## Fix\n\nsalt, again\n";
    world.write("experience/doc17.md", text);
    world.update();
    check();
    assert_eq!(graphs(), 1);
    // An update removes the graph of vectors that are gone.
    world.rebuild(indexer::Rebuild::Full);
    assert_eq!(graphs(), 0);
    check();
}

#[test]
fn a_session_serves_what_an_update_made() {
    let world = world();
    let session = Session::open(&world.index(), &world.settings).expect("opened");
    let before = session.current().expect("current");
    let again = session.current().expect("current");
    assert_eq!(before.info().generation, again.info().generation);
    world.write("experience/new.md", "# New\n\n## Fix\n\nspecialword\n");
    world.update();
    let after = session.current().expect("current");
    assert!(after.chunk("experience/new.md#fix").is_some());
    // a caller keeps its generation
    assert!(before.chunk("experience/new.md#fix").is_none());
    // a reader that follows the commit may create its lock file meanwhile
    let mut attempts = (0..100).map(|_| fs::remove_dir_all(world.index()));
    assert!(attempts.any(|removed| removed.is_ok()), "removed");
    assert!(session.current().is_ok(), "an open index stays open");
}

#[test]
fn a_session_without_an_index_is_refused() {
    let world = World::new();
    let refused = Session::open(&world.index(), &Settings::default()).err();
    assert!(matches!(refused, Some(OpenError::Missing { .. })));
}
