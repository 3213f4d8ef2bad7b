//! An index built by version 0.1 is refused, and has the same answers after a rebuild. `fixtures/knowledge` are its documents.

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

/// Hits as version 0.1 gave them, except that two of the second query, .003 apart, have changed places since the embedder has four bits to a
/// number; scores differ by up to .012 for the same reason.
const ANSWERS: [(&str, &[(&str, f32)]); 3] = [
    (
        "why does one vertex read most rows",
        &[
            ("experience/skew.md#symptom", 1.03),
            ("files.toml#profile", 0.480_884),
            ("cases/late-orders.md#top", 0.277_185),
            ("experience/skew.md#fix", 0.086_324),
            ("experience/skew.md#hint", 0.0448),
        ],
    ),
    (
        "热点键 join",
        &[
            ("experience/skew.md#fix", 0.991_984),
            ("experience/skew.md#symptom", 0.991_532),
            ("experience/skew.md#hint", 0.934_664),
            ("files.toml#profile", 0.573_216),
            ("cases/late-orders.md#top", 0.361_357),
        ],
    ),
    (
        "垃圾回收时间太长",
        &[
            ("experience/gc-zh.md#症状", 1.03),
            ("experience/gc-zh.md#修复", 0.689_851),
        ],
    ),
];

fn assert_answers(world: &World) {
    for (text, expected) in ANSWERS {
        let hits = world.open().search(&Query::new(text, 10));
        let hits = hits.expect("searched");
        assert_eq!(hits.len(), expected.len(), "{text}");
        for (hit, (id, score)) in hits.iter().zip(expected) {
            assert_eq!(hit.chunk.id, *id, "{text}");
            assert!(
                (hit.score - score).abs() < 1e-4,
                "{text}, {id}: {}",
                hit.score
            );
        }
    }
}

#[test]
fn it_is_refused() {
    let world = old();
    let opened = Index::open(&world.index(), &world.settings);
    let refused = opened.err().expect("refused").to_string();
    let updated = world.try_update().expect_err("refused").to_string();
    for message in [refused, updated] {
        assert!(message.contains("has format `1`"), "{message}");
    }
}

#[test]
fn built_anew_it_answers_as_it_did() {
    let world = old();
    world.rebuild(indexer::Rebuild::Full);
    world.assert_whole("built anew");
    assert_answers(&world);
    for (engine, expect) in [(Engine::Scope, 5), (Engine::Spark, 0)] {
        let mut query = Query::new(ANSWERS[0].0, 10);
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
