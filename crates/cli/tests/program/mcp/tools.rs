//! The tools: their descriptions and their answers.

use std::io::Write as _;
use std::process::Stdio;

use rmcp::model::GetPromptRequestParams;
use serde_json::{Value, json};
use testkit::contains;
use testkit::llm::{Server, Turn};

use super::client::{Listener, Session, server, text};
use crate::llm::configured;
use crate::support::{User, case, items, root, write_twins};

/// The folder of all simulated cases.
pub(crate) fn cases() -> String {
    crate::support::cases().display().to_string()
}

#[tokio::test]
async fn the_server_says_what_it_is_and_what_each_tool_does() {
    let user = User::new();
    let session = Session::open(&user, &[], Listener::default()).await;
    let info = session.client.peer_info().expect("initialised");
    let instructions = info.instructions.as_deref().expect("instructions");
    assert!(info.capabilities.resources.is_some());
    let names = "analyze_job ask_run compare_runs give_feedback inspect_job job_history list_applications list_runs \
                 read_job_file search_experience whatif";
    assert!(instructions.contains("Spark"));
    let listed = serde_json::to_string(&session.tools).expect("JSON");
    assert!(listed.len() <= 15 << 10, "{} bytes", listed.len());
    assert_eq!(session.names().join(" "), names);
    for name in names.split(' ') {
        let tool = session.tool(name);
        let described = tool.description.as_deref().expect("a description");
        assert!(described.len() > 80, "{name}: {described}");
        let annotations = tool.annotations.as_ref().expect("annotations");
        let reads_only = !["analyze_job", "ask_run", "give_feedback"].contains(&name);
        assert_eq!(annotations.read_only_hint, Some(reads_only), "{name}");
        assert_eq!(annotations.open_world_hint, Some(false), "{name}");
        let schema = &tool.input_schema;
        assert_eq!(schema["type"], "object", "{name}");
        for (field, value) in schema["properties"].as_object().expect("properties") {
            let told = value.get("description").is_some() || value.get("$ref").is_some();
            assert!(told, "{name} does not describe `{field}`");
        }
        if name != "list_runs" {
            assert!(instructions.contains(name), "{name} is not introduced");
        }
    }
}

#[tokio::test]
async fn every_tool_answers_and_the_report_is_one_object() {
    let user = User::new();
    let session = Session::on_cases(&user).await;

    let job = "join-hot-key-skew/job";
    let asked = json!({ "job": job, "question": "why so slow?", "language": "en" });
    let result = session.call("analyze_job", asked).await;
    let brief = result.structured_content.clone().expect("a brief");
    assert_eq!(brief["findings"][0]["cause"], "skew.join_hot_key");
    let report = session.report(&brief).await.expect("the report");
    assert_eq!(report["findings"][0]["cause"], "skew.join_hot_key");
    assert_eq!(report["engine"]["reasoner"], "offline");
    assert_eq!(report["question"], "why so slow?");
    let run = report["run_id"].as_str().expect("a run").to_owned();
    let blocks = result.content.iter();
    let links = blocks.filter_map(|block| block.as_resource_link());
    let links: Vec<&str> = links.map(|link| link.uri.as_str()).collect();
    let uri = format!("scopeagent://runs/{run}/report");
    assert_eq!(links, [uri.clone(), format!("{uri}.md")]);

    let (markdown, kind) = session.resource(links[1]).await.expect("the report");
    assert_eq!(kind, "text/markdown");
    let shown = text(&result);
    match shown.rsplit_once("\n… cut") {
        Some((begun, cut)) => assert!(markdown.starts_with(begun) && cut.ends_with(links[1])),
        None => assert_eq!(shown.trim_end(), markdown.trim_end()),
    }
    let shown = user.run_plain(&format!("runs show {run} -f json")).json();
    assert_eq!(shown, report, "the command line shows another report");

    let seen = session.answer("inspect_job", json!({ "job": job })).await;
    assert!(items(&seen["stages"]).len() > 1);
    let stage = &report["findings"][0]["stage"];
    let one = json!({ "job": job, "stage": stage });
    let one = session.answer("inspect_job", one).await;
    assert_eq!(items(&one["stages"]).len(), 1);
    assert_eq!(&one["stages"][0]["name"], stage);

    let hits = json!({ "query": "数据倾斜 热点键", "limit": 3, "cause": "skew." });
    let hits = session.answer("search_experience", hits).await;
    let hits = items(&hits["passages"]);
    assert_eq!(hits.len(), 3);
    for hit in hits {
        contains(hit["causes"].to_string(), ["skew."]);
    }

    let accept =
        json!({ "run_id": run, "suggestion": "S1", "action": "accept", "saved_seconds": 17.5 });
    let noted = session.answer("give_feedback", accept).await;
    assert_eq!(noted["cause"], "skew.join_hot_key");
    assert_eq!(noted["saved_seconds"], 17.5);

    let of_job = json!({ "job": "join-hot" });
    let runs = session.answer("list_runs", of_job).await;
    assert_eq!(runs["runs"][0]["run_id"], run.as_str());
    assert_eq!(items(&runs["runs"]).len(), 1);

    let templates = session.client.list_all_resource_templates().await;
    assert_eq!(templates.expect("templates").len(), 2);
    assert_eq!(session.resources().await, links);
}

