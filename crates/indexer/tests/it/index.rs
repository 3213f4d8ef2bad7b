//! Build, search, update, reopen.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use indexer::build::{update, update_chunks, update_from};
use indexer::{
    BuildError, Chunk, Engine, Filter, Fusion, Hit, Index, Kind, Language, Match, OnnxModel,
    OpenError, Query, Rebuild, Reranker, Section, Settings,
};
use tempfile::TempDir;

use crate::support::{World, ids};

const SKEW: &str = "---\nid: skew\ntitle: Hot key in a join\nlanguage: en\nproblem_type: data_skew\n\
causes: [skew.join_hot_key]\nkeywords: [SKEWJOIN]\n---\n# Hot key in a join\n\n## Symptom\n\nOne vertex of SV3_Combine reads most rows.\n\n\
## Fix\n\nAdd a salt to the hot key, then aggregate twice.\n";
const GC: &str = "---\nid: gc\ntitle: 垃圾回收压力\nlanguage: zh\nproblem_type: other\ncauses: gc.heap_pressure\n---\n# 垃圾回收压力\n\n\
## 症状\n\n托管算子把大量时间花在垃圾回收上。\n\n## 修复\n\n减少每行分配的对象，复用缓冲区。\n";
const GLOSSARY: &str = "[[term]]\nzh = [\"热点键\"]\nen = [\"hot key\"]\n";

fn world() -> World {
    let world = World::new();
    world.write("experience/skew.md", SKEW);
    world.write("experience/gc-zh.md", GC);
    world.write("glossary.toml", GLOSSARY);
    world
}

fn edited() -> String {
    SKEW.replace("Add a salt", "Use a broadcast hint")
}

/// Whether any of these ids starts with `path`.
fn has(ids: &[String], path: &str) -> bool {
    ids.iter().any(|id| id.starts_with(path))
}

#[test]
fn both_languages_and_identifiers_are_found() {
    let world = world();
    let summary = world.update();
    assert_eq!(summary.added.len(), 3);
    assert!(summary.rebuilt && summary.embedded > 0);
    for (query, first) in [
        ("salt the hot key", "experience/skew.md#fix"),
        ("怎么处理垃圾回收时间太长的问题", "experience/gc-zh.md#修复"),
        ("sv3_combine", "experience/skew.md#symptom"),
    ] {
        assert_eq!(world.search(query)[0], first);
    }
    // by the glossary
    assert!(has(&world.search("热点键怎么办"), "experience/skew.md"));
}

#[test]
fn a_hit_shows_how_it_came_to_its_rank() {
    let world = world();
    world.update();
    let hits = world.open().search(&Query::new("salt the hot key", 3));
    let first = &hits.expect("searched")[0];
    assert_eq!(first.rank, 1);
    assert!(first.bm25_rank.is_some());
    assert!(first.vector_score.is_some() && first.fused > 0.0);
    assert_eq!(first.chunk.section, Some(Section::Fix));
    assert_eq!(first.chunk.kind, Kind::Experience);
    assert_eq!(first.chunk.language, Language::En);
    assert_eq!(first.chunk.line, 15);
    assert!(first.chunk.text.starts_with("## Fix"));
}

#[test]
fn filters_come_before_the_search() {
    let world = world();
    world.update();
    let index = world.open();
    let mut query = Query::new("salt the hot key 垃圾", 10);
    query.filter.languages = vec![Language::Zh];
    let hits = index.search(&query).expect("searched");
    assert!(hits.iter().all(|hit| hit.chunk.language == Language::Zh));
    assert!(!hits.is_empty(), "the rest is ranked");
    query.filter = Filter {
        causes: vec!["skew.".to_owned()],
        sections: vec![Section::Symptom],
        ..Filter::default()
    };
    assert_eq!(ids(&index, &query), ["experience/skew.md#symptom"]);
    query.filter.sections.clear();
    query.filter.causes = vec!["queue.wait".to_owned()];
    assert!(ids(&index, &query).is_empty());
}

