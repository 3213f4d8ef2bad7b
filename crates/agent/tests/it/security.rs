//! Guarantees for every job, model and server: no private data gets out, a call ends, a run stays
//! within its budget, and every claim against the findings is marked.

use std::path::Path;
use std::time::{Duration, Instant};

use llm::LlmOptions;
use report::ReasonerKind;
use testkit::contains;
use testkit::llm::think::{self, agreeable, step_of};
use testkit::llm::{Fault, Recorded, Server, Turn};
use testkit::private::only_in;

use crate::providers::PROVIDERS;
use crate::support::{self, *};

/// Longer than any bound takes to be reached, shorter than a test may hang.
const PATIENCE: f64 = 30.0;

#[test]
fn endless_answers_end_in_bounded_memory() {
    let endless = |status, body: &str| Turn::raw(status, body).fault(Fault::Endless);
    let stalled = Turn::raw(400, "no ".repeat(100));
    let stalled = stalled.fault(Fault::StallAfter(50, Duration::from_secs(60)));
    let lines = "data: {\"choices\": [{\"delta\": {}}]}\n";
    let all = [
        ("a line", endless(200, "aaaa"), "went on beyond"),
        ("an event", endless(200, lines), "went on beyond"),
        ("a body", endless(200, "{\"a\": \"bbbb"), "went on beyond"),
        ("an error", endless(400, "no such "), "no such no such"),
        ("a stalled error", stalled, "took too long"),
    ];
    let both = all
        .iter()
        .flat_map(|case| [true, false].map(|stream| (case, stream)));
    let cases = both.map(|((name, turn, said), stream)| (*name, turn.clone(), *said, stream));
    concurrently(cases, async |(_, turn, said, stream)| {
        let server = Server::start([]).rule(move |_| Some(turn.clone()));
        let mut profile = profile(&server);
        profile.retries = Some(0);
        profile.timeout_seconds = Some(PATIENCE);
        let options = LlmOptions {
            stream,
            ..LlmOptions::default()
        };
        let setting = Setting::with(asking_with(&profile, options)).or_offline();
        let report = run(&healthy(), setting).await;
        assert_eq!(report.engine.reasoner, ReasonerKind::Offline);
        contains(report.fallback(), [said]);
    });
}

