//! THINK 4 by native tool calls: bounds, mistakes, and models without tools.

use std::sync::atomic::{AtomicUsize, Ordering};

use agent::Request;
use llm::Level;
use report::Language;
use serde_json::{Value, json};
use testkit::contains;
use testkit::llm::think::step_of;
use testkit::llm::{Recorded, Server, Turn};

use crate::support::{self, *};

/// A server that answers THINK 4 by `turn`, which is given the number of results so far.
fn checking(turn: impl Fn(&Recorded, usize) -> Turn + Send + Sync + 'static) -> Server {
    Server::agreeing_unless(move |request| {
        let results = request.tool_results().len();
        (step_of(request) == "think4").then(|| turn(request, results))
    })
}

/// Analyzes the skewed job with such a server.
async fn concluding(
    turn: impl Fn(&Recorded, usize) -> Turn + Send + Sync + 'static,
) -> (Outcome, Server) {
    let server = checking(turn);
    (ask(&server, &skewed()).await, server)
}

fn submit(basis: &str) -> Turn {
    let check = json!({ "sufficient": true, "experiences": [], "basis": basis });
    Turn::tool("submit_check", &check)
}

fn reading<T: AsRef<str>>(files: &[T]) -> Turn {
    let file = |f: &T| json!({ "file": f.as_ref(), "reason": "to see" });
    let files: Vec<Value> = files.iter().map(file).collect();
    Turn::tool("read_files", &json!({ "files": files }))
}

/// The results that the model had seen in its last turn.
fn last_results(server: &Server) -> Vec<String> {
    let last = server.last_for("think4");
    last.expect("a request for THINK 4").tool_results()
}

#[tokio::test]
async fn nothing_outside_the_folder_is_read() {
    let (report, server) = concluding(|_, results| match results {
        0 => reading(&["../../../etc/passwd", "/etc/passwd", "C:\\secret.txt"]),
        _ => submit("that is all"),
    })
    .await;
    contains(&last_results(&server)[0], ["is not in the job folder"]);
    let requests = server.requests();
    assert!(requests.iter().all(|r| !r.prompt().contains("root:")));
    assert!(!report.has_read("passwd"));
}

#[tokio::test]
async fn section_5_1_a_round_reads_at_most_three_files_and_says_so() {
    let entries = std::fs::read_dir(support::case("join-hot-key-skew")).expect("the job");
    let names = entries.flatten().map(|e| e.file_name());
    let files: Vec<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
    assert!(files.len() > 3);
    let unread = files.len() - 3;
    let (report, server) = concluding(move |_, results| match results {
        0 => reading(&files),
        _ => submit("that is all"),
    })
    .await;
    let result = &last_results(&server)[0];
    assert_eq!(result.matches("<<<data file").count(), 3, "{result}");
    let refused = result.matches("was not read: at most 3 files a turn");
    assert_eq!(refused.count(), unread, "{result}");
    let rounds = &report.step("think4").conclusion["rounds"];
    for round in rounds.as_array().expect("rounds") {
        let files = round["files"].as_array().map_or(0, Vec::len);
        assert!(files <= 3, "{round}");
    }
}

#[tokio::test]
async fn an_endless_loop_of_new_calls_reaches_the_bound() {
    let (report, server) = concluding(|_, results| {
        let argument = json!({ "argument": format!("again {results}") });
        Turn::tool("search_experience", &argument)
    })
    .await;
    let think4 = report.step("think4");
    assert_eq!(think4.conclusion["ended"], "round_limit");
    contains(&think4.text, ["maximum number of rounds"]);
    assert!(server.asked_for("think4") <= 9);
}

#[tokio::test]
async fn an_endless_loop_of_the_same_call_ends_at_once() {
    let (report, server) = concluding(|_, _| reading(&["no-such-file"])).await;
    // The first is answered, the second is one mistake too many.
    assert_eq!(server.asked_for("think4"), 2);
    assert_ne!(report.step("think4").conclusion["ended"], "round_limit");
    let (_, server) = concluding(|_, _| Turn::tool("list_files", &json!({}))).await;
    assert_eq!(server.asked_for("think4"), 2);
}

#[tokio::test]
async fn the_model_is_shown_its_mistakes_and_corrects_them() {
    let table = || ("table_metadata", json!({ "argument": "" }));
    let (report, server) = concluding(move |_, results| match results {
        0 => {
            let files = json!({ "files": "all" });
            Turn::tools(&[("format_disk", json!({})), ("read_files", files)])
        }
        2 => Turn::tools(&[("list_files", json!({})), table()]),
        _ => submit("now it is clear"),
    })
    .await;
    let results = last_results(&server);
    contains(&results[0], ["there is no tool `format_disk`"]);
    contains(&results[1], ["do not follow the schema"]);
    contains(&results[2], ["<<<data files"]);
    contains(&report.step("think4").text, ["now it is clear"]);
}

#[tokio::test]
async fn section_4_a_file_is_given_as_a_digest_a_part_or_its_text() {
    for (part, expected) in [
        (Value::Null, " completed, "),
        (json!("SV3"), "number "),
        (json!("2-3"), "     2  "),
        (json!("no such stage"), "it has no such part"),
    ] {
        let files = json!({ "files": [{ "file": "profile", "part": part, "reason": "to see" }] });
        let (_, server) = concluding(move |_, results| match results {
            0 => Turn::tool("read_files", &files),
            _ => submit("seen"),
        })
        .await;
        contains(&last_results(&server)[0], [expected]);
    }
}

