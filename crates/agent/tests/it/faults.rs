//! Everything that can go wrong between here and a model: no run is lost, time is bounded, and the
//! user gets a clear line.

use std::time::Duration;

use llm::Provider;
use report::{ReasonerKind, Report};
use serde_json::json;
use testkit::llm::{Chunking, Dialect, Fault, Server, Turn};

use crate::support::{self, Setting, about, agreeable_answer, asking, profile};

/// A server whose first answers are wrong and whose later ones are right.
fn first(turns: Vec<Turn>) -> Server {
    let wrong = std::sync::Mutex::new(std::collections::VecDeque::from(turns));
    Server::start([]).rule(move |request| {
        let next = wrong.lock().expect("no test holds it").pop_front();
        Some(next.unwrap_or_else(|| Turn::json(&agreeable_answer(request))))
    })
}

async fn report(server: &Server) -> (Report, Vec<String>) {
    let setting = Setting::with(asking(&profile(&server.url()))).or_offline();
    let (result, told) = support::run(&about("healthy"), setting).await;
    (result.expect("a report"), told)
}

/// The fault passes: the LLM's conclusions stand after a retry that was told.
async fn recovers(turns: Vec<Turn>) {
    let name = format!("{turns:?}");
    let server = first(turns);
    let (report, told) = report(&server).await;
    assert_eq!(
        report.engine.reasoner,
        ReasonerKind::Llm,
        "{name}: {:?}",
        report.engine
    );
    assert_eq!(report.steps[0].text, "class", "{name}");
    assert!(
        told.iter().any(|e| e.starts_with("Retry")),
        "{name}: {told:?}"
    );
}

/// The fault stays: the offline reasoner takes over, and the report says so in a clear line.
async fn falls_back(turn: Turn, said: &str) {
    let name = format!("{turn:?}");
    let server = Server::start([]).rule(move |_| Some(turn.clone()));
    let (report, _) = report(&server).await;
    assert_eq!(report.engine.reasoner, ReasonerKind::Offline, "{name}");
    let reason = report.engine.fallback.clone().unwrap_or_default();
    assert!(reason.contains(said), "{name}: {reason}");
    assert_eq!(report.steps.len(), 5, "{name}");
    assert!(
        report
            .diagnostics
            .iter()
            .any(|d| d.message.contains(said) && d.hint.is_some()),
        "{:?}",
        report.diagnostics
    );
}

fn whole_answer() -> serde_json::Value {
    support::plain("think1")
}

#[tokio::test]
async fn a_stall_is_given_up_and_asked_again() {
    recovers(vec![
        Turn::json(&whole_answer()).fault(Fault::StallAfter(200, Duration::from_secs(3))),
    ])
    .await;
}

#[tokio::test]
async fn a_cut_connection_is_asked_again() {
    recovers(vec![
        Turn::json(&whole_answer()).fault(Fault::CutAfter(700)),
    ])
    .await;
}

#[tokio::test]
async fn a_cut_before_the_first_byte_is_asked_again() {
    recovers(vec![Turn::json(&whole_answer()).fault(Fault::CutAfter(0))]).await;
}

#[tokio::test]
async fn a_reset_connection_is_asked_again() {
    // Before the first byte, within the answer, and just before its end.
    for bytes in [0, 700, 1500] {
        recovers(vec![
            Turn::json(&whole_answer()).fault(Fault::ResetAfter(bytes)),
        ])
        .await;
    }
}

#[tokio::test]
async fn a_server_that_resets_for_ever_is_given_up() {
    falls_back(
        Turn::json(&whole_answer()).fault(Fault::ResetAfter(100)),
        "connection",
    )
    .await;
}

/// Each protocol has an end of its own, and errors of its own inside a stream.
#[test]
fn streams_break_in_every_protocol_alike() {
    let event = json!({ "message": "overloaded", "type": "server_error", "code": 503 });
    let faults = [
        Fault::NoEnd,
        Fault::CutAfter(400),
        Fault::ResetAfter(400),
        Fault::ErrorEvent(event),
        Fault::StallAfter(400, Duration::from_secs(2)),
    ];
    let providers = [
        (Provider::OpenAiResponses, Dialect::OpenAi),
        (Provider::Anthropic, Dialect::Anthropic),
        (Provider::Gemini, Dialect::Gemini),
    ];
    let all = providers
        .into_iter()
        .flat_map(|p| faults.iter().map(move |fault| (p, fault.clone())));
    support::side_by_side(all.collect(), async |((provider, dialect), fault)| {
        let name = format!("{provider:?} {fault:?}");
        let server = first(vec![Turn::json(&whole_answer()).fault(fault)]).speaking(dialect);
        let mut profile = profile(&server.url());
        profile.provider = provider;
        profile.api_key = Some(secrecy::SecretString::from("key-for-tests-0123456789"));
        let setting = Setting::with(asking(&profile)).or_offline();
        let (report, told) = support::run(&about("healthy"), setting).await;
        let report = report.expect("a report");
        assert_eq!(
            report.engine.reasoner,
            ReasonerKind::Llm,
            "{name}: {:?}",
            report.engine
        );
        assert_eq!(report.steps[0].text, "class", "{name}");
        assert!(
            told.iter().any(|e| e.starts_with("Retry")),
            "{name}: {told:?}"
        );
    });
}

