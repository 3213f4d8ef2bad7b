//! THINK 4 by native calls of tools: bounds, mistakes, and models without tools.

use llm::Level;
use report::{Report, Step};
use serde_json::{Value, json};
use testkit::llm::{Recorded, Server, Turn};

use crate::support::{
    self, Setting, about, agreeable_answer, asked_for, asking, asking_with, profile, step_of,
};

/// Analyses the skewed job with a model that answers THINK 4 by `turn`, told how many results it got.
async fn concluding(
    turn: impl Fn(&Recorded, usize) -> Turn + Send + Sync + 'static,
) -> (Report, Server) {
    let server = Server::start([]).rule(move |request| {
        Some(if step_of(request) == "think4" {
            turn(request, request.tool_results().len())
        } else {
            Turn::json(&agreeable_answer(request))
        })
    });
    let setting = Setting::with(asking(&profile(&server.url())));
    let report = support::run(&about("join-hot-key-skew"), setting).await.0;
    (report.expect("a report"), server)
}

fn think4(report: &Report) -> &Step {
    report
        .steps
        .iter()
        .find(|s| s.id == "think4")
        .expect("THINK 4")
}

fn submit(basis: &str) -> Turn {
    Turn::tool(
        "submit_check",
        &json!({ "sufficient": true, "experiences": [], "basis": basis }),
    )
}

fn reading(files: &[&str]) -> Turn {
    let files: Vec<Value> = files
        .iter()
        .map(|f| json!({ "file": f, "reason": "to see" }))
        .collect();
    Turn::tool("read_files", &json!({ "files": files }))
}

/// The results that the model had seen when it was asked last.
fn last_results(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let last = requests.iter().rev().find(|r| step_of(r) == "think4");
    last.expect("THINK 4 was asked").tool_results()
}

#[tokio::test]
async fn nothing_outside_the_folder_is_read() {
    let (report, server) = concluding(|_, results| match results {
        0 => reading(&["../../../etc/passwd", "/etc/passwd", "C:\\secret.txt"]),
        _ => submit("that is all"),
    })
    .await;
    let results = last_results(&server);
    assert!(
        results[0].contains("is not in the job folder"),
        "{results:?}"
    );
    assert!(
        server
            .requests()
            .iter()
            .all(|r| !r.prompt().contains("root:"))
    );
    assert!(report.files_read.iter().all(|f| !f.file.contains("passwd")));
}

#[tokio::test]
async fn a_round_reads_at_most_three_files_and_says_so() {
    let files: Vec<String> = std::fs::read_dir(support::case("join-hot-key-skew"))
        .expect("the job")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(files.len() > 3);
    let wanted = files.clone();
    let (report, server) = concluding(move |_, results| match results {
        0 => reading(&wanted.iter().map(String::as_str).collect::<Vec<_>>()),
        _ => submit("that is all"),
    })
    .await;
    let results = last_results(&server);
    assert_eq!(
        results[0].matches("<<<data file").count(),
        3,
        "{}",
        results[0]
    );
    assert_eq!(
        results[0]
            .matches("was not read: at most 3 files a turn")
            .count(),
        files.len() - 3
    );
    let rounds = think4(&report).conclusion["rounds"].clone();
    let asked: Vec<usize> = rounds
        .as_array()
        .expect("rounds")
        .iter()
        .map(|r| r["files"].as_array().map_or(0, Vec::len))
        .collect();
    assert!(asked.iter().all(|n| *n <= 3), "{asked:?}");
}

#[tokio::test]
async fn an_endless_loop_of_new_calls_reaches_the_bound() {
    let (report, server) = concluding(|_, results| {
        Turn::tool(
            "search_experience",
            &json!({ "argument": format!("again {results}") }),
        )
    })
    .await;
    assert_eq!(think4(&report).conclusion["ended"], "round_limit");
    let asked = asked_for(&server, "think4");
    assert!(asked <= 9, "{asked} calls of the model");
    assert!(
        think4(&report).text.contains("maximum number of rounds"),
        "{}",
        think4(&report).text
    );
}

#[tokio::test]
async fn an_endless_loop_of_the_same_call_ends_at_once() {
    let (report, server) = concluding(|_, _| reading(&["no-such-file"])).await;
    // The first is answered, the second is one mistake too many.
    assert_eq!(asked_for(&server, "think4"), 2);
    assert_ne!(think4(&report).conclusion["ended"], "round_limit");
    let (_, server) = concluding(|_, _| Turn::tool("list_files", &json!({}))).await;
    assert_eq!(asked_for(&server, "think4"), 2);
}

#[tokio::test]
async fn mistakes_are_told_to_the_model_and_mended() {
    let (report, server) = concluding(|_, results| match results {
        0 => Turn::tools(&[
            ("format_disk", json!({})),
            ("read_files", json!({ "files": "all" })),
        ]),
        2 => Turn::tools(&[
            ("list_files", json!({})),
            ("table_metadata", json!({ "argument": "" })),
        ]),
        _ => submit("now it is clear"),
    })
    .await;
    let results = last_results(&server);
    assert!(
        results[0].contains("there is no tool `format_disk`"),
        "{results:?}"
    );
    assert!(
        results[1].contains("do not follow the schema"),
        "{results:?}"
    );
    assert!(results[2].contains("<<<data files"), "{results:?}");
    assert!(think4(&report).text.contains("now it is clear"));
}

