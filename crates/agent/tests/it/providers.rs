//! Every provider in its own protocol, against a server that takes its place: text, streams, tools,
//! thoughts, structured answers, throttling, breakdowns, prompts that are too long, refusals.
//!
//! The server refuses what the provider would refuse, so a request in a wrong shape fails here.

use llm::{LlmOptions, Profile, Provider};
use report::{ReasonerKind, Report};
use secrecy::SecretString;
use serde_json::json;
use testkit::llm::{Dialect, Recorded, Server, Trouble, Turn};

use crate::support::{self, Setting, about, agreeable_answer, asking_with, step_of};

/// A provider with the path under which it is reached.
#[derive(Debug, Clone, Copy)]
struct Case {
    provider: Provider,
    model: &'static str,
    dialect: Dialect,
    path: &'static str,
    stream: bool,
}

/// Every provider, in a stream and whole.
fn cases() -> Vec<Case> {
    let providers = [
        (Provider::OpenAi, "gpt-4o-mini", Dialect::OpenAi, "/v1"),
        (
            Provider::OpenAiResponses,
            "gpt-5-mini",
            Dialect::OpenAi,
            "/v1",
        ),
        (Provider::Azure, "my-deployment", Dialect::Azure, ""),
        (
            Provider::Anthropic,
            "claude-sonnet-4-5",
            Dialect::Anthropic,
            "/v1",
        ),
        (
            Provider::Gemini,
            "gemini-3-flash",
            Dialect::Gemini,
            "/v1beta",
        ),
        (
            Provider::Qwen,
            "qwen-max",
            Dialect::DashScope,
            "/compatible-mode/v1",
        ),
        (
            Provider::QwenIntl,
            "qwen-plus",
            Dialect::DashScope,
            "/compatible-mode/v1",
        ),
        (
            Provider::DeepSeek,
            "deepseek-chat",
            Dialect::DeepSeek,
            "/v1",
        ),
        (
            Provider::OpenRouter,
            "meta/llama-3",
            Dialect::OpenRouter,
            "/api/v1",
        ),
        (Provider::Ollama, "qwen2.5:7b", Dialect::Ollama, "/v1"),
        (Provider::Compatible, "llama-3", Dialect::Local, "/v1"),
    ];
    let both = |(provider, model, dialect, path)| {
        [true, false].map(|stream| Case {
            provider,
            model,
            dialect,
            path,
            stream,
        })
    };
    providers.into_iter().flat_map(both).collect()
}

impl Case {
    /// Analyses the healthy job with a model that answers by `rule`.
    async fn run(
        self,
        rule: impl Fn(&Recorded) -> Option<Turn> + Send + Sync + 'static,
    ) -> (Report, Vec<String>, Vec<Recorded>) {
        let server = Server::start([]).speaking(self.dialect).rule(rule);
        let mut profile = Profile::new(self.provider, self.model);
        profile.base_url = Some(server.url().replace("/v1", self.path));
        profile.api_key = Some(SecretString::from("key-for-tests-0123456789"));
        profile.read_timeout_seconds = Some(20.0);
        profile.timeout_seconds = Some(60.0);
        if self.provider == Provider::Anthropic {
            // With thinking on, signed thoughts have to go back with the results of tools.
            profile.reasoning_effort = Some("low".to_owned());
        }
        let options = LlmOptions {
            stream: self.stream,
            ..LlmOptions::default()
        };
        let setting = Setting {
            indexed: true,
            ..Setting::with(asking_with(&profile, options)).or_offline()
        };
        let (report, told) = support::run(&about("healthy"), setting).await;
        (report.expect("a report"), told, server.requests())
    }

    /// Analyses with a model whose first answer is `trouble`.
    async fn run_into(self, trouble: Trouble) -> (Report, Vec<String>, Vec<Recorded>) {
        let first = std::sync::atomic::AtomicBool::new(true);
        self.run(move |request| {
            Some(if first.swap(false, std::sync::atomic::Ordering::SeqCst) {
                Turn::trouble(trouble.clone())
            } else {
                Turn::json(&agreeable_answer(request))
            })
        })
        .await
    }
}

#[track_caller]
fn by_llm(case: Case, report: &Report) {
    assert_eq!(
        report.engine.reasoner,
        ReasonerKind::Llm,
        "{case:?}: {:?}",
        report.engine.fallback
    );
}