#[tokio::test]
async fn an_overflow_inside_a_stream_is_shrunk_as_well() {
    let event = json!({ "code": "context_length_exceeded", "message": "Your input exceeds the context window" });
    let server = first(vec![
        Turn::json(&whole_answer()).fault(Fault::ErrorEvent(event)),
    ]);
    let (report, _) = report(&server).await;
    let remarks = &report.steps[0].remarks;
    assert!(
        remarks.iter().any(|r| r.contains("left out")),
        "{remarks:?}"
    );
}

#[tokio::test]
async fn a_stream_without_its_end_is_asked_again() {
    recovers(vec![Turn::json(&whole_answer()).fault(Fault::NoEnd)]).await;
}

#[tokio::test]
async fn an_error_inside_the_stream_is_asked_again() {
    let event = json!({ "error": { "message": "overloaded", "type": "server_error" } });
    recovers(vec![
        Turn::json(&whole_answer()).fault(Fault::ErrorEvent(event)),
    ])
    .await;
}

#[tokio::test]
async fn throttling_waits_as_long_as_the_server_says() {
    recovers(vec![
        Turn::error(429, "slow down").header("retry-after", "0"),
        Turn::error(429, "slow down").header("retry-after-ms", "20"),
    ])
    .await;
}

#[tokio::test]
async fn a_server_error_is_asked_again() {
    recovers(vec![
        Turn::error(500, "oops"),
        Turn::error(529, "overloaded"),
    ])
    .await;
}

#[tokio::test]
async fn a_page_of_html_is_asked_again() {
    recovers(vec![
        Turn::raw(502, "<html><body>Bad gateway</body></html>").header("content-type", "text/html"),
    ])
    .await;
}

#[tokio::test]
async fn an_empty_answer_is_asked_again() {
    recovers(vec![Turn::text("")]).await;
}

/// The healthy job with an answer in Chinese, cut in every way.
async fn split(provider: Provider, dialect: Dialect, chunking: Chunking, crlf: bool) {
    let name = format!("{provider:?} {chunking:?} crlf {crlf}");
    let server = Server::start([]).speaking(dialect).rule(move |request| {
        let mut answer = agreeable_answer(request);
        let place = if support::is_merged(request) {
            "/think1/text"
        } else {
            "/text"
        };
        if let Some(text) = answer.pointer_mut(place) {
            *text = "数据倾斜：热点键占九成".into();
        }
        let turn = Turn::json(&answer).chunking(chunking.clone()).pieces(3);
        Some(if crlf { turn.crlf() } else { turn })
    });
    let mut profile = profile(&server.url());
    profile.provider = provider;
    profile.api_key = Some(secrecy::SecretString::from("key-for-tests-0123456789"));
    profile.read_timeout_seconds = Some(5.0);
    profile.timeout_seconds = Some(20.0);
    let setting = Setting::with(asking(&profile)).or_offline();
    let report = support::run(&about("healthy"), setting)
        .await
        .0
        .expect("a report");
    assert_eq!(
        report.engine.reasoner,
        ReasonerKind::Llm,
        "{name}: {:?}",
        report.engine
    );
    assert_eq!(report.steps[0].text, "数据倾斜：热点键占九成", "{name}");
}

#[test]
fn characters_and_line_ends_may_be_split_anywhere() {
    let providers = [
        (Provider::Compatible, Dialect::Local),
        (Provider::OpenAiResponses, Dialect::OpenAi),
        (Provider::Anthropic, Dialect::Anthropic),
        (Provider::Gemini, Dialect::Gemini),
    ];
    let mut all = Vec::new();
    for (provider, dialect) in providers {
        for chunking in [Chunking::Bytes(1), Chunking::Bytes(7), Chunking::Whole] {
            for crlf in [false, true] {
                all.push((provider, dialect, chunking.clone(), crlf));
            }
        }
    }
    support::side_by_side(all, async |(provider, dialect, chunking, crlf)| {
        split(provider, dialect, chunking, crlf).await;
    });
}

