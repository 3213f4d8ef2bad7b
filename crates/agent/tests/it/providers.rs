//! Every provider in its own protocol, against a server that takes its place: text, streams, tools,
//! thoughts, structured answers, throttling, breakdowns, prompts that are too long, refusals.
//!
//! The server refuses the same requests as the provider, so a request in a wrong form fails here.

use std::sync::atomic::{AtomicBool, Ordering};

use llm::{LlmOptions, Provider as P};
use report::ReasonerKind;
use serde_json::json;
use testkit::llm::think::{agreeable, step_of};
use testkit::llm::{Dialect as D, Recorded, Server, Trouble, Turn};
use testkit::{any_contains, contains};

use crate::support::*;

/// A provider with the path under which it is reached.
#[derive(Debug, Clone, Copy)]
struct Case {
    provider: P,
    model: &'static str,
    dialect: D,
    path: &'static str,
    stream: bool,
}

pub(crate) const PROVIDERS: [(P, &str, D, &str); 11] = [
    (P::OpenAi, "gpt-4o-mini", D::OpenAi, "/v1"),
    (P::OpenAiResponses, "gpt-5-mini", D::OpenAi, "/v1"),
    (P::Azure, "my-deployment", D::Azure, ""),
    (P::Anthropic, "claude-sonnet-4-5", D::Anthropic, "/v1"),
    (P::Gemini, "gemini-3-flash", D::Gemini, "/v1beta"),
    (P::Qwen, "qwen-max", D::DashScope, "/compatible-mode/v1"),
    (
        P::QwenIntl,
        "qwen-plus",
        D::DashScope,
        "/compatible-mode/v1",
    ),
    (P::DeepSeek, "deepseek-chat", D::DeepSeek, "/v1"),
    (P::OpenRouter, "meta/llama-3", D::OpenRouter, "/api/v1"),
    (P::Ollama, "qwen2.5:7b", D::Ollama, "/v1"),
    (P::Compatible, "llama-3", D::Local, "/v1"),
];

/// Checks every provider, in a stream and whole.
fn each(check: impl AsyncFn(Case) + Sync) {
    let both = PROVIDERS.iter().flat_map(|p| [(p, true), (p, false)]);
    let cases = both.map(|(&(provider, model, dialect, path), stream)| Case {
        provider,
        model,
        dialect,
        path,
        stream,
    });
    concurrently(cases, check);
}

impl Case {
    /// Analyzes the healthy job with a model that agrees, except for the requests that `turn` answers.
    async fn run(
        self,
        turn: impl Fn(&Recorded) -> Option<Turn> + Send + Sync + 'static,
    ) -> (Outcome, Vec<Recorded>) {
        let server = Server::agreeing_unless(turn).speaking(self.dialect);
        let mut profile = profile_of(self.provider, self.model, &server);
        profile.base_url = Some(server.url().replace("/v1", self.path));
        profile.read_timeout_seconds = Some(20.0);
        profile.timeout_seconds = Some(60.0);
        if self.provider == P::Anthropic {
            // With thinking on, signed thoughts have to go back with the results of tools.
            profile.reasoning_effort = Some("low".to_owned());
        }
        let options = LlmOptions {
            stream: self.stream,
            ..LlmOptions::default()
        };
        let setting = Setting::with(asking_with(&profile, options)).or_offline();
        let report = run(&healthy(), setting.indexed()).await;
        (report, server.requests())
    }

    /// Analyzes with a model that answers `trouble` first; the LLM finishes all the same.
    async fn run_into(self, trouble: Trouble) -> (Outcome, Vec<Recorded>) {
        let first = AtomicBool::new(true);
        let turn = move |_: &Recorded| {
            let is_first = first.swap(false, Ordering::SeqCst);
            is_first.then(|| Turn::trouble(trouble.clone()))
        };
        let (report, requests) = self.run(turn).await;
        report.is_by_llm();
        (report, requests)
    }
}

#[test]
fn section_1_every_provider_answers_with_thoughts_apart_and_tokens_counted() {
    each(async |case| {
        let think = |r: &Recorded| Turn::json(&agreeable(r)).reasoning("let me think about it");
        let (report, requests) = case.run(move |r| Some(think(r).pieces(7))).await;
        report.is_by_llm();
        let texts: Vec<&str> = report.steps.iter().map(|s| s.text.as_str()).collect();
        assert!(texts[0].contains("class") && texts[4].contains("advice"));
        let leaked = texts.iter().any(|text| text.contains("let me think"));
        assert!(!leaked, "{texts:?}");
        if case.stream {
            assert!(report.count("Thinking") > 0, "{:?}", report.events);
            assert!(report.count("Token") > 20);
        }
        let usage = report.usage.as_ref().expect("usage");
        assert_eq!(usage.calls as usize, requests.len());
        assert_eq!(usage.tokens_in, 100 * u64::from(usage.calls));
        assert_eq!(usage.tokens_out, 20 * u64::from(usage.calls));
        let as_asked = requests.iter().all(|r| r.streams() == case.stream);
        assert!(as_asked);
    });
}

