//! Transcripts and their replay, dry runs, the doctor, overridden prompts, cancellation.

use std::io::Write;
use std::sync::{Arc, Mutex};

use agent::model::{DryRun, LlmReasoner};
use agent::{Prompts, Request};
use llm::{LlmOptions, Model, Replay, Transcript};
use report::Report;
use testkit::llm::{Server, Turn};

use crate::support::{self, Setting, about, agreeable_answer, profile};

/// A place to write to that the test can look at.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .expect("no writer fails")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn options() -> LlmOptions {
    LlmOptions {
        stream: true,
        ..LlmOptions::default()
    }
}

fn skewed() -> Request {
    Request {
        hypotheses: true,
        ..about("join-hot-key-skew")
    }
}

/// A recorded run with tools, a retry and two concurrent steps.
async fn recorded() -> (Report, Vec<u8>) {
    let broken = std::sync::atomic::AtomicBool::new(true);
    let server = Server::start([]).rule(move |request| {
        let is_first = broken.swap(false, std::sync::atomic::Ordering::SeqCst);
        let results = request.tool_results().len();
        Some(match (support::step_of(request), results) {
            _ if is_first => Turn::error(503, "busy").header("retry-after-ms", "1"),
            ("think4", 0) => Turn::tool("table_metadata", &serde_json::json!({ "argument": "" })),
            ("think5", _) => {
                let later = std::time::Duration::from_millis(60);
                Turn::json(&agreeable_answer(request)).delay(later)
            }
            _ => Turn::json(&agreeable_answer(request)),
        })
    });
    let profile = profile(&server.url());
    let paper = Paper::default();
    let transcript = Transcript::new(paper.clone());
    let real = Arc::new(llm::Server::new(&profile, None).expect("a sound profile"));
    let model = Model::new(profile, transcript.record(real));
    let setting = Setting::with(LlmReasoner::new(model, options()));
    let report = support::run(&skewed(), setting).await.0.expect("a report");
    transcript.finish(&report).expect("paper is patient");
    let written = paper.0.lock().expect("no writer fails").clone();
    (report, written)
}

async fn replayed(transcript: &[u8], request: &Request) -> Report {
    let replay = Arc::new(Replay::read(transcript).expect("a transcript"));
    // Nobody listens there: whatever is asked must come from the transcript.
    let model = Model::new(profile("http://127.0.0.1:9/v1"), replay.clone());
    let setting = Setting::with(LlmReasoner::new(model, options())).or_offline();
    let mut report = support::run(request, setting).await.0.expect("a report");
    replay.restore(&mut report);
    report
}

#[tokio::test]
async fn a_replay_gives_the_same_bytes_without_a_network() {
    let (report, transcript) = recorded().await;
    let again = replayed(&transcript, &skewed()).await;
    let bytes = |r: &Report| serde_json::to_string(r).expect("a report is JSON");
    assert_eq!(bytes(&again), bytes(&report));
}

#[tokio::test]
async fn a_transcript_of_another_run_is_refused() {
    let (_, transcript) = recorded().await;
    let other = Request {
        question: Some("is it the network?".to_owned()),
        ..about("join-hot-key-skew")
    };
    let report = replayed(&transcript, &other).await;
    let reason = report.engine.fallback.unwrap_or_default();
    assert!(reason.contains("transcript does not fit"), "{reason}");
}