#[tokio::test]
async fn a_wrong_key_is_not_tried_again() {
    let server = first(vec![Turn::error(401, "Incorrect API key provided")]);
    let (report, told) = report(&server).await;
    assert_eq!(report.engine.reasoner, ReasonerKind::Offline);
    assert_eq!(server.requests().len(), 1);
    assert!(!told.iter().any(|e| e.starts_with("Retry")), "{told:?}");
    assert!(
        report
            .diagnostics
            .iter()
            .any(|d| d.hint.as_deref().unwrap_or_default().contains("key"))
    );
}

#[tokio::test]
async fn what_does_not_pass_falls_back_with_a_clear_line() {
    falls_back(Turn::error(404, "no such model"), "no such model").await;
    falls_back(
        Turn::text("I would rather talk about the weather."),
        "no JSON object",
    )
    .await;
    falls_back(Turn::text("{\"text\": 5}"), "cannot be used").await;
}

#[tokio::test]
async fn without_a_fallback_the_failure_is_the_analysis() {
    let server = Server::start([]).rule(|_| Some(Turn::error(404, "no such model")));
    let (result, _) = support::run(
        &about("healthy"),
        Setting::with(asking(&profile(&server.url()))),
    )
    .await;
    let error = result.expect_err("no reasoner is left");
    assert!(
        matches!(error, agent::AnalyzeError::Reasoner { step: "think1", .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_shrunk_once() {
    let server = first(vec![Turn::error(
        400,
        "This model's maximum context length is 8192 tokens",
    )]);
    let setting = Setting {
        indexed: true,
        ..Setting::with(asking(&profile(&server.url())))
    };
    let report = support::run(&about("join-hot-key-skew"), setting)
        .await
        .0
        .expect("a report");
    assert_eq!(
        report.engine.reasoner,
        ReasonerKind::Llm,
        "{:?}",
        report.engine
    );
    let requests = server.requests();
    assert!(requests[1].prompt().len() < requests[0].prompt().len());
    assert!(
        report.steps[0]
            .remarks
            .iter()
            .any(|r| r.contains("left out")),
        "{:?}",
        report.steps[0].remarks
    );
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_summed_up() {
    let server = first(vec![
        Turn::text("{\"problem_type\": \"none\", \"text\": \"and so on and on").finish("length"),
    ]);
    let (report, _) = report(&server).await;
    assert_eq!(report.steps[0].text, "class");
    assert!(
        report.steps[0]
            .remarks
            .iter()
            .any(|r| r.contains("summed up")),
        "{:?}",
        report.steps[0].remarks
    );
}

#[tokio::test]
async fn a_huge_answer_is_stopped() {
    falls_back(
        Turn::text("a".repeat(2 << 20)).pieces(4096),
        "went on beyond",
    )
    .await;
}

#[tokio::test]
async fn a_model_that_asks_for_ever_reaches_the_bound() {
    let count = std::sync::atomic::AtomicU32::new(0);
    let server = Server::start([]).rule(move |request| {
        let mut answer = agreeable_answer(request);
        if support::step_of(request) == "think4" {
            let n = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            answer["needs_files"] = true.into();
            answer["lookups"] =
                json!([{ "tool": "search_experience", "argument": format!("again {n}") }]);
        }
        Some(Turn::json(&answer))
    });
    let (report, _) = report(&server).await;
    let think4 = report
        .steps
        .iter()
        .find(|s| s.id == "think4")
        .expect("THINK 4");
    assert_eq!(think4.conclusion["ended"], "round_limit");
    assert!(server.requests().len() < 20, "{}", server.requests().len());
}

#[tokio::test]
async fn a_run_stops_at_its_cost_cap() {
    let server = support::agreeable();
    let mut profile = profile(&server.url());
    profile.price_per_million_in = Some(1_000.0);
    profile.price_per_million_out = Some(1_000.0);
    let options = llm::LlmOptions {
        max_cost: Some(0.2),
        stream: true,
        ..Default::default()
    };
    let setting = Setting::with(support::asking_with(&profile, options)).or_offline();
    let report = support::run(&about("healthy"), setting)
        .await
        .0
        .expect("a report");
    // A call costs 0.12: two are made before the cap is reached.
    assert_eq!(server.requests().len(), 2);
    assert!(
        report
            .engine
            .fallback
            .unwrap_or_default()
            .contains("may cost")
    );
    assert!(report.usage.expect("usage").cost.expect("a price") < 0.25);
}
