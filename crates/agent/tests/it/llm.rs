//! The LLM path against a scripted server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::offline::Offline;
use agent::{Depth, Request, StepId};
use report::{Language, Report};
use serde_json::{Map, Value, json};
use testkit::contains;
use testkit::llm::think::{agreeable, plain, step_of};
use testkit::llm::{Recorded, Server, Turn};

use crate::support::*;

const CODE: &str = "__ScopeCodeGen__.dll.cs";

#[tokio::test]
async fn section_2_each_step_streams_its_answer_and_concludes() {
    let server = Server::agreeing();
    let report = ask(&server, &healthy()).await;
    report.is_by_llm();
    assert_eq!(report.engine.model.as_deref(), Some("scripted"));
    let requests = server.requests();
    assert!(requests.iter().all(Recorded::streams));
    assert!(report.count("Token") > 10, "{:?}", report.events);
    let texts: Vec<&str> = report.steps.iter().map(|s| s.text.as_str()).collect();
    contains(texts[0], ["class"]);
    contains(texts[4], ["advice"]);
    let usage = report.usage.as_ref().expect("usage");
    assert_eq!(usage.calls as usize, requests.len());
    assert_eq!(usage.tokens_in, 100 * u64::from(usage.calls));
    // Earlier conclusions are in later prompts.
    let last = requests.last().expect("requests");
    assert_eq!(step_of(last), "think5");
    contains(last.prompt(), ["class", "code", "causes"]);
}

#[tokio::test]
async fn section_2_the_question_goes_through_the_chain_and_files_are_read_between_its_steps() {
    let wanted = AtomicBool::new(true);
    let server = Server::amending(move |request, answer| match step_of(request) {
        "think4" if wanted.swap(false, Ordering::SeqCst) => {
            answer["needs_files"] = true.into();
            answer["files"] = json!([{ "file": CODE, "reason": "user code" }]);
        }
        "think5" => {
            answer["answer"] = json!({ "text": "One key is hot [F1].", "evidence": [] });
        }
        _ => {}
    });
    let question = "Why is RouteQuality_V3 late again?";
    let request = Request {
        question: Some(question.to_owned()),
        ..skewed()
    };
    let report = ask(&server, &request).await;
    let requests = server.requests();
    let steps: Vec<&str> = requests.iter().map(step_of).collect();
    let expected = ["think1", "think2", "think3", "think4", "think4", "think5"];
    assert_eq!(steps, expected);
    let shows_file = |r: &Recorded| r.prompt().contains("<<<data file ");
    let shows: Vec<bool> = requests.iter().map(shows_file).collect();
    assert_eq!(shows, [false, false, false, false, true, true]);
    for request in &requests {
        contains(request.prompt(), [question]);
    }
    assert!(report.has_read(CODE));
    assert_eq!(report.question.as_deref(), Some(question));
    // The program answers first.
    let answer = report.answer.as_ref().map_or("", |a| a.text.as_str());
    assert!(
        answer.ends_with("\n\nThe model adds: One key is hot [F1]."),
        "{answer}"
    );
}

#[tokio::test]
async fn sentences_without_a_basis_are_left_out_and_conclusions_of_the_model_marked() {
    let groundless = "The load is split over 9 partitions that are not equal. \
                      To resolve it, the partitions should be balanced. This is a critical issue for the business.";
    let based = "One key is hot [F1]. The other vertices hold their slots in the meantime.";
    let server = Server::amending(move |request, answer| match step_of(request) {
        "think1" => answer["text"] = groundless.into(),
        "think2" => answer["text"] = format!("{based} {groundless}").into(),
        _ => {}
    });
    let report = ask(&server, &skewed()).await;
    let texts: Vec<&str> = report.steps.iter().map(|s| s.text.as_str()).collect();
    let marked =
        "One key is hot [F1]. The other vertices hold their slots in the meantime [unverified].";
    contains(texts[1], [marked]);
    for text in texts {
        for part in ["not equal", "balanced", "critical"] {
            assert!(!text.contains(part), "{text}");
        }
    }
}

