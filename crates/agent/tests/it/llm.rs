//! The LLM path against a scripted server.

use agent::report::{ReasonerKind, Report};
use agent::{Depth, Request};
use testkit::llm::{Server, Turn};

use crate::support::{
    self, Setting, about, agreeable, agreeable_answer, asking, plain, profile, step_of,
};

async fn report(request: &Request, setting: Setting) -> Report {
    support::run(request, setting).await.0.expect("a report")
}

#[tokio::test]
async fn each_step_streams_its_answer_and_concludes() {
    let server = agreeable();
    let (result, told) = support::run(
        &about("healthy"),
        Setting::with(asking(&profile(&server.url()))),
    )
    .await;
    let report = result.expect("a report");
    assert_eq!(report.engine.reasoner, ReasonerKind::Llm);
    assert_eq!(report.engine.model.as_deref(), Some("scripted"));
    assert!(
        server
            .requests()
            .iter()
            .all(testkit::llm::Recorded::streams)
    );
    assert!(
        told.iter().filter(|e| e.starts_with("Token")).count() > 10,
        "{told:?}"
    );
    let texts: Vec<&str> = report.steps.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(texts[0], "class");
    assert_eq!(texts[4], "advice");
    let usage = report.usage.expect("usage");
    assert_eq!(usage.calls as usize, server.requests().len());
    assert_eq!(usage.tokens_in, 100 * u64::from(usage.calls));
}

#[tokio::test]
async fn facts_findings_and_evidence_are_those_of_the_offline_reasoner() {
    for case in support::CASES {
        let server = agreeable();
        let with = report(&about(case), Setting::with(asking(&profile(&server.url())))).await;
        let without = report(&about(case), Setting::offline()).await;
        assert_eq!(with.findings, without.findings, "{case}");
        assert_eq!(with.evidence, without.evidence, "{case}");
        assert_eq!(with.verdict, without.verdict, "{case}");
    }
}

#[tokio::test]
async fn earlier_conclusions_are_in_later_prompts() {
    let server = agreeable();
    report(
        &about("healthy"),
        Setting::with(asking(&profile(&server.url()))),
    )
    .await;
    let requests = server.requests();
    let last = requests.last().expect("requests");
    assert_eq!(step_of(last), "think5");
    for text in ["class", "code", "causes"] {
        assert!(last.prompt().contains(text), "{}", last.prompt());
    }
}

#[tokio::test]
async fn quick_asks_twice() {
    let server = agreeable();
    let request = Request {
        depth: Depth::Quick,
        ..about("healthy")
    };
    let report = report(&request, Setting::with(asking(&profile(&server.url())))).await;
    assert_eq!(server.requests().len(), 2);
    assert_eq!(report.steps.len(), 5);
}

#[tokio::test]
async fn thoughts_are_kept_apart_from_the_answer() {
    let server = Server::start([])
        .rule(|r| Some(Turn::json(&agreeable_answer(r)).reasoning("let me think")));
    let (result, told) = support::run(
        &about("healthy"),
        Setting::with(asking(&profile(&server.url()))),
    )
    .await;
    let report = result.expect("a report");
    assert!(told.iter().any(|e| e.starts_with("Thinking")));
    assert!(
        report
            .steps
            .iter()
            .all(|s| !s.text.contains("let me think"))
    );
}

#[tokio::test]
async fn files_that_the_model_asks_for_are_read_and_shown_to_it() {
    let wanted = std::sync::atomic::AtomicBool::new(true);
    let server = Server::start([]).rule(move |request| {
        let first_time =
            step_of(request) == "think4" && wanted.swap(false, std::sync::atomic::Ordering::SeqCst);
        let answer = if first_time {
            let mut ask = plain("think4");
            ask["needs_files"] = true.into();
            ask["files"] = serde_json::json!([
                { "file": "__ScopeCodeGen__.dll.cs", "reason": "user code" },
                { "file": "../../../etc/passwd", "reason": "curiosity" }
            ]);
            ask["lookups"] = serde_json::json!([{ "tool": "table_metadata", "argument": "" }]);
            ask
        } else {
            agreeable_answer(request)
        };
        Some(Turn::json(&answer))
    });
    let report = report(
        &about("join-hot-key-skew"),
        Setting::with(asking(&profile(&server.url()))),
    )
    .await;
    let read: Vec<&str> = report.files_read.iter().map(|f| f.file.as_str()).collect();
    assert!(read.contains(&"__ScopeCodeGen__.dll.cs"), "{read:?}");
    assert!(!read.iter().any(|f| f.contains("passwd")), "{read:?}");
    let requests = server.requests();
    let second = requests
        .iter()
        .filter(|r| step_of(r) == "think4")
        .nth(1)
        .expect("a second round");
    assert!(
        second.prompt().contains("### __ScopeCodeGen__.dll.cs"),
        "{}",
        second.prompt()
    );
    assert!(
        second.prompt().contains("### table_metadata()"),
        "{}",
        second.prompt()
    );
    assert!(!requests.iter().any(|r| r.prompt().contains("root:")));
}

#[tokio::test]
async fn a_server_without_schemas_is_asked_in_a_weaker_way() {
    let server = Server::start([]).rule(|request| {
        if request.body["response_format"]["type"] == "json_schema" {
            return Some(Turn::error(
                400,
                "'response_format' of type 'json_schema' is not supported",
            ));
        }
        if !request.tools().is_empty() {
            return Some(Turn::error(
                400,
                "tool_choice is not supported by this model",
            ));
        }
        Some(Turn::json(&agreeable_answer(request)))
    });
    let report = report(
        &about("healthy"),
        Setting::with(asking(&profile(&server.url()))),
    )
    .await;
    assert_eq!(report.steps[0].text, "class");
    let requests = server.requests();
    let last = requests.last().expect("requests");
    assert_eq!(last.body["response_format"]["type"], "json_object");
    assert!(
        last.prompt().contains("JSON Schema:"),
        "the schema stands in the prompt"
    );
}

#[tokio::test]
async fn a_forced_tool_hands_in_the_answer() {
    let server = Server::start([])
        .rule(|request| Some(Turn::tool("submit_step", &agreeable_answer(request))));
    let mut profile = profile(&server.url());
    profile.structured_output = Some(agent::llm::Level::Tool);
    let report = report(&about("healthy"), Setting::with(asking(&profile))).await;
    assert_eq!(report.steps[0].text, "class");
    assert_eq!(
        server.requests()[0].body["tool_choice"]["function"]["name"],
        "submit_step"
    );
}
