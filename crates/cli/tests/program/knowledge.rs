//! The knowledge base from the command line: built on first use, searched, checked.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::contains;
use testkit::llm::{Server, Turn};

use crate::llm::configured;
use crate::support::{Answer, User, case, copy, root, small_knowledge};

fn about(hits: &[Value], subject: &str) -> bool {
    let id = |hit: &Value| hit["chunk"]["id"].as_str().map(str::to_owned);
    hits.iter().filter_map(id).any(|id| id.contains(subject))
}

#[test]
fn chinese_and_english_questions_find_the_playbook() {
    let user = User::new();
    for query in [
        "数据倾斜 热点键 怎么处理",
        "one hot key makes the join slow",
        "SKEWJOIN",
    ] {
        let line = format!("search '{query}' -k 5 --format json");
        let found = user.run(&line).list();
        assert_eq!(found.len(), 5);
        assert!(about(&found, "skew"), "{query}");
    }
}

/// The index of the built-in knowledge in a user's data folder.
fn own_index(user: &User) -> PathBuf {
    let mut folders = vec![user.path("data")];
    while let Some(folder) = folders.pop() {
        if folder.ends_with("builtin-index") {
            return folder;
        }
        let entries = fs::read_dir(&folder).expect("listed").flatten();
        folders.extend(entries.map(|e| e.path()).filter(|path| path.is_dir()));
    }
    panic!("no index in the data folder");
}

fn ask(user: &User) {
    assert!(!user.run_plain("search spill").text().is_empty());
}

#[test]
fn first_starts_at_the_same_moment_all_answer() {
    let user = User::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| ask(&user));
        }
    });
}

#[test]
fn the_built_in_knowledge_needs_no_folder_and_is_indexed_once() {
    let user = User::new();
    let found = user.run_plain("search spill --format json").list();
    assert!(about(&found, "spill"));
    let writer = own_index(&user).join("LOCK");
    let first = fs::read_to_string(&writer).expect("read");
    ask(&user);
    assert_eq!(fs::read_to_string(&writer).expect("read"), first);
}

#[test]
fn the_built_in_index_repairs_itself() {
    let user = User::new();
    ask(&user);
    let index = own_index(&user);
    let meta = index.join("meta.json");
    let generation = || {
        let meta = fs::read(&meta).expect("read");
        let meta: Value = serde_json::from_slice(&meta).expect("JSON");
        let payload = meta["payload"].as_str().expect("a payload");
        let (_, json) = payload.split_once('{').expect("a manifest");
        let manifest = format!("{{{json}");
        let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
        manifest["generation"].to_string()
    };
    let of_this_version = generation();
    let text = fs::read_to_string(&meta).expect("read");
    let text: Value = serde_json::from_str(&text).expect("JSON");
    let (text, format) = (text.to_string(), "\"payload\":\"9 ");
    assert!(text.contains(format));
    fs::write(&meta, text.replace(format, "\"payload\":\"0 ")).expect("written");
    ask(&user);
    let rebuilt = generation();
    assert_ne!(rebuilt, of_this_version);

    let entries = fs::read_dir(&index).expect("listed").flatten();
    let mut paths = entries.map(|entry| entry.path());
    let store = paths.find(|path| path.extension().is_some_and(|end| end == "store"));
    fs::write(store.expect("there"), "cut").expect("written");
    ask(&user);
    assert_ne!(generation(), rebuilt);
}

#[test]
fn the_projects_knowledge_is_clean_and_its_index_whole() {
    let user = User::new();
    user.run("lint").text();
    user.run("index verify").text();
}

#[test]
fn no_question_of_a_page_repeats_a_query_that_only_measures() {
    let user = User::new();
    copy(&root().join("knowledge"), &user.path("knowledge"));
    copy(
        &root().join("tests/judgements"),
        &user.path("knowledge/judgements"),
    );
    // Some of the queries are in both folders.
    fs::remove_file(user.path("knowledge/judgements/start.toml")).expect("removed");
    user.run_plain("lint").text();
}