#[test]
fn a_filter_changes_no_score() {
    let world = world();
    world.update();
    // The words are then in two segments, and one of the segments has dead chunks.
    world.write("experience/skew.md", &edited());
    world.update();
    let index = world.open();
    let mut query = Query::new("hot key 垃圾回收 vertex 热点", 100);
    query.fusion = Some(Fusion::Bm25);
    let found = |query: &Query<'_>| {
        let hits = index.search(query).expect("searched").into_iter();
        let mut hits: Vec<(String, Language, f32)> = hits
            .map(|hit| {
                let score = hit.bm25_score.expect("found by words");
                (hit.chunk.id.clone(), hit.chunk.language, score)
            })
            .collect();
        hits.sort_by(|a, b| a.0.cmp(&b.0));
        hits
    };
    let all = found(&query);
    for language in [Language::Zh, Language::En] {
        query.filter.languages = vec![language];
        let passing: Vec<_> = all.iter().filter(|hit| hit.1 == language).collect();
        let filtered = found(&query);
        assert!(passing.len() > 1);
        assert_eq!(filtered.len(), passing.len());
        for (filtered, passing) in filtered.iter().zip(passing) {
            assert_eq!(filtered.0, passing.0);
            assert!((filtered.2 - passing.2).abs() < 1e-4 * passing.2);
        }
    }
}

#[test]
fn an_engine_selects_its_documents_and_those_of_every_engine() {
    let world = World::new();
    for (name, engine) in [
        ("unmarked", ""),
        ("scope", "engine: scope\n"),
        ("spark", "engine: spark\n"),
        ("any", "engine: any\n"),
    ] {
        let text = format!("---\nid: {name}\n{engine}---\n# Salt\n\n## Fix\n\nsalt the hot key\n");
        world.write(&format!("experience/{name}.md"), &text);
    }
    world.update();
    for (engine, expect) in [
        (None, &["any", "scope", "spark", "unmarked"][..]),
        (Some(Engine::Scope), &["any", "scope", "unmarked"]),
        (Some(Engine::Spark), &["any", "spark"]),
        (Some(Engine::Any), &["any"]),
    ] {
        for fusion in [Fusion::Bm25, Fusion::Vector] {
            let mut query = Query::new("salt the hot key", 10);
            (query.filter.engine, query.fusion) = (engine, Some(fusion));
            let mut found = ids(&world.open(), &query);
            found.sort();
            let expect = expect
                .iter()
                .map(|name| format!("experience/{name}.md#fix"));
            assert_eq!(found, expect.collect::<Vec<_>>(), "{engine:?} {fusion:?}");
        }
    }
}

#[test]
fn preference_and_prior_move_what_is_alike() {
    let world = world();
    world.update();
    let index = world.open();
    let mut query = Query::new("hot key", 5);
    let first = ids(&index, &query)[0].clone();
    let lowered = first.clone();
    let prior = move |id: &str| if id == lowered { -1.0 } else { 1.0 };
    query.prior = Some(&prior);
    let hits = index.search(&query).expect("searched");
    assert!(hits.iter().any(|hit| hit.chunk.id == first), "still there");
    let is_right = |hit: &Hit| match hit.chunk.id == first {
        true => hit.prior < 0.0,
        false => hit.prior > 0.0,
    };
    assert!(hits.iter().all(is_right));
    query.prior = None;
    query.prefer.sections = vec![Section::Fix];
    let hits = index.search(&query).expect("searched");
    let boost = |section| {
        let of_it = hits.iter().filter(|hit| hit.chunk.section == section);
        of_it.map(|hit| hit.boost).fold(0.0, f32::max)
    };
    assert!(boost(Some(Section::Fix)) > boost(Some(Section::Symptom)));
    assert!(hits.iter().all(|hit| hit.chunk.kind != Kind::Glossary));
    query.filter.kinds = vec![Kind::Glossary];
    assert_eq!(ids(&index, &query), ["glossary.toml#hot-key"]);
}