#[tokio::test]
async fn runs_are_compared_replayed_and_listed_with_their_history() {
    let user = User::new();
    write_twins(&user.path("good"), &user.path("bad"));
    let root = user.home.path().display().to_string();
    let session = Session::open(&user, &["--root", &root], Listener::default()).await;
    let mut runs = Vec::new();
    for job in ["good", "bad"] {
        let report = session.answer("analyze_job", json!({ "job": job })).await;
        runs.push(report["run_id"].clone());
    }
    let compared = json!({ "a": runs[0], "b": "bad" });
    let compared = session.answer("compare_runs", compared).await;
    assert_eq!(compared["reasons"][0]["cause"], "skew.join_hot_key");
    let history = session
        .answer("job_history", json!({ "job": runs[1] }))
        .await;
    assert_eq!(items(&history["runs"]).len(), 2);
    let now = session.answer("whatif", json!({ "job": runs[1] })).await;
    let change = json!({ "job": runs[1], "count": 5, "fixed": ["F1"] });
    let replayed = session.answer("whatif", change).await;
    let seconds = |v: &Value| v["seconds"].as_f64().expect("seconds");
    assert!(seconds(&replayed["changed"][0]) > seconds(&now["now"]));
    let of_suggestion = json!({ "job": runs[1], "count": "5", "fixed": ["S1"] });
    let of_suggestion = session.answer("whatif", of_suggestion).await;
    assert_eq!(of_suggestion["changed"], replayed["changed"]);
    let factor = json!({ "job": runs[1], "count": "2x", "input": "3x" });
    let factor = session.answer("whatif", factor).await;
    let doubled = now["now"]["count"].as_u64().expect("a count") * 2;
    assert_eq!(factor["changed"][0]["count"], doubled);
    let unknown = json!({ "job": runs[1], "fixed": ["F9"] });
    contains(session.refusal("whatif", unknown).await, ["F1"]);
    let twice = json!({ "job": runs[1], "count": 5, "fixed": ["F1", "f1"] });
    let twice = session.answer("whatif", twice).await;
    assert_eq!(twice["changed"], replayed["changed"]);
    for (change, said) in [
        (json!({ "input": 0 }), "`input` can't be `0x`"),
        (json!({ "input": -2 }), "0.001x to 1000x"),
        (json!({ "cores": 0 }), "`cores` can't be `0`"),
        (json!({ "count": 0 }), "2x or 50..400"),
    ] {
        let mut change = change;
        change["job"] = json!(runs[1]);
        contains(session.refusal("whatif", change).await, [said]);
    }
    let outside = json!({ "a": "/etc", "b": runs[0] });
    contains(
        session.refusal("compare_runs", outside).await,
        ["outside the folders"],
    );
    contains(
        session.refusal("list_applications", json!({})).await,
        ["no History Server is allowed"],
    );
    let foreign = json!({ "server": "http://127.0.0.1:9" });
    contains(session.refusal("list_applications", foreign).await, ["not"]);

    let prompts = session.client.list_all_prompts().await.expect("prompts");
    assert_eq!(prompts.len(), 3);
    let arguments = json!({ "job": "bad" })
        .as_object()
        .cloned()
        .expect("an object");
    let asked = GetPromptRequestParams::new("explain_failure").with_arguments(arguments);
    let prompt = session.client.get_prompt(asked).await.expect("a prompt");
    contains(
        serde_json::to_string(&prompt.messages).expect("JSON"),
        ["`bad`", "analyze_job"],
    );
    contains(
        user.run_plain("skill").text(),
        ["name: scopeagent", "Spark", "scopeagent analyze"],
    );
}

#[tokio::test]
async fn a_stage_may_be_named_by_its_number() {
    let user = User::new();
    let cases = root().join("tests/cases");
    let session = Session::open(
        &user,
        &["--root", cases.to_str().expect("UTF-8")],
        Listener::default(),
    )
    .await;
    let stage = json!({ "job": "spark-join-hot-key", "stage": "4" });
    let stage = session.answer("inspect_job", stage).await;
    assert_eq!(stage["stages"][0]["name"], "Stage 4");
}

#[tokio::test]
async fn a_compressed_log_is_read_as_text() {
    let user = User::new();
    let cases = root().join("tests/cases");
    let roots = ["--root", cases.to_str().expect("UTF-8")];
    let session = Session::open(&user, &roots, Listener::default()).await;
    let log = json!({
        "job": "spark-join-hot-key",
        "file": "app-20261122005702-0000.zstd",
        "line": 2,
        "max_bytes": 40,
    });
    let part = session.answer("read_job_file", log).await;
    let text = part["text"].as_str().expect("text");
    assert!(text.starts_with("{\"Event\":"), "{text}");
}

