//! Everything that can go wrong between here and a model: no run is lost, time is bounded, and the
//! user gets a clear line.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agent::AnalyzeError;
use llm::Provider;
use report::ReasonerKind;
use serde_json::json;
use testkit::llm::think::{agreeable, is_merged, plain, step_of};
use testkit::llm::{Chunking, Dialect, Fault, Server, Turn};
use testkit::{any_contains, contains};

use crate::support::*;

async fn report(server: &Server) -> Outcome {
    run(&healthy(), Setting::asking(server).or_offline()).await
}

fn faulty(fault: Fault) -> Turn {
    Turn::json(&plain("think1")).fault(fault)
}

/// The fault passes: the LLM's conclusions stand after a retry that was reported.
async fn recovers(provider: Provider, dialect: Dialect, turns: Vec<Turn>) {
    let server = Server::agreeing_after(turns).speaking(dialect);
    let profile = profile_of(provider, "scripted", &server);
    let report = run(&healthy(), Setting::with(asking(&profile)).or_offline()).await;
    report.is_by_llm();
    contains(&report.steps[0].text, ["class"]);
    assert!(report.count("Retry") > 0, "{:?}", report.events);
}

#[tokio::test]
async fn what_passes_is_asked_again() {
    let event = json!({ "error": { "message": "overloaded", "type": "server_error" } });
    let page = Turn::raw(502, "<html><body>Bad gateway</body></html>");
    for turns in [
        vec![faulty(Fault::StallAfter(200, Duration::from_secs(3)))],
        vec![faulty(Fault::CutAfter(0))],
        vec![faulty(Fault::CutAfter(700))],
        // Before the first byte, within the answer, and just before its end.
        vec![faulty(Fault::ResetAfter(0))],
        vec![faulty(Fault::ResetAfter(700))],
        vec![faulty(Fault::ResetAfter(1500))],
        vec![faulty(Fault::NoEnd)],
        vec![faulty(Fault::ErrorEvent(event))],
        // As long as the server says.
        vec![
            Turn::error(429, "slow down").header("retry-after", "0"),
            Turn::error(429, "slow down").header("retry-after-ms", "20"),
        ],
        vec![Turn::error(500, "oops"), Turn::error(529, "overloaded")],
        vec![page.header("content-type", "text/html")],
        vec![Turn::text("")],
    ] {
        recovers(Provider::Compatible, Dialect::Local, turns).await;
    }
}

const PROVIDERS: [(Provider, Dialect); 3] = [
    (Provider::OpenAiResponses, Dialect::OpenAi),
    (Provider::Anthropic, Dialect::Anthropic),
    (Provider::Gemini, Dialect::Gemini),
];

/// Each protocol ends a stream, and reports an error inside one, in its own way.
#[test]
fn streams_break_in_every_protocol_alike() {
    let event = json!({ "message": "overloaded", "type": "server_error", "code": 503 });
    let faults = [
        Fault::NoEnd,
        Fault::CutAfter(400),
        Fault::ResetAfter(400),
        Fault::ErrorEvent(event),
        Fault::StallAfter(400, Duration::from_secs(4)),
    ];
    let all = PROVIDERS
        .iter()
        .flat_map(|p| faults.iter().map(move |fault| (*p, fault.clone())));
    concurrently(all, async |((provider, dialect), fault)| {
        recovers(provider, dialect, vec![faulty(fault)]).await;
    });
}

#[test]
fn characters_and_line_ends_may_be_split_anywhere() {
    let mut all = Vec::new();
    for of in PROVIDERS
        .into_iter()
        .chain([(Provider::Compatible, Dialect::Local)])
    {
        for chunking in [Chunking::Bytes(1), Chunking::Bytes(7), Chunking::Whole] {
            all.extend([false, true].map(|crlf| (of, chunking.clone(), crlf)));
        }
    }
    concurrently(all, async |((provider, dialect), chunking, crlf)| {
        let server = Server::agreeing_unless(move |request| {
            let mut answer = agreeable(request);
            let place = if is_merged(request) {
                "/think1/text"
            } else {
                "/text"
            };
            if let Some(text) = answer.pointer_mut(place) {
                *text = "SV1_Extract_Split 的字符可以在任何地方断开。".into();
            }
            let turn = Turn::json(&answer).chunking(chunking.clone()).pieces(3);
            Some(if crlf { turn.crlf() } else { turn })
        });
        let server = server.speaking(dialect);
        let mut profile = profile_of(provider, "scripted", &server);
        profile.read_timeout_seconds = Some(5.0);
        profile.timeout_seconds = Some(20.0);
        let report = run(&healthy(), Setting::with(asking(&profile)).or_offline()).await;
        report.is_by_llm();
        contains(&report.steps[0].text, ["字符可以在任何地方断开"]);
    });
}