#[tokio::test]
async fn section_5_4_a_recommendation_has_relevance_threshold_reason_and_parser() {
    let report = run(&skewed(), Setting::offline()).await;
    let think4 = report.step("think4");
    let threshold = think4.conclusion["threshold"].as_f64();
    assert!(threshold.is_some_and(|t| t > 0.0 && t < 1.0));
    let rounds = think4.conclusion["rounds"].as_array().expect("rounds");
    let mut read = Vec::new();
    for round in rounds {
        // Section 5.6: facts known since.
        assert!(
            round["score"].is_number() && round["progress"].is_number(),
            "{round}"
        );
        read.extend(round["files"].as_array().expect("files"));
    }
    for file in &read {
        let relevance = file["relevance"].as_f64();
        assert!(
            relevance.is_some_and(|r| (0.0..=1.0).contains(&r)),
            "{file}"
        );
        assert!(
            file["reason"].as_str().is_some_and(|r| !r.is_empty()),
            "{file}"
        );
        assert!(file["parser"].is_string(), "{file}");
        let name = file["file"].as_str().expect("a name");
        contains(
            &think4.text,
            [format!("{name} (relevance ").as_str(), "parser "],
        );
    }
    let profile = read
        .iter()
        .find(|file| file["file"] == "profile")
        .expect("it was read");
    contains(
        profile["content"].as_str().expect("a digest"),
        [" completed, "],
    );
}

#[tokio::test]
async fn section_5_6_what_a_tool_gave_is_seen_by_later_steps_too() {
    let (_, server) = concluding(|_, results| match results {
        0 => Turn::tool("analyze_script", &json!({ "argument": "31-40" })),
        _ => submit("seen"),
    })
    .await;
    let advice = server.last_for("think5").expect("THINK 5");
    contains(advice.prompt(), ["\nanalyze_script(31-40)"]);
}

#[tokio::test]
async fn an_answer_in_words_or_json_ends_the_step_as_well() {
    for said in [
        "The facts suffice [E1].",
        "{\"sufficient\": true, \"basis\": \"The facts suffice [E1].\"}",
        "{\"needs_files\": false, \"files\": [], \"lookups\": [], \"basis\": \"The facts suffice [E1].\"}",
        "[Files needed]: no\n[Basis]: The facts suffice [E1].",
    ] {
        let (report, server) = concluding(move |_, _| Turn::text(said)).await;
        assert_eq!(server.asked_for("think4"), 1, "{said}");
        contains(&report.step("think4").text, ["The facts suffice [E1]."]);
    }
}

#[tokio::test]
async fn claims_of_the_last_call_are_checked() {
    let (report, _) = concluding(|_, _| submit("SV99_Ghost takes 98.76% of the time")).await;
    let think4 = report.step("think4");
    assert!(!think4.text.contains("SV99_Ghost"), "{}", think4.text);
    contains(
        think4.remarks.join("\n"),
        ["does not stand up to the facts", "SV99_Ghost"],
    );
}

#[tokio::test]
async fn a_model_without_tools_is_asked_for_the_marks() {
    let server = checking(|request, _| {
        Turn::text(if request.prompt().contains("\ntables.json") {
            "【需要文件】: 否\n【文件列表】:\n- 无\n【推断依据】: 已经足够"
        } else {
            "【需要文件】: 是\n【文件列表】:\n- tables.json: 热点值\n【推断依据】: 需要分布"
        })
    });
    let mut profile = profile(&server);
    profile.structured_output = Some(Level::Text);
    let request = Request {
        language: Some(Language::Zh),
        ..skewed()
    };
    let report = run(&request, Setting::with(asking(&profile))).await;
    assert_eq!(server.asked_for("think4"), 2);
    let asked = server.last_for("think4").expect("a request");
    assert!(asked.tools().is_empty());
    contains(asked.prompt(), ["【需要文件】: 是/否"]);
    contains(&report.step("think4").text, ["已经足够"]);
}

#[tokio::test]
async fn a_server_that_refuses_tools_is_asked_without_them() {
    let auto = "\"auto\" tool choice requires --enable-auto-tool-choice to be set";
    for (status, message) in [
        (
            400,
            "registry.ollama.ai/library/gemma2 does not support tools",
        ),
        (400, auto),
        (500, "tools param requires --jinja flag"),
    ] {
        let server = Server::agreeing_unless(move |request| {
            (!request.tools().is_empty()).then(|| Turn::error(status, message))
        });
        let report = ask(&server, &healthy()).await;
        contains(&report.step("think4").text, ["enough"]);
    }
}

#[tokio::test]
async fn a_conversation_that_gets_too_long_is_begun_anew_with_what_was_read() {
    let asked = AtomicUsize::new(0);
    let (report, server) = concluding(move |_, _| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => reading(&["__ScopeCodeGen__.dll.cs"]),
        1 => Turn::error(400, "This model's maximum context length is 8192 tokens"),
        _ => submit("read it"),
    })
    .await;
    contains(&report.step("think4").text, ["read it"]);
    assert!(last_results(&server).is_empty());
}

#[tokio::test]
async fn names_in_calls_and_results_are_masked_too() {
    let job = job::load(&support::case("join-hot-key-skew")).expect("a job");
    let table = &job.tables[0].name;
    let server = checking(|request, results| match results {
        0 => {
            let shown = placeholder(request).unwrap_or_default();
            let look_up = |argument: &str| ("table_metadata", json!({ "argument": argument }));
            Turn::tools(&[look_up(""), look_up(&shown)])
        }
        _ => submit("seen"),
    });
    run(&skewed(), Setting::asking(&server).redacted()).await;
    for request in server.requests() {
        let body = request.body.to_string();
        assert!(!body.contains(table), "{table} was sent");
    }
    contains(&last_results(&server)[0], ["rows"]);
}