#[test]
fn an_update_touches_what_changed() {
    let world = world();
    world.update();
    assert!(!world.update().rebuilt, "nothing changed");
    let before = world.open();

    world.write("experience/skew.md", &edited());
    let summary = world.update();
    assert_eq!(summary.changed, ["experience/skew.md"]);
    assert_eq!((summary.embedded, summary.unchanged), (1, 2));
    let after = world.open();
    let text = |index: &Index| index.chunk("experience/skew.md#fix").expect("there").text;
    assert!(text(&after).contains("broadcast"));
    // a reader keeps its generation
    assert!(text(&before).contains("salt"));

    let (old, new) = ("experience/gc-zh.md", "cases.md");
    let knowledge = world.knowledge();
    fs::rename(knowledge.join(old), knowledge.join(new)).expect("moved");
    let summary = world.update();
    assert_eq!(summary.moved, [(old.to_owned(), new.to_owned())]);
    assert_eq!(summary.embedded, 0);
    assert!(world.search("垃圾回收")[0].starts_with("cases.md#"));

    fs::remove_file(world.knowledge().join("cases.md")).expect("removed");
    let summary = world.update();
    assert_eq!(summary.removed, ["cases.md"]);
    assert!(!has(&world.search("垃圾回收"), "cases.md"));
}

/// Ids of all chunks that a query brings up in each branch and in both, and whether a text among them has `word`.
fn brings_up(index: &Index, text: &str, word: &str) -> (Vec<String>, bool) {
    let mut query = Query::new(text, 50);
    let (mut found, mut old) = (Vec::new(), false);
    for fusion in [None, Some(Fusion::Bm25), Some(Fusion::Vector)] {
        query.fusion = fusion;
        for hit in index.search(&query).expect("searched") {
            old |= hit.chunk.text.contains(word);
            found.push(hit.chunk.id.clone());
        }
    }
    (found, old)
}

#[test]
fn what_was_edited_renamed_or_deleted_never_comes_back() {
    // With few documents an update rewrites the index, with many it marks rows as dead: both ways.
    for others in [0, 400] {
        let world = world();
        for other in 0..others {
            let text = format!("# Other {other}\n\n## Fix\n\nword{other}x and the hot key\n");
            world.write(&format!("experience/other{other}.md"), &text);
        }
        world.write("experience/gone.md", "# Gone\n\n## Fix\n\nvanishing salt\n");
        world.update();
        let before = world.open();
        assert!(brings_up(&before, "add a salt to the hot key", "Add a salt").1);

        world.write("experience/skew.md", &edited());
        let folder = world.knowledge().join("experience");
        fs::rename(folder.join("gc-zh.md"), folder.join("gc-new-zh.md")).expect("moved");
        fs::remove_file(folder.join("gone.md")).expect("removed");
        world.update();
        let (_, kept) = brings_up(&before, "vanishing salt", "vanishing");
        assert!(kept, "a reader keeps its generation");
        drop(before);
        let reopened = world.open();
        let (_, old) = brings_up(&reopened, "add a salt to the hot key", "Add a salt");
        assert!(!old, "the old text of an edited document");
        let (found, old) = brings_up(&reopened, "vanishing salt", "vanishing");
        assert!(!old && !has(&found, "experience/gone.md"));
        let (found, _) = brings_up(&reopened, "垃圾回收时间", "-");
        assert!(has(&found, "experience/gc-new-zh.md#"));
        assert!(!has(&found, "experience/gc-zh.md#"));
    }
}

#[test]
fn rebuilds_give_the_same_answers() {
    let world = world();
    let first = world.update();
    let answers = world.search("hot key 垃圾回收");
    for (rebuild, embeds) in [
        (Rebuild::Rechunk, false),
        (Rebuild::Reembed, true),
        (Rebuild::Full, true),
    ] {
        let summary = world.rebuild(rebuild);
        assert_eq!(summary.embedded > 0, embeds, "{rebuild:?}");
        assert_ne!(summary.generation, first.generation);
        assert_eq!(world.search("hot key 垃圾回收"), answers);
    }
}

#[test]
fn documents_may_come_from_memory() {
    let folder = TempDir::new().expect("a folder");
    let documents = [("experience/skew.md", SKEW), ("experience/gc-zh.md", GC)];
    let documents = documents.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let settings = Settings::default();
    let build = || update_from(documents.clone(), "", folder.path(), &settings, &mut |_| {});
    assert_eq!(build().expect("built").added.len(), 2);
    assert!(!build().expect("built").rebuilt);
    let index = Index::open(folder.path(), &settings).expect("opened");
    assert_eq!(index.info().documents, 2);
}

