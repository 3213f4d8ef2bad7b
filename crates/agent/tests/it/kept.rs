//! Transcripts and their replay, dry runs, the doctor, overridden prompts, cancellation.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::model::{DryRun, LlmReasoner, Preview};
use agent::{Prompts, Request};
use llm::{Model, Profile, Provider, Replay, Transcript};
use report::{Report, Verdict};
use serde_json::json;
use testkit::contains;
use testkit::llm::think::{agreeable, step_of};
use testkit::llm::{Server, Turn};
use tokio_util::sync::CancellationToken;

use crate::support::*;

/// A place to write to that the test can look at.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no writer fails").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn with_hypotheses() -> Request {
    Request {
        hypotheses: true,
        ..skewed()
    }
}

/// No server listens there.
fn unreachable() -> Profile {
    let mut profile = Profile::new(Provider::Compatible, "scripted");
    profile.base_url = Some("http://127.0.0.1:9/v1".to_owned());
    profile
}

/// A recorded run with tools, a retry and two concurrent steps.
async fn recorded() -> (Report, Vec<u8>) {
    let broken = AtomicBool::new(true);
    let server = Server::agreeing_unless(move |request| {
        let is_first = broken.swap(false, Ordering::SeqCst);
        match (step_of(request), request.tool_results().len()) {
            _ if is_first => Some(Turn::error(503, "busy").header("retry-after-ms", "1")),
            ("think4", 0) => Some(Turn::tool("table_metadata", &json!({ "argument": "" }))),
            ("think5", _) => Some(Turn::json(&agreeable(request)).delay(Duration::from_millis(60))),
            _ => None,
        }
    });
    let profile = profile(&server);
    let paper = Paper::default();
    let transcript = Transcript::new(paper.clone());
    let real = Arc::new(llm::Server::new(&profile, None).expect("a sound profile"));
    let model = Model::new(profile, transcript.record(real));
    let setting = Setting::with(LlmReasoner::new(model, streaming()));
    let report = run(&with_hypotheses(), setting).await.report;
    transcript.finish(&report).expect("paper is patient");
    let written = paper.0.lock().expect("no writer fails").clone();
    (report, written)
}

/// Every request must be answered from the transcript.
async fn replayed(transcript: &[u8], request: &Request) -> Report {
    let replay = Arc::new(Replay::read(transcript).expect("a transcript"));
    let model = Model::new(unreachable(), replay.clone());
    let setting = Setting::with(LlmReasoner::new(model, streaming())).or_offline();
    let mut report = run(request, setting).await.report;
    replay.restore(&mut report);
    report
}

#[tokio::test]
async fn a_replay_gives_the_same_bytes_without_a_network() {
    let (report, transcript) = recorded().await;
    let again = replayed(&transcript, &with_hypotheses()).await;
    let bytes = |r: &Report| serde_json::to_string(r).expect("a report is JSON");
    assert_eq!(bytes(&again), bytes(&report));
}

#[tokio::test]
async fn a_transcript_of_another_run_is_refused() {
    let (_, transcript) = recorded().await;
    let other = Request {
        question: Some("is it the network?".to_owned()),
        ..skewed()
    };
    let report = replayed(&transcript, &other).await;
    let reason = report.engine.fallback.unwrap_or_default();
    contains(reason, ["transcript does not fit"]);
}

#[test]
fn a_broken_transcript_names_its_line() {
    let error = Replay::read("\n{\"call\": 5}\n".as_bytes()).err();
    contains(error.expect("an error").to_string(), ["line 2"]);
}

/// The prompts for a model of this profile about the skewed job.
async fn previews(profile: Profile) -> (Vec<Preview>, Outcome) {
    let dry = DryRun::new(profile);
    let previews = dry.previews();
    let report = run(&skewed(), Setting::with(dry).indexed()).await;
    let previews = previews.lock().expect("the run is over").clone();
    (previews, report)
}