#[test]
fn answers_are_read_with_thoughts_apart_and_tokens_counted() {
    support::side_by_side(cases(), async |case| {
        let (report, told, requests) = case
            .run(|r| {
                let turn = Turn::json(&agreeable_answer(r)).reasoning("let me think about it");
                Some(turn.pieces(7))
            })
            .await;
        by_llm(case, &report);
        let texts: Vec<&str> = report.steps.iter().map(|s| s.text.as_str()).collect();
        assert_eq!((texts[0], texts[4]), ("class", "advice"), "{case:?}");
        assert!(
            report
                .steps
                .iter()
                .all(|s| !s.text.contains("let me think")),
            "{case:?}"
        );
        if case.stream {
            assert!(
                told.iter().any(|e| e.starts_with("Thinking")),
                "{case:?}: {told:?}"
            );
            assert!(
                told.iter().filter(|e| e.starts_with("Token")).count() > 20,
                "{case:?}"
            );
        }
        let usage = report.usage.expect("usage");
        assert_eq!(usage.calls as usize, requests.len(), "{case:?}");
        assert_eq!(usage.tokens_in, 100 * u64::from(usage.calls), "{case:?}");
        assert_eq!(usage.tokens_out, 20 * u64::from(usage.calls), "{case:?}");
        assert!(
            requests.iter().all(|r| r.streams() == case.stream),
            "{case:?}"
        );
    });
}

#[test]
fn the_schema_is_sent_in_the_way_of_the_provider() {
    support::side_by_side(cases(), async |case| {
        let (_, _, requests) = case.run(|r| Some(Turn::json(&agreeable_answer(r)))).await;
        let body = &requests[0].body;
        let enforced = match case.provider {
            Provider::Anthropic => &body["output_config"]["format"]["schema"],
            Provider::OpenAiResponses => &body["text"]["format"]["schema"],
            Provider::Gemini => {
                let config = &body["generationConfig"];
                config
                    .get("responseJsonSchema")
                    .unwrap_or(&config["responseSchema"])
            }
            _ => &body["response_format"]["json_schema"]["schema"],
        };
        let in_text = requests[0].prompt().contains("JSON Schema:");
        match case.dialect {
            Dialect::DashScope | Dialect::DeepSeek => {
                assert_eq!(body["response_format"]["type"], "json_object", "{case:?}");
                assert!(in_text, "{case:?}");
            }
            _ => {
                assert!(
                    enforced["properties"]["problem_type"].is_object(),
                    "{case:?}: {body}"
                );
                assert!(!in_text, "{case:?}");
            }
        }
    });
}

/// THINK 4 by calls of tools: two at once, then the one that ends the step.
fn calling(request: &Recorded) -> Turn {
    if step_of(request) != "think4" {
        return Turn::json(&agreeable_answer(request));
    }
    let results = request.tool_results();
    let turn = match results.len() {
        0 => Turn::tools(&[
            (
                "read_files",
                json!({ "files": [{ "file": "__ScopeCodeGen__.dll.cs", "reason": "user code" }] }),
            ),
            ("table_metadata", json!({ "argument": "" })),
        ]),
        _ => Turn::tool(
            "submit_check",
            &json!({ "sufficient": true, "experiences": [], "basis": "the code says enough" }),
        ),
    };
    turn.reasoning("which file would decide it?")
}

#[test]
fn tools_are_called_and_their_results_go_back() {
    support::side_by_side(cases(), async |case| {
        let (report, _, requests) = case.run(|r| Some(calling(r))).await;
        by_llm(case, &report);
        let asked: Vec<&Recorded> = requests.iter().filter(|r| step_of(r) == "think4").collect();
        assert_eq!(asked.len(), 2, "{case:?}");
        assert!(
            asked[0].tools().contains(&"read_files".to_owned()),
            "{case:?}: {}",
            asked[0].body
        );
        let results = asked[1].tool_results();
        assert_eq!(results.len(), 2, "{case:?}: {}", asked[1].body);
        assert!(
            results[0].contains("<<<data file") && results[0].contains("class"),
            "{case:?}: {}",
            results[0]
        );
        assert!(results[1].contains("rows"), "{case:?}: {}", results[1]);
        let think4 = report
            .steps
            .iter()
            .find(|s| s.id == "think4")
            .expect("THINK 4");
        assert!(
            think4.text.contains("the code says enough"),
            "{case:?}: {}",
            think4.text
        );
        assert_eq!(think4.conclusion["ended"], "sufficient", "{case:?}");
        let read = &report.files_read;
        assert!(
            read.iter().any(|f| f.file == "__ScopeCodeGen__.dll.cs"),
            "{case:?}"
        );
    });
}