#[tokio::test]
async fn a_request_ends_in_time_with_all_its_retries() {
    let server =
        Server::start([]).rule(|_| Some(Turn::error(503, "busy").header("retry-after", "100")));
    let mut profile = profile(&server);
    profile.timeout_seconds = Some(1.0);
    let started = Instant::now();
    let report = run(&healthy(), Setting::with(asking(&profile)).or_offline()).await;
    contains(report.fallback(), ["no complete answer within 1.0 s"]);
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn an_interrupt_ends_an_endless_answer_at_once() {
    let comments =
        Turn::raw(200, ": wait\n\n").fault(Fault::StallAfter(8, Duration::from_secs(60)));
    let server = Server::start([]).rule(move |_| Some(comments.clone()));
    let mut profile = profile(&server);
    profile.timeout_seconds = Some(60.0);
    profile.read_timeout_seconds = Some(60.0);
    let setting = Setting::with(asking(&profile));
    let cancel = setting.cancel.clone();
    let started = Instant::now();
    let interrupt = async {
        while server.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cancel.cancel();
    };
    let (report, ()) = futures::future::join(run(&healthy(), setting), interrupt).await;
    assert!(report.partial);
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// A profile with a price of 1 per thousand tokens.
fn priced(server: &Server) -> llm::Profile {
    let mut profile = profile(server);
    profile.price_per_million_in = Some(1_000.0);
    profile.price_per_million_out = Some(1_000.0);
    profile.max_output_tokens = Some(1_000);
    profile
}

#[tokio::test]
async fn the_cost_of_a_call_is_set_aside_before_it_is_made() {
    // A prompt of 1,500 to 3,000 tokens and an answer of at most 1,000 may cost 2.5 to 4; each call then costs 2.
    for (cap, calls) in [(1.0, 0), (6.0, 1)] {
        let answer = |r: &Recorded| Turn::json(&agreeable(r)).usage(1_500, 500);
        let server = Server::agreeing_unless(move |r| Some(answer(r)));
        let options = LlmOptions {
            max_cost: Some(cap),
            ..streaming()
        };
        let reasoner = asking_with(&priced(&server), options);
        let report = run(&healthy(), Setting::with(reasoner).or_offline()).await;
        let made = server.requests().len();
        assert!(made >= calls && (calls > 0 || made == 0), "{cap}: {made}");
        contains(report.fallback(), ["may cost"]);
        let spent = report.usage.as_ref().and_then(|usage| usage.cost);
        assert!(spent.unwrap_or(0.0) <= cap, "{spent:?}");
    }
}

#[tokio::test]
async fn a_claim_against_the_verdict_is_left_out() {
    for (claim, is_wrong) in [
        ("The job is healthy.", true),
        ("All good: ignore F1 and do nothing.", true),
        ("F1 is a false alarm", true),
        ("作业正常，无需修改。", true),
        ("F1 可以忽略。", true),
        ("The job is not healthy: do not ignore F1.", false),
        ("Once F1 is fixed, the job is healthy.", false),
        ("不能忽略 F1。", false),
        ("F1 costs most of the time.", false),
    ] {
        let server = Server::amending(move |request, answer| {
            if step_of(request) == "think5" {
                answer["text"] = claim.into();
            }
        });
        let report = ask(&server, &skewed()).await;
        let step = report.step("think5");
        let said = step.remarks.join("\n");
        let text = step.text.replace(" [unverified]", "");
        assert_eq!(!text.contains(claim), is_wrong, "{}: {said}", step.text);
        let says = said.contains("contradicts the program's verdict");
        assert_eq!(says, is_wrong, "{claim}: {said}");
        let checks = report.checks.as_ref().expect("checked");
        assert!(checks.dropped > 0 || !is_wrong, "{claim}");
        assert!(!report.findings.is_empty());
    }
}

#[test]
fn with_redact_no_request_has_a_word_of_the_job() {
    let jobs = ["user-code-failure", "join-hot-key-skew"].map(support::case);
    let others = ["healthy", "excessive-shuffle", "late-filter"].map(support::case);
    let prompts = support::root().join("prompts");
    let experience = support::root().join("knowledge/experience");
    let mut public: Vec<&Path> = others.iter().map(|o| o.as_path()).collect();
    // Our readers and rules know the compiler's and the engine's words for every job.
    let sources = ["crates/job/src", "crates/diagnosis/src"].map(|s| support::root().join(s));
    public.extend(sources.iter().map(|s| s.as_path()));
    public.extend([prompts.as_path(), experience.as_path()]);
    let private = jobs.each_ref().map(|job| {
        let words = only_in(job, &public);
        assert!(words.len() > 30, "{words:?}");
        words
    });
    // Every protocol, alternating between both jobs and both forms.
    let all = PROVIDERS.iter().enumerate();
    let all = all.map(|(n, provider)| (provider, n % 2 == 0, n / 2 % 2));
    concurrently(
        all,
        async |(&(provider, model, dialect, path), stream, job)| {
            let server = Server::start([])
                .rule(|r| Some(think::curious(r)))
                .speaking(dialect);
            let mut profile = profile_of(provider, model, &server);
            profile.base_url = Some(server.url().replace("/v1", path));
            profile.read_timeout_seconds = Some(60.0);
            profile.timeout_seconds = Some(120.0);
            let options = LlmOptions {
                stream,
                ..LlmOptions::default()
            };
            let request = agent::Request {
                job: jobs[job].clone(),
                hypotheses: true,
                ..agent::Request::default()
            };
            let setting = Setting::with(asking_with(&profile, options)).indexed();
            run(&request, setting.or_offline().redacted()).await;
            let requests = server.requests();
            assert!(requests.len() >= 5, "{}", requests.len());
            for request in requests {
                let sent = testkit::private::words(&request.prompt());
                let leaked: Vec<&String> = sent.intersection(&private[job]).collect();
                assert!(leaked.is_empty(), "{}: {leaked:?}", step_of(&request));
            }
        },
    );
}

#[tokio::test]
async fn every_analysis_has_a_mark_of_its_own() {
    let server = Server::agreeing();
    let mut marks = Vec::new();
    ask(&server, &skewed()).await;
    ask(&server, &skewed()).await;
    for request in server.requests() {
        let prompt = request.prompt();
        let (_, after) = prompt.split_once("<<<data job ").expect("a fence");
        let mark = after.split_whitespace().next().expect("a mark").to_owned();
        contains(&prompt, [format!(">>>data {mark}").as_str()]);
        assert!(!prompt.contains("#mark#"));
        marks.push(mark);
    }
    let steps = marks.len() / 2;
    marks.dedup();
    assert!(steps > 3 && marks.len() == 2, "{marks:?}");
}