#[tokio::test]
async fn a_dry_run_shows_what_would_be_sent_with_tokens_and_price() {
    let mut profile = unreachable();
    profile.price_per_million_in = Some(2.0);
    profile.price_per_million_out = Some(8.0);
    let (previews, report) = previews(profile).await;
    assert_eq!(report.usage, None);
    for step in ["think1", "think5"] {
        assert!(previews.iter().any(|p| p.steps == [step]), "{step}");
    }
    for Preview {
        steps,
        tokens,
        tokens_out,
        cost,
        ..
    } in &previews
    {
        assert!(*tokens > 200, "{steps:?}: {tokens}");
        let answer = *tokens_out as f64 * 8e-6;
        let difference = cost.expect("a price") - *tokens as f64 * 2e-6 - answer;
        assert!(difference.abs() < 1e-12, "{steps:?}: {cost:?}");
    }
}

#[tokio::test]
async fn a_small_context_is_kept_and_what_is_cut_is_said() {
    let mut small = unreachable();
    small.context_tokens = Some(4_000);
    let (previews, _) = previews(small).await;
    assert!(previews.iter().any(|p| !p.cuts.is_empty()));
    for Preview {
        steps,
        user,
        tokens,
        cuts,
        ..
    } in &previews
    {
        let all_cut = cuts.iter().any(|c| c == "the script") || cuts.len() >= 3;
        assert!(*tokens <= 2_000 || all_cut, "{steps:?} {tokens} {cuts:?}");
        contains(user, cuts.iter().map(String::as_str));
    }
}

#[tokio::test]
async fn the_doctor_sees_what_works_and_says_what_to_fix() {
    let examine = async |server: Server| {
        let profile = profile(&server);
        let transport = llm::Server::new(&profile, None).expect("a sound profile");
        llm::examine(&profile, &transport).await
    };
    let fine = || Some(Turn::text("{\"ok\": true}"));
    let symptoms = examine(Server::start([]).rule(move |_| fine())).await;
    let checks: Vec<&str> = symptoms.iter().map(|s| s.check).collect();
    assert_eq!(
        checks,
        ["answer", "structured output", "streaming", "speed"]
    );
    assert!(symptoms.iter().all(|s| s.ok), "{symptoms:?}");

    let locked = Turn::error(401, "Incorrect API key provided: sk-test");
    let symptoms = examine(Server::start([]).rule(move |_| Some(locked.clone()))).await;
    assert!(!symptoms[0].ok);
    contains(symptoms[0].hint.as_ref().expect("a hint"), ["key"]);

    let old = Server::start([]).rule(move |request| {
        let refused = request.body["response_format"]["type"] == "json_schema";
        let refusal = Turn::error(400, "json_schema is not supported");
        refused.then_some(refusal).or_else(fine)
    });
    let structured = &examine(old).await[1];
    let is_weaker = structured.ok && !structured.detail.contains("`schema`");
    assert!(is_weaker, "{structured:?}");
}

#[tokio::test]
async fn a_folder_of_prompts_takes_the_place_of_the_built_in_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let template = folder.path().join("en/think1.md.j2");
    std::fs::create_dir(folder.path().join("en")).expect("a folder");
    std::fs::write(&template, "Our question: {{ verdict }}").expect("a file");
    let prompts = Prompts::with_folder(folder.path()).expect("sound templates");
    assert_eq!(prompts.overridden(), ["en/think1.md.j2"]);
    std::fs::write(&template, "line\n{{ verdict").expect("a file");
    let error = Prompts::with_folder(folder.path()).err();
    let error = error.expect("a mistake").to_string();
    contains(error, ["en/think1.md.j2", "line"]);
}

#[tokio::test]
async fn a_cancelled_run_gives_a_partial_report() {
    let cancel = CancellationToken::new();
    let trigger = cancel.clone();
    let server = Server::amending(move |request, _| {
        if step_of(request) == "think2" {
            trigger.cancel();
        }
    });
    let setting = Setting {
        cancel,
        ..Setting::asking(&server)
    };
    let report = run(&skewed(), setting).await;
    assert!(report.partial);
    let has = |id: &str| report.steps.iter().any(|s| s.id == id);
    assert!(has("think1") && !has("think5"), "{:?}", report.steps);
    assert!(!report.findings.is_empty() || report.verdict != Verdict::Healthy);
}
