//! Questions that documents say they answer.

use std::fs;

use indexer::expand::{Found, Page};
use indexer::{Query, Rebuild, Section};

use crate::support::{World, ids};

fn page(questions: &[&str], text: &str) -> String {
    let questions: Vec<String> = questions.iter().map(|q| format!("  - \"{q}\"\n")).collect();
    format!(
        "---\ntitle: Page\nquestions:\n{}---\n# Page\n\n## Cause\n\nsalt divides a hot key\n\n## Fix\n\n{text}\n",
        questions.concat()
    )
}

fn world() -> World {
    let world = World::new();
    world.write(
        "experience/skew.md",
        &page(&["why does everybody wait for the last vertex"], "add salt"),
    );
    world.write(
        "experience/spill.md",
        "# Spill\n\n## Fix\n\nmore memory for the sort\n",
    );
    world.update();
    world
}

#[test]
fn a_page_is_found_by_its_questions_and_a_passage_of_it_is_shown() {
    let world = world();
    let index = world.open();
    let query = Query::new("everybody waits for the last vertex", 5);
    let hits = index.search(&query).expect("searched");
    assert_eq!(hits[0].chunk.document, "experience/skew.md");
    let similar = hits.iter().filter(|hit| hit.question_score > Some(0.0));
    let pages: Vec<&str> = similar.map(|hit| &*hit.chunk.document).collect();
    assert_eq!(pages[0], "experience/skew.md");
    assert!(pages.iter().all(|page| *page == pages[0]));
    assert!(hits.iter().all(|hit| !hit.chunk.text.contains("everybody")));
    let mut query = Query::new("everybody waits for the last vertex, add salt", 1);
    query.filter.engine = Some(indexer::Engine::Scope);
    assert_eq!(ids(&index, &query), ["experience/skew.md#fix"]);
}

#[test]
fn questions_are_updated_with_their_page() {
    let world = world();
    world.assert_whole("built");
    world.write(
        "experience/skew.md",
        &page(&["does zanzibar matter"], "add salt"),
    );
    let summary = world.update();
    assert_eq!(
        (summary.changed.len(), summary.embedded),
        (1, 0),
        "questions have no vectors"
    );
    world.assert_whole("updated");
    assert_eq!(
        world.search("zanzibar")[0].split('#').next(),
        Some("experience/skew.md")
    );
    assert_eq!(world.rebuild(Rebuild::Rechunk).embedded, 0);
    world.assert_whole("chunked again");
    world.write("experience/skew.md", &page(&[], "add salt"));
    world.update();
    world.assert_whole("without questions");
    let hits = world.open().search(&Query::new("zanzibar salt", 5));
    let hits = hits.expect("searched");
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.question_score.is_none()));
}

#[test]
fn questions_of_a_document_without_text_speak_against_every_answer() {
    let world = world();
    let elsewhere = |query: &str| {
        let hits = world.open().search(&Query::new(query, 5));
        let hits = hits.expect("searched");
        assert!(hits.iter().all(|hit| hit.chunk.document != "elsewhere.md"));
        hits.first().map(|hit| hit.evidence.elsewhere)
    };
    let asked = "more memory for the replica of a database";
    assert_eq!(elsewhere(asked), Some(0.0));
    let listed =
        "---\ntitle: Other systems\nquestions:\n  - \"a replica of our database lags\"\n---\n";
    world.write("elsewhere.md", listed);
    world.update();
    world.assert_whole("with questions that are answered nowhere");
    assert!(elsewhere(asked) > Some(0.0));
    assert_eq!(elsewhere("more salt for the last vertex"), Some(0.0));
    fs::remove_file(world.knowledge().join("elsewhere.md")).expect("removed");
    world.update();
    assert_eq!(elsewhere(asked), Some(0.0));
}

#[test]
fn questions_propose_only_what_passes_the_filter() {
    let world = world();
    let mut query = Query::new("why does everybody wait for the last vertex", 5);
    query.filter.sections = vec![Section::Cause];
    assert_eq!(ids(&world.open(), &query), ["experience/skew.md#cause"]);
}

