//! The protocols of the providers: what is sent has their shape, what they answer is read, whole
//! and in a stream. The bodies imitate what the providers document.

use agent::llm::{Level, LlmOptions, Profile, Provider};
use agent::report::{ReasonerKind, Report};
use secrecy::SecretString;
use serde_json::{Value, json};
use testkit::llm::{Recorded, Server, Turn};

use crate::support::{self, Setting, about, asking_with, plain};

/// The step that a request asks for, in any protocol: by words of its template.
fn answer_to(request: &Recorded) -> Value {
    let body = request.body.to_string();
    let asks = |words: &str| body.contains(words);
    let first = asks("Name the class of the main problem");
    if first && asks("From the experience and the evidence") {
        return json!({ "think1": plain("think1"), "think2": plain("think2"), "think3": plain("think3") });
    }
    let steps = [
        (first, "think1"),
        (asks("Name the statements, operators"), "think2"),
        (asks("From the experience and the evidence"), "think3"),
        (asks("Does the information suffice? Known"), "think4"),
    ];
    let step = steps
        .iter()
        .find(|(asked, _)| *asked)
        .map_or("think5", |(_, step)| *step);
    plain(step)
}

fn split(text: &str) -> (&str, &str) {
    text.split_at(text.floor_char_boundary(text.len() / 2))
}

fn anthropic(text: &str, streams: bool) -> Turn {
    let usage = json!({ "input_tokens": 100, "output_tokens": 20 });
    if !streams {
        let body = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn", "usage": usage
        });
        return Turn::raw(200, body.to_string());
    }
    let (a, b) = split(text);
    let delta = |t: &str| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": t } });
    let events = [
        json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        delta(a),
        delta(b),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ];
    let body: String = events
        .iter()
        .map(|e| format!("event: {}\ndata: {e}\n\n", e["type"].as_str().unwrap_or("")))
        .collect();
    Turn::raw(200, body)
}

fn gemini(text: &str, streams: bool) -> Turn {
    let part = |t: &str, finish: Value| {
        json!({
            "candidates": [{ "content": { "parts": [{ "text": t }], "role": "model" }, "finishReason": finish, "index": 0 }],
            "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120 }
        })
    };
    if !streams {
        return Turn::raw(200, part(text, "STOP".into()).to_string());
    }
    let (a, b) = split(text);
    let mut first = part(a, Value::Null);
    if let Some(candidate) = first["candidates"][0].as_object_mut() {
        candidate.remove("finishReason");
    }
    Turn::raw(
        200,
        format!(
            "data: {first}\r\n\r\ndata: {}\r\n\r\n",
            part(b, "STOP".into())
        ),
    )
}

fn responses(text: &str, streams: bool) -> Turn {
    let whole = json!({
        "id": "resp_1", "object": "response", "status": "completed", "model": "m",
        "output": [{ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                     "content": [{ "type": "output_text", "text": text, "annotations": [] }] }],
        "usage": { "input_tokens": 100, "output_tokens": 20, "total_tokens": 120 }
    });
    if !streams {
        return Turn::raw(200, whole.to_string());
    }
    let (a, b) = split(text);
    let delta = |t: &str| json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": t });
    let events = [
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } }),
        delta(a),
        delta(b),
        json!({ "type": "response.completed", "response": whole }),
    ];
    let body: String = events
        .iter()
        .map(|e| format!("event: {}\ndata: {e}\n\n", e["type"].as_str().unwrap_or("")))
        .collect();
    Turn::raw(200, body)
}

fn openai(text: &str, _: bool) -> Turn {
    Turn::text(text)
}

type Protocol = fn(&str, bool) -> Turn;

fn wants_stream(request: &Recorded) -> bool {
    request.streams() || request.path.contains("streamGenerateContent")
}

async fn analysed(profile: &Profile, answer: Protocol, stream: bool) -> (Report, Vec<Recorded>) {
    let server = Server::start([]).rule(move |request| {
        Some(answer(
            &answer_to(request).to_string(),
            wants_stream(request),
        ))
    });
    let mut profile = profile.clone();
    let path = if profile.provider == Provider::Azure {
        "/"
    } else {
        "/v1/"
    };
    profile.base_url = Some(server.url().replace("/v1", path));
    profile.api_key = Some(SecretString::from("key-for-tests-0123456789"));
    profile.read_timeout_seconds = Some(2.0);
    let options = LlmOptions {
        stream,
        ..LlmOptions::default()
    };
    let setting = Setting::with(asking_with(&profile, options)).or_offline();
    let report = support::run(&about("healthy"), setting)
        .await
        .0
        .expect("a report");
    (report, server.requests())
}

