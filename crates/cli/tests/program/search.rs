//! `search` and its flags on the project's knowledge.

use serde_json::Value;

use testkit::contains;

use crate::support::User;

fn hits(flags: &str) -> Vec<Value> {
    let line = format!("search 'data skew 数据倾斜 hot key' --format json -k 8 {flags}");
    let found = User::new().run(&line).list();
    assert!(!found.is_empty(), "{flags} finds something");
    found
}

/// Whether `field` of the chunk is `value`, or holds it, or holds something that starts with it.
fn says(hit: &Value, field: &str, value: &str) -> bool {
    let is = |v: &Value| v.as_str().is_some_and(|v| v.starts_with(value));
    let field = &hit["chunk"][field];
    is(field) || field.as_array().is_some_and(|all| all.iter().any(is))
}

#[test]
fn every_facet_narrows_what_is_found() {
    for (flags, field, value) in [
        ("--step think5", "steps", "think5"),
        ("--lang zh", "language", "zh"),
        ("--filter kind=case", "kind", "case"),
        (
            "--filter problem_type=excessive_shuffle",
            "problem_type",
            "excessive_shuffle",
        ),
        ("--filter cause=memory.spill", "causes", "memory.spill"),
        ("--filter cause=skew", "causes", "skew."),
        ("--filter section=fix", "section", "fix"),
        ("--filter language=en", "language", "en"),
        ("--filter step=think2", "steps", "think2"),
        ("--filter kind=glossary", "kind", "glossary"),
    ] {
        for hit in hits(flags) {
            assert!(says(&hit, field, value), "{flags}: {hit}");
        }
    }
}

#[test]
fn values_of_one_facet_widen_and_facets_narrow() {
    let found = hits("--filter section=fix --filter section=symptom --filter cause=skew --lang en");
    for hit in &found {
        assert!(says(hit, "section", "fix") || says(hit, "section", "symptom"));
        assert!(says(hit, "causes", "skew.") && says(hit, "language", "en"));
    }
    assert!(found.iter().any(|hit| says(hit, "section", "fix")));
    assert!(found.iter().any(|hit| says(hit, "section", "symptom")));
}

#[test]
fn an_unknown_facet_or_value_is_refused_with_what_there_is() {
    for (filter, known) in [
        ("colour=red", "problem_type"),
        ("kind=playbook", "experience, case"),
        ("section=summary", "trade-offs"),
        ("step=think9", "think5"),
        ("language=de", "zh, en"),
        ("section", "section=fix"),
    ] {
        let line = format!("search skew --filter {filter}");
        contains(User::new().run(&line).refused(2), [known]);
    }
}

#[test]
fn explain_shows_rank_and_score_of_each_branch_and_what_was_added() {
    let line = "search 'one hot key makes the join slow' --explain -k 2";
    let parts = [
        "bm25 #",
        "vector #",
        "fused 1.",
        "question 1.000",
        "boost +0.",
        "prior +0.000",
    ];
    contains(User::new().run(line).text(), parts);
}

#[test]
fn json_has_the_chunk_and_how_it_came_to_its_rank() {
    let found = hits("");
    for (place, hit) in found.iter().enumerate() {
        assert_eq!(hit["rank"], place + 1);
        for field in ["score", "fused", "vector_score", "boost", "prior"] {
            assert!(hit[field].is_number(), "{field} of {hit}");
        }
        for field in ["id", "document", "title", "text", "language", "kind"] {
            assert!(hit["chunk"][field].is_string(), "{field} of {hit}");
        }
    }
}

#[test]
fn info_says_what_the_index_holds_and_how_it_was_made() {
    let info = User::new().run("index info --format json").json();
    let sum = |field: &str| -> u64 {
        let counts = info[field].as_object().expect("counts");
        counts.values().filter_map(Value::as_u64).sum()
    };
    assert_eq!(info["chunks"].as_u64(), Some(sum("kinds")));
    assert_eq!(info["chunks"].as_u64(), Some(sum("languages")));
    let embedder = info["embedder"].as_str();
    assert!(embedder.is_some_and(|e| e.starts_with("embedded-")));
    let fields = "generation documents segments dead dimension format chunker analyser bytes";
    for field in fields.split(' ') {
        assert!(!info[field].is_null(), "{field} of {info}");
    }
}