#[test]
fn what_is_missing_or_damaged_is_named() {
    let world = world();
    let missing = Index::open(&world.index(), &Settings::default());
    assert!(matches!(missing, Err(OpenError::Missing { .. })));

    world.update();
    let embedder = world.open().info().embedder;
    world.change_manifest(&embedder, "another model");
    let open = || Index::open(&world.index(), &Settings::default()).map(drop);
    match open() {
        Err(OpenError::Mismatch(mismatch)) => {
            assert_eq!((mismatch.what, mismatch.remedy), ("embedder", "--reembed"));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(world.try_update(), Err(BuildError::Mismatch(_))));
    world.rebuild(Rebuild::Reembed);
    assert!(!world.search("hot key").is_empty());

    let meta = world.index().join("meta.json");
    let text = fs::read_to_string(&meta).expect("read");
    assert!(text.contains("chunker"));
    fs::write(&meta, text.replace("chunker", "chopper")).expect("written");
    assert!(matches!(open(), Err(OpenError::Damaged { .. })));
    world.rebuild(Rebuild::Full);

    for end in [".vec", ".store", "meta.json"] {
        let files = world.files();
        let file = files.iter().find(|name| name.ends_with(end));
        fs::write(world.index().join(file.expect("there")), b"cut").expect("written");
        assert!(matches!(open(), Err(OpenError::Damaged { .. })), "{end}");
        world.rebuild(Rebuild::Full);
        assert!(!world.search("hot key").is_empty());
    }
}

#[test]
fn an_empty_folder_does_not_empty_the_index() {
    let world = world();
    world.update();
    let empty = TempDir::new().expect("a folder");
    let from = |folder| update(folder, &world.index(), &world.settings, &mut |_| {});
    let refused = from(empty.path());
    assert!(matches!(refused, Err(BuildError::NoDocuments { .. })));
    let absent = from(Path::new("/nowhere/at/all"));
    assert!(matches!(absent, Err(BuildError::Read { .. })));
    assert!(!world.search("hot key").is_empty());
}

#[test]
fn a_reader_keeps_its_commit_and_old_files_go() {
    let world = world();
    world.update();
    let reader = world.open();
    world.write("experience/new.md", "# New\n\ntext about spilling\n");
    world.update();
    assert_eq!(world.left_over(), [""; 0]);
    assert!(reader.chunk("experience/new.md#top").is_none());
    assert!(world.open().chunk("experience/new.md#top").is_some());
    assert!(!ids(&reader, &Query::new("hot key", 3)).is_empty());
}

#[test]
fn vectors_out_of_use_are_left_behind() {
    let world = world();
    world.update();
    let rows = || world.open().info();
    for version in 0..12 {
        let text = SKEW.replace("Add a salt", &format!("Use hint{version}x"));
        world.write("experience/skew.md", &text);
        world.update();
        let info = rows();
        assert!(
            info.dead <= info.chunks + 2,
            "{} of {}",
            info.dead,
            info.chunks
        );
    }
    world.assert_whole("after many edits");
    let vectors = world.files().into_iter();
    assert_eq!(vectors.filter(|name| name.ends_with(".vec")).count(), 1);
}

#[test]
fn what_this_build_lacks_is_named() {
    let world = world();
    world.update();
    let settings = Settings {
        reranker: Some(Reranker {
            model: OnnxModel {
                name: "no-such-model".to_owned(),
                ..OnnxModel::default()
            },
            depth: 20,
        }),
        ..Settings::default()
    };
    let refused = Index::open(&world.index(), &settings).map(|_| ());
    assert!(matches!(refused, Err(OpenError::Embed(_))), "{refused:?}");
}

#[test]
fn a_broken_document_is_skipped_with_its_place_until_it_is_fixed() {
    let world = world();
    world.update();
    world.write(
        "experience/gc-zh.md",
        &GC.replace("causes: gc", "causes: [gc"),
    );
    world.write("glossary.toml", "[[term]]\nzh = \n");
    let summary = world.update();
    let skipped = summary.skipped.iter().map(|s| (&*s.document, s.line));
    let expected = [("experience/gc-zh.md", 6), ("glossary.toml", 2)];
    assert_eq!(skipped.collect::<Vec<_>>(), expected);
    assert!(has(&world.search("hot key"), "experience/skew.md"));
    assert!(!has(&world.search("垃圾回收"), "experience/gc-zh.md"));
    assert_eq!(world.update().skipped.len(), 2, "named every time");
    world.write("experience/gc-zh.md", GC);
    world.write("glossary.toml", GLOSSARY);
    assert!(world.update().skipped.is_empty());
    assert!(has(&world.search("垃圾回收"), "experience/gc-zh.md"));
}

#[test]
fn an_index_is_not_emptied_by_broken_documents() {
    let world = World::new();
    world.write("a.md", "---\ncauses: [a\n---\ntext\n");
    let refused = world.try_update().expect_err("refused").to_string();
    assert!(refused.contains("a.md:2"), "{refused}");
}

#[test]
fn an_index_older_than_its_documents_is_noticed() {
    let world = world();
    world.update();
    let outdated = || indexer::build::outdated(&world.knowledge(), &world.index()).expect("known");
    assert_eq!(outdated(), 0);
    world.write("experience/skew.md", SKEW);
    assert_eq!(outdated(), 0, "written again with the same text");
    world.write("experience/skew.md", &edited());
    world.write("new.md", "# New\n\ntext\n");
    fs::remove_file(world.knowledge().join("experience/gc-zh.md")).expect("removed");
    assert_eq!(outdated(), 3);
    world.update();
    assert_eq!(outdated(), 0);
    world.write("cases/open.md", "# Open\n\nFILL IN: the change\n");
    assert_eq!(outdated(), 0, "an update leaves unfinished cases out");
}

#[test]
fn a_document_is_read_again_unless_its_time_says_that_nobody_wrote_it() {
    let world = World::new();
    world.write("a.md", "# Other\n\nnothing\n");
    let path = world.knowledge().join("b.md");
    let write = |word: &str, written: SystemTime| {
        world.write("b.md", &format!("# Page\n\n{word}\n"));
        let file = fs::File::options().append(true).open(&path);
        file.and_then(|file| file.set_modified(written))
            .expect("dated");
    };
    let changed = || world.update().changed.len();
    // Within one tick of the clock, time and size may stay the same.
    let now = SystemTime::now();
    write("skew", now);
    world.update();
    write("join", now);
    assert_eq!(changed(), 1);
    let long_ago = now - Duration::from_hours(1);
    write("sort", long_ago);
    assert_eq!(changed(), 1);
    write("scan", long_ago);
    assert_eq!(changed(), 0, "it was not read");
    write("scan", now);
    assert_eq!(changed(), 1);
}

#[test]
fn a_question_about_something_else_fits_nothing() {
    let world = world();
    world.update();
    let fits = |text: &str| {
        let hits = world.open().search(&Query::new(text, 5)).expect("searched");
        hits.iter().any(|hit| hit.fit == Match::Strong)
    };
    assert!(fits("salt the hot key of a join"));
    assert!(fits("怎么减少垃圾回收"));
    assert!(!fits("which ingress controller terminates websockets"));
    assert!(!fits("红烧肉怎么做"));
    let mut query = Query::new("websockets", 5);
    query.filter.causes = vec!["skew.join_hot_key".to_owned()];
    let hits = world.open().search(&query).expect("searched");
    let named = hits.iter().all(|hit| hit.fit == Match::Strong);
    assert!(named, "its author says that the document covers the cause");
}

#[test]
fn documents_of_one_chunk_each_are_indexed() {
    let world = World::new();
    let chunk = |id: &str, text: &str| Chunk::whole(id.to_owned(), Kind::Document, text.to_owned());
    let build = |chunks: &[Chunk]| {
        let updated = update_chunks(
            chunks.to_vec(),
            &world.index(),
            &world.settings,
            &mut |_| {},
        );
        updated.expect("updated")
    };
    let mut chunks = [chunk("d1", "a hot key"), chunk("d2", "垃圾回收的压力")];
    assert_eq!(build(&chunks).chunks, 2);
    assert_eq!(world.search("垃圾回收")[0], "d2");
    chunks[0].title = "Salting".to_owned();
    assert_eq!(build(&chunks).changed, ["d1"]);
    assert_eq!(world.search("salting")[0], "d1");
}