#[test]
fn a_second_update_changes_nothing() {
    let user = User::new();
    let update = || {
        let mut command = user.knowing(&user.path("index"));
        Answer::of(command.args(["index", "--format", "json"])).json()
    };
    assert_eq!(update()["rebuilt"], true);
    let again = update();
    let changed = [&again["rebuilt"], &again["embedded"]];
    assert_eq!(changed, [&json!(false), &json!(0)]);
}

#[test]
fn init_writes_a_place_to_work_in() {
    let user = User::new();
    user.run_plain("init .").text();
    assert!(user.path("scopeagent.toml").is_file());
    assert!(user.path("knowledge/elsewhere.md").is_file());
    assert!(user.path("knowledge/judgements/start.toml").is_file());
    user.run_plain("lint").text();
    user.run_plain("init .").refused(2);
}

/// Written as a new curator would: one question, and no file beside the page.
const CURATED: &str = "---
id: spark-key-service-limit
title: Encrypted Parquet reads slow down because the key service limits requests
language: en
engine: spark
problem_type: other
causes: []
operators: [Scan]
keywords: [KMS, column encryption, ThrottlingException, Parquet modular encryption]
questions:
  - \"why do our encrypted tables read at a tenth of the speed since we turned on column keys\"
source: [\"observed by the platform team\"]
confidence: observed
reviewed: 2026-11-27
---

# Encrypted Parquet reads slow down because the key service limits requests

## Symptom

Scans of encrypted tables crawl; executor logs repeat `ThrottlingException` from the key management service.

## Cause

Every file has its own data keys, so every task asks the key service to unwrap keys, more often than the service allows.

## How to check

Count the key requests per minute in the service's metrics and compare them with its quota.

## Fix

Turn on double wrapping and raise the lifetime of cached keys, so that an executor unwraps a key once instead of once per file.

## Example

9,000 files and 12 columns asked for 108,000 keys; with cached keys, 40 executors asked 480 times.

## Trade-offs

A revoked key stays usable until the cached one expires.

## When this does not apply

The service reports no rejected requests.
";

#[test]
fn a_curator_s_page_is_found_by_questions_that_are_not_in_it() {
    let user = User::new();
    user.run_plain("init .").text();
    let page = "knowledge/experience/spark-key-service-limit.md";
    std::fs::write(user.path(page), CURATED).expect("written");
    user.run_plain("lint").text();
    user.run_plain("index").text();
    for query in [
        "reading encrypted tables is ten times slower since column keys were turned on",
        "ThrottlingException from KMS while Spark scans parquet",
        "encrypted parquet: the key management service rejects our requests, how do I fix that",
    ] {
        let hits = user
            .run_plain(&format!("search '{query}' --format json"))
            .json();
        let first = hits[0]["chunk"]["document"].as_str();
        assert_eq!(
            first,
            Some("experience/spark-key-service-limit.md"),
            "{query}"
        );
    }
    let why = "search 'encrypted tables are slow' --explain spark-key-service-limit";
    contains(
        user.run_plain(why).text(),
        ["spark-key-service-limit.md` is page 1"],
    );
}

#[test]
fn several_that_need_the_first_index_wait_for_one_that_builds_it() {
    let user = User::new();
    small_knowledge(&user.path("knowledge"));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| user.run_plain("search 'hot key'").text());
        }
    });
}

#[test]
fn what_nothing_answers_is_said_and_not_listed() {
    let user = User::new();
    for (query, said) in [
        (
            "recipe for sourdough bread",
            "nothing in the knowledge base fits well",
        ),
        ("红烧肉怎么做", "知识库中没有合适的内容"),
    ] {
        let text = user.run(&format!("search '{query}'")).text();
        assert!(
            text.starts_with(said) && text.lines().count() == 1,
            "{text}"
        );
        let all = user.run(&format!("search '{query}' --all")).text();
        assert!(!all.contains(said) && all.lines().count() > 5, "{all}");
        for hit in user.run(&format!("search '{query}' --format json")).list() {
            assert_eq!(hit["match"], "weak");
        }
    }
    let explained = user.run("search 'brodcast hint' --explain").text();
    assert!(
        explained.starts_with("`brodcast` is read as `broadcast…`"),
        "{explained}"
    );
}