#[tokio::test]
async fn background_structured_conclusions_are_kept_and_shown_to_later_steps() {
    let server = Server::amending(|request, answer| match step_of(request) {
        "think1" => {
            answer["problem_type"] = "data_skew".into();
            answer["findings"] = json!(["F1"]);
        }
        "think2" => {
            answer["modules"] = json!([{
                "name": "Joined", "finding": "F1", "first_line": 31, "last_line": 40,
                "stage": "SV3_Combine_Reduce", "role": "it joins", "experiences": []
            }]);
        }
        _ => {}
    });
    let report = ask(&server, &skewed()).await;
    assert_eq!(
        report.step("think1").conclusion["problem_type"],
        "data_skew"
    );
    assert_eq!(
        report.step("think2").conclusion["modules"][0]["name"],
        "Joined"
    );
    let class = "- class: data_skew [F1]";
    let module = "- Joined, lines 31–40, stage SV3_Combine_Reduce [F1]:";
    let seen = |step: &str| server.last_for(step).expect("a request").prompt();
    contains(seen("think2"), [class]);
    for step in ["think3", "think4", "think5"] {
        contains(seen(step), [class, module]);
    }
    assert!(!seen("think1").contains(class));
}

/// Everything of a report that does not stem from a reasoner, by field.
fn facts_of(report: &Report) -> Map<String, Value> {
    let value = serde_json::to_value(report).expect("a report is JSON");
    let Value::Object(mut fields) = value else {
        panic!("a report is an object");
    };
    // Fields that a reasoner adds, and fields that differ between runs.
    let own = [
        "run_id",
        "engine",
        "steps",
        "usage",
        "checks",
        "experiences",
    ];
    for field in own {
        assert!(
            fields.remove(field).is_some(),
            "there is no field `{field}`"
        );
    }
    fields
}