#[test]
fn the_schema_is_sent_where_the_provider_expects_it() {
    each(async |case| {
        let (_, requests) = case.run(|_| None).await;
        let body = &requests[0].body;
        let enforced = match case.provider {
            P::Anthropic => &body["output_config"]["format"]["schema"],
            P::OpenAiResponses => &body["text"]["format"]["schema"],
            P::Gemini => {
                let config = &body["generationConfig"];
                let schema = config.get("responseJsonSchema");
                schema.unwrap_or(&config["responseSchema"])
            }
            _ => &body["response_format"]["json_schema"]["schema"],
        };
        let in_text = requests[0].prompt().contains("this JSON Schema");
        let is_weak = matches!(case.dialect, D::DashScope | D::DeepSeek);
        assert_eq!(in_text, is_weak);
        if is_weak {
            assert_eq!(body["response_format"]["type"], "json_object");
        } else {
            let property = &enforced["properties"]["problem_type"];
            assert!(property.is_object(), "{body}");
        }
    });
}

/// THINK 4 by tool calls: two at once, then the one that ends the step.
fn calling(request: &Recorded) -> Option<Turn> {
    if step_of(request) != "think4" {
        return None;
    }
    let file = json!({ "file": "__ScopeCodeGen__.dll.cs", "reason": "user code" });
    let turn = match request.tool_results().len() {
        0 => Turn::tools(&[
            ("read_files", json!({ "files": [file] })),
            ("table_metadata", json!({ "argument": "" })),
        ]),
        _ => Turn::tool(
            "submit_check",
            &json!({ "sufficient": true, "experiences": [], "basis": "the code says enough" }),
        ),
    };
    Some(turn.reasoning("which file would decide it?"))
}

#[test]
fn tools_are_called_and_their_results_go_back() {
    each(async |case| {
        let (report, requests) = case.run(calling).await;
        report.is_by_llm();
        let asked: Vec<&Recorded> = requests.iter().filter(|r| step_of(r) == "think4").collect();
        assert_eq!(asked.len(), 2);
        any_contains(&asked[0].tools(), "read_files");
        let results = asked[1].tool_results();
        assert_eq!(results.len(), 2, "{}", asked[1].body);
        contains(
            &results[0],
            ["<<<data file", "RowRules (user code)", "run by SV"],
        );
        contains(&results[1], ["rows"]);
        let think4 = report.step("think4");
        contains(&think4.text, ["the code says enough"]);
        assert_eq!(think4.conclusion["ended"], "sufficient");
        assert!(report.has_read("__ScopeCodeGen__.dll.cs"));
    });
}

#[test]
fn throttling_is_waited_for_as_long_as_the_provider_says() {
    each(async |case| {
        let (report, _) = case.run_into(Trouble::Throttled(300)).await;
        let expected = match case.dialect {
            D::OpenAi | D::Azure | D::Gemini => "wait_ms: 300",
            _ => "wait_ms: 1000",
        };
        assert_eq!(report.count("Retry"), 1);
        any_contains(&report.events, expected);
        let usage = report.usage.as_ref().expect("usage");
        assert_eq!(usage.retries, 1);
    });
}

#[test]
fn breakdowns_are_asked_again() {
    for trouble in [Trouble::Broken, Trouble::Overloaded] {
        each(async |case| {
            let (report, _) = case.run_into(trouble.clone()).await;
            assert!(report.count("Retry") > 0, "{:?}", report.events);
        });
    }
}

#[test]
fn a_prompt_that_is_too_long_is_shrunk_once() {
    each(async |case| {
        let (report, requests) = case.run_into(Trouble::TooLong).await;
        let [first, second] = [0, 1].map(|n: usize| requests[n].prompt().len());
        assert!(second < first);
        any_contains(&report.steps[0].remarks, "left out");
        // Once per step: a prompt that is still too long is not sent forever, and costs no other step its turn.
        let (report, requests) = case.run(|_| Some(Turn::trouble(Trouble::TooLong))).await;
        assert_eq!(requests.len(), 2 * report.steps.len());
        contains(report.fallback(), ["too long"]);
    });
}

#[test]
fn refusals_are_reported_and_not_taken_for_answers() {
    each(async |case| {
        let refusal = |_: &Recorded| Some(Turn::refusal("I cannot help with that"));
        let (report, _) = case.run(refusal).await;
        assert_eq!(report.engine.reasoner, ReasonerKind::Offline);
        let reason = report.fallback();
        contains(reason, ["declined to answer"]);
        // The request is not in the error.
        assert!(!reason.contains("THINK 1"), "{reason}");
        assert_eq!(
            (report.count("Retry"), report.steps.len()),
            (0, 5),
            "{case:?}"
        );
    });
}

#[test]
fn filters_wrong_keys_and_unknown_models_come_with_a_remedy() {
    each(async |case| {
        for (trouble, hint) in [
            (Trouble::Blocked, "--redact"),
            (Trouble::BadKey, "key"),
            (Trouble::NoModel, "model"),
        ] {
            // The others block by an answer of status 200, or name no reason.
            let blocks = matches!(case.dialect, D::Azure | D::DashScope);
            if trouble == Trouble::Blocked && !blocks {
                continue;
            }
            // DeepSeek says 400 to an unknown model.
            let is_vague = case.dialect == D::DeepSeek && trouble == Trouble::NoModel;
            let (report, requests) = case
                .run(move |_| Some(Turn::trouble(trouble.clone())))
                .await;
            assert_eq!(requests.len(), 1, "{:?}", report.engine);
            any_contains(&report.hints(), if is_vague { "doctor" } else { hint });
        }
    });
}