#[tokio::test]
async fn every_provider_answers_whole_and_in_a_stream() {
    let cases: [(Provider, &str, Protocol); 9] = [
        (Provider::OpenAi, "gpt-4o-mini", openai),
        (Provider::OpenAiResponses, "gpt-5-mini", responses),
        (Provider::Azure, "my-deployment", openai),
        (Provider::Anthropic, "claude-sonnet-4-5", anthropic),
        (Provider::Gemini, "gemini-2.5-flash", gemini),
        (Provider::Qwen, "qwen-max", openai),
        (Provider::DeepSeek, "deepseek-chat", openai),
        (Provider::OpenRouter, "meta/llama-3", openai),
        (Provider::Ollama, "qwen2.5:7b", openai),
    ];
    for (provider, model, answer) in cases {
        for stream in [true, false] {
            let (report, requests) = analysed(&Profile::new(provider, model), answer, stream).await;
            let name = format!("{provider:?}, stream {stream}");
            assert_eq!(
                report.engine.reasoner,
                ReasonerKind::Llm,
                "{name}: {:?}",
                report.engine.fallback
            );
            assert_eq!(report.steps[0].text, "class", "{name}");
            let usage = report.usage.expect("usage");
            assert_eq!(usage.tokens_in, 100 * u64::from(usage.calls), "{name}");
            assert_eq!(wants_stream(&requests[0]), stream, "{name}");
        }
    }
}

#[tokio::test]
async fn the_name_of_a_model_says_nothing_about_its_effort() {
    let (_, requests) = analysed(&Profile::new(Provider::Qwen, "qwen-max"), openai, true).await;
    assert_eq!(requests[0].body["model"], "qwen-max");
    assert!(
        requests[0].body.get("reasoning_effort").is_none(),
        "{}",
        requests[0].body
    );
    // DashScope wants the word in the prompt.
    assert!(requests[0].prompt().to_lowercase().contains("json"));
    assert_eq!(requests[0].body["response_format"]["type"], "json_object");
}

#[tokio::test]
async fn effort_and_temperature_are_sent_when_asked_for() {
    let mut profile = Profile::new(Provider::OpenAi, "gpt-5-mini");
    profile.reasoning_effort = Some("low".to_owned());
    profile.temperature = Some(0.2);
    profile.max_output_tokens = Some(3000);
    profile
        .headers
        .insert("x-team".to_owned(), "data".to_owned());
    let (_, requests) = analysed(&profile, openai, true).await;
    let body = &requests[0].body;
    assert_eq!(body["reasoning_effort"], "low");
    assert_eq!(body["temperature"], 0.2);
    assert_eq!(body["max_completion_tokens"], 3000);
    assert_eq!(requests[0].headers["x-team"], "data");
    assert_eq!(
        requests[0].headers["authorization"],
        "Bearer key-for-tests-0123456789"
    );
}

#[tokio::test]
async fn azure_has_the_deployment_in_its_path_and_the_key_in_its_header() {
    let mut profile = Profile::new(Provider::Azure, "my-deployment");
    profile.api_version = Some("2024-10-21".to_owned());
    let (_, requests) = analysed(&profile, openai, true).await;
    assert_eq!(
        requests[0].path,
        "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
    );
    assert_eq!(requests[0].headers["api-key"], "key-for-tests-0123456789");
    assert!(!requests[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn anthropic_is_asked_for_a_schema_or_a_tool_by_model() {
    let (_, requests) = analysed(
        &Profile::new(Provider::Anthropic, "claude-sonnet-4-5"),
        anthropic,
        true,
    )
    .await;
    assert_eq!(
        requests[0].body["output_config"]["format"]["type"], "json_schema",
        "{}",
        requests[0].body
    );
    let mut profile = Profile::new(Provider::Anthropic, "claude-3-opus-20240229");
    profile.structured_output = Some(Level::Tool);
    let (_, requests) = analysed(&profile, anthropic, true).await;
    assert_eq!(
        requests[0].body["tool_choice"]["name"], "submit_step",
        "{}",
        requests[0].body
    );
}

#[tokio::test]
async fn refusals_are_told_and_not_taken_for_answers() {
    let refusal = json!({
        "id": "c", "object": "chat.completion", "model": "m",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": null, "refusal": "I cannot help with that" } }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 }
    });
    let blocked = json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" }, "usageMetadata": { "promptTokenCount": 9 } });
    for (provider, body, said) in [
        (Provider::OpenAi, refusal, "I cannot help with that"),
        (Provider::Gemini, blocked, "PROHIBITED_CONTENT"),
    ] {
        let server = Server::start([]).rule(move |_| Some(Turn::raw(200, body.to_string())));
        let mut profile = Profile::new(provider, "gpt-4o");
        profile.base_url = Some(server.url());
        profile.api_key = Some(SecretString::from("key-for-tests-0123456789"));
        let setting = Setting::with(asking_with(&profile, LlmOptions::default())).or_offline();
        let report = support::run(&about("healthy"), setting)
            .await
            .0
            .expect("a report");
        let reason = report.engine.fallback.unwrap_or_default();
        assert!(reason.contains(said), "{provider:?}: {reason}");
        assert!(
            !reason.contains("THINK 1"),
            "the request is not in the error: {reason}"
        );
    }
}