#[test]
fn throttling_is_waited_for_as_long_as_the_provider_says() {
    support::side_by_side(cases(), async |case| {
        let (report, told, _) = case.run_into(Trouble::Throttled(300)).await;
        by_llm(case, &report);
        let expected = match case.dialect {
            Dialect::OpenAi | Dialect::Azure | Dialect::Gemini => "wait_ms: 300",
            _ => "wait_ms: 1000",
        };
        assert!(
            told.iter()
                .any(|e| e.starts_with("Retry") && e.contains(expected)),
            "{case:?}: {told:?}"
        );
        assert_eq!(report.usage.expect("usage").retries, 1, "{case:?}");
    });
}

#[test]
fn breakdowns_are_asked_again() {
    for trouble in [Trouble::Broken, Trouble::Overloaded] {
        support::side_by_side(cases(), async |case| {
            let (report, told, _) = case.run_into(trouble.clone()).await;
            by_llm(case, &report);
            assert!(
                told.iter().any(|e| e.starts_with("Retry")),
                "{case:?}: {told:?}"
            );
        });
    }
}

#[test]
fn a_prompt_that_is_too_long_is_shrunk_once() {
    support::side_by_side(cases(), async |case| {
        let (report, _, requests) = case.run_into(Trouble::TooLong).await;
        by_llm(case, &report);
        assert!(
            requests[1].prompt().len() < requests[0].prompt().len(),
            "{case:?}"
        );
        let remarks = &report.steps[0].remarks;
        assert!(
            remarks.iter().any(|r| r.contains("left out")),
            "{case:?}: {remarks:?}"
        );
        // Once only: what is still too long is not sent for ever.
        let (report, _, requests) = case.run(|_| Some(Turn::trouble(Trouble::TooLong))).await;
        assert_eq!(requests.len(), 2, "{case:?}");
        let reason = report.engine.fallback.unwrap_or_default();
        assert!(reason.contains("too long"), "{case:?}: {reason}");
    });
}

#[test]
fn refusals_are_told_and_not_taken_for_answers() {
    support::side_by_side(cases(), async |case| {
        let (report, told, _) = case
            .run(|_| Some(Turn::refusal("I cannot help with that")))
            .await;
        assert_eq!(report.engine.reasoner, ReasonerKind::Offline, "{case:?}");
        let reason = report.engine.fallback.unwrap_or_default();
        assert!(reason.contains("declined to answer"), "{case:?}: {reason}");
        assert!(
            !reason.contains("THINK 1"),
            "{case:?}: the request is in the error: {reason}"
        );
        assert!(
            !told.iter().any(|e| e.starts_with("Retry")),
            "{case:?}: {told:?}"
        );
        assert_eq!(report.steps.len(), 5, "{case:?}");
    });
}

#[test]
fn filters_wrong_keys_and_unknown_models_are_told_with_what_to_do() {
    support::side_by_side(cases(), async |case| {
        for (trouble, hint) in [
            (Trouble::Blocked, "--redact"),
            (Trouble::BadKey, "key"),
            (Trouble::NoModel, "model"),
        ] {
            // The others block by an answer of status 200, or name no reason.
            let blocks = matches!(case.dialect, Dialect::Azure | Dialect::DashScope);
            if trouble == Trouble::Blocked && !blocks {
                continue;
            }
            let said = trouble.clone();
            let (report, _, requests) = case.run(move |_| Some(Turn::trouble(said.clone()))).await;
            assert_eq!(
                requests.len(),
                1,
                "{case:?} {trouble:?} {:?}",
                report.engine
            );
            let hints: Vec<&str> = report
                .diagnostics
                .iter()
                .filter_map(|d| d.hint.as_deref())
                .collect();
            // DeepSeek says 400 to an unknown model.
            let vague = case.dialect == Dialect::DeepSeek && trouble == Trouble::NoModel;
            let hint = if vague { "doctor" } else { hint };
            assert!(
                hints.iter().any(|h| h.contains(hint)),
                "{case:?} {trouble:?}: {hints:?}"
            );
        }
    });
}