/// The fault stays: the offline reasoner takes over, and the report gives the reason once, and a hint.
#[tokio::test]
async fn what_does_not_pass_falls_back_with_a_clear_line() {
    for (turn, said) in [
        (faulty(Fault::ResetAfter(100)), "connection"),
        (Turn::error(404, "no such model"), "no such model"),
        (
            Turn::text("I would rather talk about the weather."),
            "no JSON object",
        ),
        (Turn::text("{\"text\": 5}"), "cannot be used"),
        (
            Turn::text("a".repeat(2 << 20)).pieces(4096),
            "went on beyond",
        ),
    ] {
        let server = Server::start([]).rule(move |_| Some(turn.clone()));
        let report = report(&server).await;
        assert_eq!(report.engine.reasoner, ReasonerKind::Offline, "{said}");
        contains(report.fallback(), [said]);
        assert_eq!(report.steps.len(), 5, "{said}");
        let mut diagnostics = report.diagnostics.iter();
        let has_hint = diagnostics.any(|d| d.message.contains("think1") && d.hint.is_some());
        assert!(has_hint, "{:?}", report.diagnostics);
    }
}

#[tokio::test]
async fn a_wrong_key_is_not_tried_again() {
    let server = Server::agreeing_after([Turn::error(401, "Incorrect API key provided")]);
    let report = report(&server).await;
    assert_eq!(report.engine.reasoner, ReasonerKind::Offline);
    assert_eq!((server.requests().len(), report.count("Retry")), (1, 0));
    any_contains(&report.hints(), "key");
}

#[tokio::test]
async fn without_a_fallback_the_failure_is_the_analysis() {
    let server = Server::start([]).rule(|_| Some(Turn::error(404, "no such model")));
    let result = try_run(&healthy(), Setting::asking(&server)).await;
    let error = result.err().expect("no reasoner is left");
    let in_first = matches!(error, AnalyzeError::Reasoner { step: "think1", .. });
    assert!(in_first, "{error}");
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_shrunk_once() {
    let status = Turn::error(400, "This model's maximum context length is 8192 tokens");
    let event = json!({ "code": "context_length_exceeded", "message": "Your input exceeds the context window" });
    for turn in [status, faulty(Fault::ErrorEvent(event))] {
        let server = Server::agreeing_after([turn]);
        let report = run(&skewed(), Setting::asking(&server).indexed()).await;
        report.is_by_llm();
        let requests = server.requests();
        assert!(requests[1].prompt().len() < requests[0].prompt().len());
        any_contains(&report.steps[0].remarks, "left out");
    }
}

#[tokio::test]
async fn section_9_an_answer_that_is_too_long_is_summed_up() {
    let long = Turn::text("{\"problem_type\": \"none\", \"text\": \"and so on and on");
    let report = report(&Server::agreeing_after([long.finish("length")])).await;
    contains(&report.steps[0].text, ["class"]);
    any_contains(&report.steps[0].remarks, "summed up");
}

#[tokio::test]
async fn a_model_that_asks_for_ever_reaches_the_bound() {
    let count = AtomicU32::new(0);
    let server = Server::amending(move |request, answer| {
        if step_of(request) == "think4" {
            let argument = format!("again {}", count.fetch_add(1, Ordering::SeqCst));
            answer["needs_files"] = true.into();
            answer["lookups"] = json!([{ "tool": "search_experience", "argument": argument }]);
        }
    });
    let report = report(&server).await;
    assert_eq!(report.step("think4").conclusion["ended"], "round_limit");
    assert!(server.requests().len() < 20, "{}", server.requests().len());
}