#[tokio::test]
async fn facts_findings_and_evidence_are_those_of_the_offline_reasoner_field_by_field() {
    for case in CASES {
        for (language, indexed) in [(Language::En, true), (Language::Zh, false)] {
            let request = Request {
                language: Some(language),
                ..about(case)
            };
            let server = Server::agreeing();
            let experienced = |s: Setting| if indexed { s.indexed() } else { s };
            let llm = experienced(Setting::asking(&server));
            let with = facts_of(&run(&request, llm).await.report);
            let offline = experienced(Setting::with(Offline));
            let without = facts_of(&run(&request, offline).await.report);
            assert!(with.keys().eq(without.keys()), "{case} {language:?}");
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
    let server = Server::agreeing_unless(|request| {
        let slow = Turn::json(&agreeable(request)).delay(Duration::from_millis(150));
        (step_of(request) == "think5").then_some(slow)
    });
    let request = Request {
        hypotheses: true,
        ..healthy()
    };
    let report = ask(&server, &request).await;
    assert_eq!(
        report.steps.last().map(|s| s.id.as_str()),
        Some("hypotheses")
    );
    // The advice was asked for first and answered last, so the other did not wait for it.
    let first_token = |step: &str| {
        let mut events = report.events.iter();
        events.position(|e| e.starts_with("Token") && e.contains(step))
    };
    let [hypotheses, advice] = ["Hypotheses", "Advice"].map(first_token);
    assert!(
        hypotheses.is_some() && hypotheses < advice,
        "{:?}",
        report.events
    );
    for asked in server.requests().iter().rev().take(2) {
        assert!(matches!(step_of(asked), "think5" | "hypotheses"));
        let sees_the_other = asked.conversation().contains("### Advice");
        assert!(!sees_the_other, "neither saw the other's conclusion");
    }
    assert_eq!(report.usage.as_ref().map(|u| u.calls), Some(6));
}

#[tokio::test]
async fn section_10_hypotheses_that_a_file_decides_are_checked_with_it() {
    let server = Server::amending(|request, answer| {
        if step_of(request) == "hypotheses" {
            // A repair has the answer before it, not the file.
            let prompt = request.prompt();
            let was_read = prompt.contains("<<<data file ") || prompt.contains("\"refuted\"");
            let result = if was_read { "refuted" } else { "open" };
            answer["hypotheses"] = json!([
                { "hypothesis": "user code is slow", "check": "look at the generated code",
                  "file": CODE, "result": result, "evidence": [] },
                { "hypothesis": "the disk is full", "check": "ask the disk", "file": "../../disk.log",
                  "result": "open", "evidence": [] }
            ]);
        }
    });
    let request = Request {
        hypotheses: true,
        ..skewed()
    };
    let report = ask(&server, &request).await;
    let drawn = &report.step("hypotheses").conclusion["hypotheses"];
    assert_eq!(drawn[0]["result"], "refuted", "{drawn}");
    assert_eq!(drawn[1]["file"], Value::Null, "{drawn}");
    assert!(report.has_read(CODE));
    // Before and after the file was read; the invented name is left out without a turn of repair.
    assert_eq!(server.asked_for("hypotheses"), 2);
}

#[tokio::test]
async fn a_step_may_have_its_own_model() {
    let (small, strong) = (Server::agreeing(), Server::agreeing());
    let other = model(&profile(&strong));
    let reasoner = asking(&profile(&small)).with_step(StepId::Advice, other);
    let report = run(&healthy(), Setting::with(reasoner)).await;
    contains(&report.steps[4].text, ["advice"]);
    let asked = |server: &Server| (server.asked_for("think5"), server.requests().len());
    assert_eq!((asked(&small), asked(&strong)), ((0, 4), (1, 1)));
}

#[tokio::test]
async fn another_profile_takes_over_and_the_report_says_so() {
    let broken = Server::agreeing_unless(|request| {
        let fine = matches!(step_of(request), "think1" | "think2");
        (!fine).then(|| Turn::error(404, "no such model"))
    });
    let (second, price) = (Server::agreeing(), Some(1.0));
    let mut other = profile(&second);
    other.model = "second".to_owned();
    (other.price_per_million_in, other.price_per_million_out) = (price, price);
    let mut setting = Setting::asking(&broken);
    setting.fallbacks.push(Box::new(asking(&other)));
    let report = run(&healthy(), setting.or_offline()).await;
    assert_eq!(report.engine.model.as_deref(), Some("second"));
    let reason = report.fallback();
    assert!(reason.starts_with("think3: "), "{reason}");
    contains(reason, ["no such model"]);
    assert!(report.count("Fallback") > 0, "{:?}", report.events);
    assert_eq!(second.requests().len(), 3);
    let usage = report.usage.as_ref().expect("usage");
    // Two calls of the first, three of the second; only the second has a price.
    assert_eq!((usage.calls, usage.tokens_in), (5, 500));
    let cost = usage.cost.expect("a price");
    assert!((cost - 3.0 * 120.0 * 1e-6).abs() < 1e-12, "{cost}");
}

#[tokio::test]
async fn quick_asks_twice() {
    let server = Server::agreeing();
    let request = Request {
        depth: Depth::Quick,
        ..healthy()
    };
    let report = ask(&server, &request).await;
    assert_eq!((server.requests().len(), report.steps.len()), (2, 5));
}

#[tokio::test]
async fn section_4_files_that_the_model_asks_for_are_read_and_shown_to_it() {
    let wanted = AtomicBool::new(true);
    let server = Server::amending(move |request, answer| {
        if step_of(request) == "think4" && wanted.swap(false, Ordering::SeqCst) {
            *answer = plain("think4");
            answer["needs_files"] = true.into();
            answer["files"] = json!([
                { "file": CODE, "reason": "user code" },
                { "file": "../../../etc/passwd", "reason": "curiosity" }
            ]);
            answer["lookups"] = json!([{ "tool": "table_metadata", "argument": "" }]);
        }
    });
    let report = ask(&server, &skewed()).await;
    assert!(report.has_read(CODE) && !report.has_read("passwd"));
    assert!(server.asked_for("think4") >= 2, "a second round");
    let last = server.last_for("think4").expect("a request");
    contains(
        last.prompt(),
        [format!("\n{CODE}").as_str(), "\ntable_metadata()"],
    );
    let requests = server.requests();
    assert!(!requests.iter().any(|r| r.prompt().contains("root:")));
}

#[tokio::test]
async fn a_server_without_schemas_is_asked_in_a_weaker_way() {
    let server = Server::agreeing_unless(|request| {
        let no_schema = "'response_format' of type 'json_schema' is not supported";
        let no_tools = "tool_choice is not supported by this model";
        let refusal = match request.body["response_format"]["type"].as_str() {
            Some("json_schema") => no_schema,
            _ if !request.tools().is_empty() => no_tools,
            _ => return None,
        };
        Some(Turn::error(400, refusal))
    });
    let report = ask(&server, &healthy()).await;
    contains(&report.steps[0].text, ["class"]);
    let requests = server.requests();
    let last = requests.last().expect("requests");
    assert_eq!(last.body["response_format"]["type"], "json_object");
    contains(last.prompt(), ["this JSON Schema"]);
}

#[tokio::test]
async fn a_forced_tool_hands_in_the_answer() {
    let submit = |request: &Recorded| Turn::tool("submit_step", &agreeable(request));
    let server = Server::start([]).rule(move |request| Some(submit(request)));
    let mut profile = profile(&server);
    profile.structured_output = Some(llm::Level::Tool);
    let report = run(&healthy(), Setting::with(asking(&profile))).await;
    contains(&report.steps[0].text, ["class"]);
    let forced = &server.requests()[0].body["tool_choice"]["function"]["name"];
    assert_eq!(forced, "submit_step");
}