#[test]
fn a_broken_transcript_names_its_line() {
    let error = Replay::read("\n{\"call\": 5}\n".as_bytes())
        .err()
        .expect("an error");
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[tokio::test]
async fn a_dry_run_shows_what_would_be_sent_with_tokens_and_price() {
    let mut profile = profile("http://127.0.0.1:9/v1");
    profile.price_per_million_in = Some(2.0);
    profile.price_per_million_out = Some(8.0);
    let dry = DryRun::new(profile, false);
    let previews = dry.previews();
    let report = support::run(&about("join-hot-key-skew"), Setting::with(dry))
        .await
        .0
        .expect("a report");
    assert_eq!(report.usage, None);
    let previews = previews.lock().expect("the run is over");
    let steps: Vec<String> = previews.iter().map(|p| p.steps.join("+")).collect();
    assert!(
        steps.iter().any(|s| s == "think1") && steps.iter().any(|s| s == "think5"),
        "{steps:?}"
    );
    for preview in previews.iter() {
        assert!(
            preview.tokens > 200,
            "{}: {}",
            preview.steps[0],
            preview.tokens
        );
        let cost = preview.cost.expect("a price");
        assert!((cost - preview.tokens as f64 * 2e-6).abs() < 1e-12);
    }
}

#[tokio::test]
async fn a_small_context_is_kept_and_what_is_cut_is_said() {
    let mut small = profile("http://127.0.0.1:9/v1");
    small.context_tokens = Some(4_000);
    let dry = DryRun::new(small, false);
    let previews = dry.previews();
    let setting = Setting {
        indexed: true,
        ..Setting::with(dry)
    };
    support::run(&about("join-hot-key-skew"), setting)
        .await
        .0
        .expect("a report");
    let previews = previews.lock().expect("the run is over");
    assert!(previews.iter().any(|p| !p.cuts.is_empty()));
    for preview in previews.iter() {
        let all_cut = preview.cuts.iter().any(|c| c == "the script");
        assert!(
            preview.tokens <= 2_000 || all_cut || preview.cuts.len() >= 3,
            "{:?} {} {:?}",
            preview.steps,
            preview.tokens,
            preview.cuts
        );
        for cut in &preview.cuts {
            assert!(preview.user.contains(cut.as_str()), "{cut} is not said");
        }
    }
}

#[tokio::test]
async fn the_doctor_sees_what_works_and_says_what_to_mend() {
    let examine = async |server: &Server| {
        let profile = profile(&server.url());
        let transport = llm::Server::new(&profile, None).expect("a sound profile");
        llm::examine(&profile, &transport).await
    };
    let healthy = Server::start([]).rule(|_| Some(Turn::text("{\"ok\": true}")));
    let symptoms = examine(&healthy).await;
    assert_eq!(
        symptoms.iter().map(|s| s.check).collect::<Vec<_>>(),
        ["answer", "structured output", "streaming"]
    );
    assert!(symptoms.iter().all(|s| s.ok), "{symptoms:?}");

    let locked =
        Server::start([]).rule(|_| Some(Turn::error(401, "Incorrect API key provided: sk-test")));
    let symptoms = examine(&locked).await;
    assert!(
        !symptoms[0].ok
            && symptoms[0]
                .hint
                .as_deref()
                .unwrap_or_default()
                .contains("key"),
        "{symptoms:?}"
    );

    let old = Server::start([]).rule(|request| {
        let refused = request
            .body
            .get("response_format")
            .is_some_and(|f| f["type"] == "json_schema");
        Some(if refused {
            Turn::error(400, "json_schema is not supported")
        } else {
            Turn::text("{\"ok\": true}")
        })
    });
    let symptoms = examine(&old).await;
    assert!(
        symptoms[1].ok && !symptoms[1].detail.contains("`schema`"),
        "{symptoms:?}"
    );
}

#[tokio::test]
async fn a_folder_of_prompts_takes_the_place_of_the_built_in_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("en")).expect("a folder");
    std::fs::write(
        folder.path().join("en/think1.md.j2"),
        "Our own question: {{ verdict }}",
    )
    .expect("a file");
    let prompts = Prompts::with_folder(folder.path()).expect("sound templates");
    assert_eq!(prompts.overridden(), ["en/think1.md.j2"]);
    std::fs::write(folder.path().join("en/think1.md.j2"), "line\n{{ verdict").expect("a file");
    let error = Prompts::with_folder(folder.path())
        .err()
        .expect("a mistake")
        .to_string();
    assert!(
        error.contains("en/think1.md.j2") && error.contains("line"),
        "{error}"
    );
}

#[tokio::test]
async fn a_cancelled_run_gives_a_partial_report() {
    let cancel = tokio_util::sync::CancellationToken::new();
    let trigger = cancel.clone();
    let server = Server::start([]).rule(move |request| {
        if support::step_of(request) == "think2" {
            trigger.cancel();
        }
        Some(Turn::json(&agreeable_answer(request)))
    });
    let setting = Setting {
        cancel,
        ..Setting::with(support::asking(&profile(&server.url())))
    };
    let report = support::run(&about("join-hot-key-skew"), setting)
        .await
        .0
        .expect("a report");
    assert!(report.partial);
    assert!(
        report.steps.iter().any(|s| s.id == "think1")
            && report.steps.iter().all(|s| s.id != "think5"),
        "{:?}",
        report.steps
    );
    assert!(!report.findings.is_empty() || report.verdict != report::Verdict::Healthy);
}