#[tokio::test]
async fn what_a_tool_gave_is_seen_by_later_steps_too() {
    let (_, server) = concluding(|_, results| match results {
        0 => Turn::tool("analyze_script", &json!({ "argument": "31-40" })),
        _ => submit("seen"),
    })
    .await;
    let requests = server.requests();
    let advice = requests
        .iter()
        .find(|r| step_of(r) == "think5")
        .expect("THINK 5");
    assert!(
        advice.prompt().contains("### analyze_script(31-40)"),
        "{}",
        advice.prompt()
    );
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
        assert_eq!(asked_for(&server, "think4"), 1, "{said}");
        let text = &think4(&report).text;
        assert!(text.contains("The facts suffice [E1]."), "{said}: {text}");
    }
}

#[tokio::test]
async fn claims_of_the_last_call_are_checked() {
    let (report, _) = concluding(|_, _| submit("SV99_Ghost takes 98.76% of the time")).await;
    let text = &think4(&report).text;
    assert!(
        text.contains("SV99_Ghost [unverified]") && text.contains("98.76 [unverified]"),
        "{text}"
    );
}

#[tokio::test]
async fn a_model_without_tools_is_asked_for_the_marks() {
    let server = Server::start([]).rule(|request| {
        let is_first = !request.prompt().contains("### tables.json");
        Some(match step_of(request) {
            "think4" if is_first => Turn::text(
                "【需要文件】: 是\n【文件列表】:\n- tables.json: 热点值\n【推断依据】: 需要分布",
            ),
            "think4" => Turn::text("【需要文件】: 否\n【文件列表】:\n- 无\n【推断依据】: 已经足够"),
            _ => Turn::json(&agreeable_answer(request)),
        })
    });
    let mut profile = profile(&server.url());
    profile.structured_output = Some(Level::Text);
    let request = agent::Request {
        language: Some(report::Language::Zh),
        ..about("join-hot-key-skew")
    };
    let report = support::run(&request, Setting::with(asking(&profile)))
        .await
        .0
        .expect("a report");
    let requests = server.requests();
    let asked: Vec<&Recorded> = requests.iter().filter(|r| step_of(r) == "think4").collect();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].tools().is_empty());
    assert!(
        asked[0].prompt().contains("【需要文件】: 是/否"),
        "{}",
        asked[0].prompt()
    );
    assert!(
        think4(&report).text.contains("已经足够"),
        "{}",
        think4(&report).text
    );
}

#[tokio::test]
async fn a_server_that_refuses_tools_is_asked_without_them() {
    for refusal in [
        Turn::error(
            400,
            "registry.ollama.ai/library/gemma2 does not support tools",
        ),
        Turn::error(
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice to be set",
        ),
        Turn::error(500, "tools param requires --jinja flag"),
    ] {
        let name = format!("{refusal:?}");
        let server = Server::start([]).rule(move |request| {
            let refused = !request.tools().is_empty();
            Some(if refused {
                refusal.clone()
            } else {
                Turn::json(&agreeable_answer(request))
            })
        });
        let setting = Setting::with(asking(&profile(&server.url())));
        let report = support::run(&about("healthy"), setting)
            .await
            .0
            .expect("a report");
        assert!(
            think4(&report).text.contains("enough"),
            "{name}: {}",
            think4(&report).text
        );
    }
}

#[tokio::test]
async fn a_conversation_that_gets_too_long_is_begun_anew_with_what_was_read() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start([]).rule(move |request| {
        if step_of(request) != "think4" {
            return Some(Turn::json(&agreeable_answer(request)));
        }
        Some(
            match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                0 => reading(&["__ScopeCodeGen__.dll.cs"]),
                1 => Turn::error(400, "This model's maximum context length is 8192 tokens"),
                _ => submit("read it"),
            },
        )
    });
    let setting = Setting::with(asking(&profile(&server.url())));
    let report = support::run(&about("join-hot-key-skew"), setting)
        .await
        .0
        .expect("a report");
    assert!(
        think4(&report).text.contains("read it"),
        "{}",
        think4(&report).text
    );
    let requests = server.requests();
    let last = requests
        .iter()
        .rev()
        .find(|r| step_of(r) == "think4")
        .expect("THINK 4");
    assert!(last.tool_results().is_empty());
}

#[tokio::test]
async fn names_in_calls_and_results_are_masked_too() {
    let job = job::load(&support::case("join-hot-key-skew")).expect("a job");
    let table = job.tables[0].name.clone();
    let server = Server::start([]).rule(|request| {
        let prompt = request.prompt();
        let stand_in = prompt
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .find(|w| w.starts_with("name_"))
            .unwrap_or("nothing")
            .to_owned();
        Some(match (step_of(request), request.tool_results().len()) {
            ("think4", 0) => Turn::tools(&[
                ("table_metadata", json!({ "argument": "" })),
                ("table_metadata", json!({ "argument": stand_in })),
            ]),
            ("think4", _) => submit("seen"),
            _ => Turn::json(&agreeable_answer(request)),
        })
    });
    let options = llm::LlmOptions {
        redact: true,
        stream: true,
        ..Default::default()
    };
    let setting = Setting::with(asking_with(&profile(&server.url()), options));
    support::run(&about("join-hot-key-skew"), setting)
        .await
        .0
        .expect("a report");
    for request in server.requests() {
        assert!(
            !request.body.to_string().contains(&table),
            "{table} was sent"
        );
    }
    assert!(
        last_results(&server)[0].contains("rows"),
        "{:?}",
        last_results(&server)
    );
}