#[tokio::test]
async fn the_parts_of_a_file_make_the_file() {
    let user = User::new();
    let session = Session::on_cases(&user).await;
    let (job, file) = ("join-hot-key-skew/job", "scope.script");
    let path = case("join-hot-key-skew").join(file);
    let whole = std::fs::read_to_string(path).expect("the script");
    let (mut joined, mut offset) = (String::new(), json!(0));
    while !offset.is_null() {
        let part = json!({ "job": job, "file": file, "offset": offset, "max_bytes": 301 });
        let part = session.answer("read_job_file", part).await;
        assert_eq!(part["line"], 1 + joined.matches('\n').count());
        joined.push_str(part["text"].as_str().expect("text"));
        offset = part["next_offset"].clone();
    }
    assert_eq!(joined, whole);
    let line = json!({ "job": job, "file": file, "line": 5, "max_bytes": 40 });
    let part = session.answer("read_job_file", line).await;
    let fifth = whole.lines().nth(4).expect("five lines");
    let text = part["text"].as_str().expect("text");
    assert_eq!(text.get(..8), fifth.get(..8));
    assert_eq!(part["kind"], "script");
    for (wrong, says) in [
        (
            json!({ "job": job, "file": file, "line": 100_000 }),
            "lines",
        ),
        (
            json!({ "job": job, "file": file, "line": 1, "offset": 0 }),
            "exclude",
        ),
    ] {
        contains(session.refusal("read_job_file", wrong).await, [says]);
    }
}

#[tokio::test]
async fn faults_are_told_with_their_remedy_and_end_nothing() {
    let user = User::new();
    let session = Session::on_cases(&user).await;
    let job = "healthy/job";
    let stage = json!({ "job": job, "stage": "SV99" });
    let file = json!({ "job": job, "file": "nothing" });
    let feedback = json!({ "run_id": "01J", "suggestion": "S1", "action": "ignore" });
    for (tool, arguments, says) in [
        ("analyze_job", json!({ "job": "healthy" }), "hint:"),
        ("analyze_job", json!({ "job": "no-such" }), "does not exist"),
        ("analyze_job", json!({}), "missing field `job`"),
        ("analyze_job", json!({ "job": "x", "jub": 1 }), "`jub`"),
        ("inspect_job", stage, "its stages are"),
        ("read_job_file", file, "no file"),
        ("give_feedback", feedback, "there is no run"),
    ] {
        contains(session.refusal(tool, arguments).await, [says]);
    }
    let report = session.answer("analyze_job", json!({ "job": job })).await;
    assert_eq!(report["verdict"], "healthy");
}

#[tokio::test]
async fn an_llm_is_asked_only_where_one_is_configured_and_wanted() {
    let llm = Server::start([]).rule(|_| Some(Turn::text("not a conclusion")));
    let user = configured(&llm);
    let session = Session::on_cases(&user).await;
    let open_world = |session: &Session| {
        let annotations = session.tool("analyze_job").annotations.clone();
        annotations.and_then(|a| a.open_world_hint)
    };
    assert_eq!(open_world(&session), Some(true));
    let offline = json!({ "job": "healthy/job", "reasoner": "offline" });
    let report = session.answer("analyze_job", offline).await;
    assert_eq!(report["engine"]["fallback"], Value::Null);
    assert!(llm.requests().is_empty());
    let healthy = json!({ "job": "healthy/job" });
    session.answer("analyze_job", healthy.clone()).await;
    assert!(!llm.requests().is_empty());

    let asked = llm.requests().len();
    let arguments = ["--root", &cases(), "--reasoner", "offline"];
    let session = Session::open(&user, &arguments, Listener::default()).await;
    assert_eq!(open_world(&session), Some(false));
    session.answer("analyze_job", healthy).await;
    assert_eq!(llm.requests().len(), asked);
}

#[test]
fn stdout_carries_the_protocol_and_nothing_else() {
    let user = User::new();
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "raw", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "analyze_job", "arguments": { "job": "healthy/job" } } }),
    ];
    let mut child = server(&user, &["--root", &cases()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    for message in messages {
        writeln!(stdin, "{message}").expect("written");
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends with its client");
    assert!(output.status.success());
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let message = |line| serde_json::from_str::<Value>(line).expect("a message");
    let ids: Vec<Value> = stdout
        .lines()
        .map(|line| message(line)["id"].take())
        .collect();
    assert_eq!(ids, [1, 2]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    contains(stderr, ["offline reasoner"]);
}

#[tokio::test]
async fn a_report_is_read_again_in_another_session() {
    let user = User::new();
    let report = user.report(&case("healthy"), "");
    let session = Session::discover(&user, &["--root", &cases()], Listener::default()).await;
    assert_eq!(session.report(&report).await, Some(report));
}