#[test]
fn generated_questions_find_their_page_and_it_is_complete_without_them() {
    let world = world();
    let list =
        |question: &str| format!("made = \"by hand\"\n[pages]\n\"spill.md\" = [\"{question}\"]\n");
    let found = |query: &str| {
        let hits = world.search(query);
        hits.first()
            .map(|id| id.split('#').next().unwrap_or_default().to_owned())
    };
    let spill = Some("experience/spill.md");
    assert_ne!(found("zanzibar").as_deref(), spill);
    for word in ["zanzibar", "madagascar"] {
        world.write(
            "experience/questions.toml",
            &list(&format!("is {word} in the way")),
        );
        world.update();
        world.assert_whole(word);
        assert_eq!(found(word).as_deref(), spill);
    }
    world.write("experience/questions.toml", "pages = 3\n");
    world.update();
    assert_eq!(found("memory for the sort").as_deref(), spill);
    fs::remove_file(world.knowledge().join("experience/questions.toml")).expect("removed");
    world.update();
    let hits = world.open().search(&Query::new("madagascar sort", 5));
    let hits = hits.expect("searched");
    let mut of_spill = hits
        .iter()
        .filter(|hit| hit.chunk.document == "experience/spill.md");
    assert!(of_spill.all(|hit| hit.question_score.is_none()));
}

#[test]
fn the_answer_comes_before_the_exceptions() {
    let world = World::new();
    world.write(
        "experience/spill.md",
        "---\ntitle: Memory spill\n---\n# Memory spill\n\n## Symptom\n\nspill spill in every vertex\n\n## Cause\n\nthe sort has too little memory\n\n\
         ## How to check\n\nthe counter of bytes\n\n## Fix\n\nmore partitions\n\n## When this does not apply\n\nspill without spill\n",
    );
    world.update();
    let first = |query: &str| {
        let id = world.search(query).remove(0);
        id.rsplit('#').next().unwrap_or_default().to_owned()
    };
    assert_eq!(first("memory spill"), "cause");
    assert_eq!(first("memory spill, how do I fix it"), "fix");
    assert_eq!(
        first("memory spill, which counter shows it"),
        "how-to-check"
    );
    let explained = world
        .open()
        .explain(&Query::new("spill of zanzibar", 5), "spill");
    let explained = explained.expect("explained");
    assert_eq!(
        (explained.rank, explained.page.as_deref()),
        (Some(1), Some("experience/spill.md"))
    );
    assert_eq!(explained.lacks, ["zanzibar"]);
}

#[test]
fn a_page_is_expanded_without_near_copies_judged_queries_and_other_languages() {
    let world = world();
    world.write(
        "judgements/own.toml",
        "[[query]]\ntext = \"who waits for the slowest one of all reducers\"\nsplit = \"heldout\"\nrelevant = []\n",
    );
    let page = Page::find(&world.knowledge(), "skew").expect("read");
    let page = page.expect("a page");
    let many = |from: usize, to| (from..to).map(|n| format!("number{n}x of what{n}x"));
    let questions = |more: &[&str], from, to| Found {
        made: "by hand".to_owned(),
        questions: more
            .iter()
            .map(|&q| q.to_owned())
            .chain(many(from, to))
            .collect(),
    };
    let first = [
        "why does everyone wait for the last vertex",
        "who waits for the slowest one of all reducers",
        "最后一个顶点很慢",
        "a \"quoted\" thing",
    ];
    let expand = |found| page.expand(&world.knowledge(), &[found]).expect("written");
    let expanded = expand(questions(&first, 0, 10));
    assert_eq!(expanded.added.len(), 11);
    assert_eq!(
        (expanded.copies, expanded.judged, expanded.beyond),
        (1, 1, 0)
    );
    let expanded = expand(questions(&[], 10, 40));
    assert_eq!((expanded.added.len(), expanded.beyond), (19, 11));
    world.update();
    assert_eq!(
        world.search("quoted thing")[0].split('#').next(),
        Some("experience/skew.md")
    );
    let text = fs::read_to_string(world.knowledge().join("experience/questions.toml"));
    assert_eq!(text.expect("read").matches("by hand").count(), 1);
}