#[test]
fn an_old_index_and_a_broken_document_are_mentioned() {
    let user = User::new();
    small_knowledge(&user.path("knowledge"));
    user.run_plain("index").text();
    user.write(
        "knowledge/experience/new.md",
        "---\ncauses: [a\n---\n# New\n",
    );
    let answer = user.run_plain("search skew");
    contains(answer.err, ["1 document changed since the index was built"]);
    let answer = user.run_plain("index");
    assert_eq!(answer.code, Some(10));
    contains(answer.err, ["skipped experience/new.md:2"]);
}

const PAGE: &str = "knowledge/experience/skew-join-hot-key.md";
const QUESTIONS: &str = "knowledge/experience/questions.toml";

#[test]
fn a_page_gets_the_questions_of_people_who_accepted_its_advice_and_judged_ones() {
    let user = User::new();
    small_knowledge(&user.path("knowledge"));
    let nothing = user.run_plain("knowledge expand skew-join-hot-key");
    contains(&nothing.err, ["--llm"]);
    assert!(!user.path(QUESTIONS).exists(), "{nothing:?}");
    let job = case("join-hot-key-skew").display().to_string();
    let asked = "our nightly trip merge hangs on its final worker for ages";
    user.run_plain(&format!("analyze '{job}' --question '{asked}'"))
        .text();
    user.run_plain("feedback last accept S1").text();
    let judged = [
        ("tune", "a single customer id floods one reducer"),
        (
            "fresh",
            "half of the clicks share one user and the merge stalls",
        ),
    ];
    let judged: String = judged
        .iter()
        .map(|(split, text)| {
            let answer = "{ document = \"experience/skew-join-hot-key.md\", grade = 3 }";
            format!("[[query]]\ntext = \"{text}\"\nsplit = \"{split}\"\nrelevant = [{answer}]\n")
        })
        .collect();
    fs::create_dir(user.path("knowledge/judgements")).expect("made");
    user.write("knowledge/judgements/own.toml", &judged);
    let expanded = user
        .run_plain("knowledge expand skew-join-hot-key --format json")
        .json();
    assert_eq!(
        expanded["added"],
        json!([asked, "a single customer id floods one reducer"])
    );
    contains(
        user.read(QUESTIONS),
        ["made = \"questions of runs", "judged queries", asked],
    );
    testkit::lacks(user.run_plain("lint").out, ["question"]);
    let again = user
        .run_plain("knowledge expand skew-join-hot-key --format json")
        .json();
    assert_eq!([&again["added"], &again["copies"]], [&json!([]), &json!(2)]);
}

#[test]
fn an_llm_that_reads_a_page_writes_questions_for_it() {
    let answer = "1. the last reducer never ends\n2. why does one worker get all the users\n2. why does one worker get all the users?\n\
                  最后一个任务一直不结束\n";
    let server = Server::start([]).rule(move |_| Some(Turn::text(answer)));
    let user = configured(&server);
    small_knowledge(&user.path("knowledge"));
    let page = user.read(PAGE);
    let told = user.run_plain("knowledge expand experience/skew-join-hot-key.md --llm --count 4");
    contains(
        told.text(),
        ["2 questions", "why does one worker get all the users"],
    );
    assert_eq!(user.read(PAGE), page, "the page stays as it is");
    let request = server.requests().remove(0);
    contains(request.system(), ["4 things in English"]);
    contains(request.prompt(), ["## How to check"]);
    let written = user.read(QUESTIONS);
    contains(
        &written,
        [
            "written by openai_compatible scripted from the page",
            "the last reducer never ends",
        ],
    );
    testkit::lacks(&written, ["1.", "最后一个"]);
    user.run_plain("index").text();
    let hits = user
        .run_plain("search 'one worker gets all the users' --format json")
        .json();
    assert_eq!(
        hits[0]["chunk"]["document"],
        "experience/skew-join-hot-key.md"
    );
    let unknown = user.run_plain("knowledge expand no-such-page");
    contains(unknown.refused(2), ["no-such-page"]);
}
