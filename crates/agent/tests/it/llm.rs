//! The LLM path against a scripted server.

use agent::{Depth, Request};
use report::{Language, ReasonerKind, Report};
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

/// Everything of a report that does not stem from a reasoner, by field.
fn facts_of(report: &Report) -> serde_json::Map<String, serde_json::Value> {
    let value = serde_json::to_value(report).expect("a report is JSON");
    let serde_json::Value::Object(mut fields) = value else {
        panic!("a report is an object");
    };
    // What a reasoner adds, and what tells one run from another.
    for own in [
        "run_id",
        "engine",
        "steps",
        "usage",
        "checks",
        "experiences",
    ] {
        assert!(fields.remove(own).is_some(), "there is no field `{own}`");
    }
    fields
}

#[tokio::test]
async fn facts_findings_and_evidence_are_those_of_the_offline_reasoner_field_by_field() {
    for case in support::CASES {
        for (language, indexed) in [(Language::En, true), (Language::Zh, false)] {
            let request = Request {
                language: Some(language),
                ..about(case)
            };
            let server = agreeable();
            let llm = Setting::with(asking(&profile(&server.url())));
            let with = report(&request, Setting { indexed, ..llm }).await;
            let offline = Setting::offline();
            let without = report(&request, Setting { indexed, ..offline }).await;
            let (with, without) = (facts_of(&with), facts_of(&without));
            let names = |fields: &serde_json::Map<String, serde_json::Value>| {
                fields.keys().cloned().collect::<Vec<_>>()
            };
            assert_eq!(names(&with), names(&without), "{case} {language:?}");
            for (name, value) in &with {
                assert_eq!(*value, without[name], "{case} {language:?}: field `{name}`");
            }
            for name in [
                "findings",
                "evidence",
                "suggestions",
                "missing_information",
                "rules",
                "notes",
            ] {
                assert!(with.contains_key(name), "{name} was compared");
            }
        }
    }
}

#[tokio::test]
async fn advice_and_hypotheses_are_asked_for_at_once() {
    let server = Server::start([]).rule(|request| {
        let slow = step_of(request) == "think5";
        let turn = Turn::json(&agreeable_answer(request));
        Some(turn.delay(std::time::Duration::from_millis(if slow { 150 } else { 0 })))
    });
    let request = Request {
        hypotheses: true,
        ..about("healthy")
    };
    let setting = Setting::with(asking(&profile(&server.url())));
    let (report, told) = support::run(&request, setting).await;
    let report = report.expect("a report");
    let ids: Vec<&str> = report.steps.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids.last(), Some(&"hypotheses"), "{ids:?}");
    // The advice was asked for first and answered last, so the other did not wait for it.
    let first_token = |step: &str| {
        told.iter()
            .position(|e| e.starts_with("Token") && e.contains(step))
    };
    assert!(
        first_token("Hypotheses") < first_token("Advice"),
        "{told:?}"
    );
    assert!(first_token("Hypotheses").is_some());
    for asked in server.requests().iter().rev().take(2) {
        assert!(matches!(step_of(asked), "think5" | "hypotheses"));
        assert!(
            !asked.conversation().contains("### Advice"),
            "neither saw what the other concluded"
        );
    }
    assert_eq!(report.usage.expect("usage").calls, 6);
}

#[tokio::test]
async fn hypotheses_that_a_file_decides_are_checked_with_it() {
    let server = Server::start([]).rule(|request| {
        let mut answer = agreeable_answer(request);
        if step_of(request) == "hypotheses" {
            let was_read = request.prompt().contains("### __ScopeCodeGen__.dll.cs");
            answer["hypotheses"] = serde_json::json!([
                { "hypothesis": "user code is slow", "check": "look at the generated code",
                  "file": "__ScopeCodeGen__.dll.cs", "result": if was_read { "refuted" } else { "open" }, "evidence": [] },
                { "hypothesis": "the disk is full", "check": "ask the disk", "file": "../../disk.log",
                  "result": "open", "evidence": [] }
            ]);
        }
        Some(Turn::json(&answer))
    });
    let request = Request {
        hypotheses: true,
        ..about("join-hot-key-skew")
    };
    let report = report(&request, Setting::with(asking(&profile(&server.url())))).await;
    let appendix = report
        .steps
        .iter()
        .find(|s| s.id == "hypotheses")
        .expect("the appendix");
    let drawn = &appendix.conclusion["hypotheses"];
    assert_eq!(drawn[0]["result"], "refuted", "{drawn}");
    assert_eq!(drawn[1]["file"], serde_json::Value::Null, "{drawn}");
    assert!(
        report
            .files_read
            .iter()
            .any(|f| f.file == "__ScopeCodeGen__.dll.cs")
    );
    // Before and after the file was read; the invented name costs a turn of repair each time.
    assert_eq!(support::asked_for(&server, "hypotheses"), 4);
}

#[tokio::test]
async fn a_step_may_have_a_model_of_its_own() {
    let (small, strong) = (agreeable(), agreeable());
    let server = llm::Server::new(&profile(&strong.url()), None).expect("a sound profile");
    let model = llm::Model::new(profile(&strong.url()), std::sync::Arc::new(server));
    let reasoner = asking(&profile(&small.url())).with_step(agent::StepId::Advice, model);
    let report = report(&about("healthy"), Setting::with(reasoner)).await;
    assert_eq!(report.steps[4].text, "advice");
    assert_eq!(
        (support::asked_for(&small, "think5"), small.requests().len()),
        (0, 4)
    );
    assert_eq!(
        (
            support::asked_for(&strong, "think5"),
            strong.requests().len()
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn another_profile_takes_over_and_the_report_says_so() {
    let broken = Server::start([]).rule(|request| {
        Some(match step_of(request) {
            "think1" | "think2" => Turn::json(&agreeable_answer(request)),
            _ => Turn::error(404, "no such model"),
        })
    });
    let (second, price) = (agreeable(), Some(1.0));
    let mut other = profile(&second.url());
    other.model = "second".to_owned();
    (other.price_per_million_in, other.price_per_million_out) = (price, price);
    let mut setting = Setting::with(asking(&profile(&broken.url())));
    setting.fallbacks.push(Box::new(asking(&other)));
    let (result, told) = support::run(&about("healthy"), setting.or_offline()).await;
    let report = result.expect("a report");
    assert_eq!(report.engine.model.as_deref(), Some("second"));
    let reason = report.engine.fallback.clone().unwrap_or_default();
    assert!(
        reason.starts_with("think3: ") && reason.contains("no such model"),
        "{reason}"
    );
    assert!(told.iter().any(|e| e.starts_with("Fallback")), "{told:?}");
    assert_eq!(second.requests().len(), 3);
    let usage = report.usage.expect("usage");
    // Two calls of the first, three of the second; only the second has a price.
    assert_eq!((usage.calls, usage.tokens_in), (5, 500));
    let cost = usage.cost.expect("a price");
    assert!((cost - 3.0 * 120.0 * 1e-6).abs() < 1e-12, "{cost}");
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
        "the schema is in the prompt"
    );
}

#[tokio::test]
async fn a_forced_tool_hands_in_the_answer() {
    let server = Server::start([])
        .rule(|request| Some(Turn::tool("submit_step", &agreeable_answer(request))));
    let mut profile = profile(&server.url());
    profile.structured_output = Some(llm::Level::Tool);
    let report = report(&about("healthy"), Setting::with(asking(&profile))).await;
    assert_eq!(report.steps[0].text, "class");
    assert_eq!(
        server.requests()[0].body["tool_choice"]["function"]["name"],
        "submit_step"
    );
}
