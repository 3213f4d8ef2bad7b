//! The settings of a profile are in the request, in the place that its provider expects.

use llm::{Level, Profile, Provider};
use testkit::llm::{Recorded, Server};

use crate::support::*;

/// The first request that a profile leads to; `change` sets its fields.
async fn first_request(provider: Provider, model: &str, change: fn(&mut Profile)) -> Recorded {
    let server = Server::agreeing();
    let mut profile = profile_of(provider, model, &server);
    if provider == Provider::Azure {
        profile.base_url = Some(server.url().replace("/v1", "/"));
    }
    change(&mut profile);
    run(&healthy(), Setting::with(asking(&profile)).or_offline()).await;
    server.requests().remove(0)
}

#[tokio::test]
async fn the_name_of_a_model_says_nothing_about_its_effort() {
    let request = first_request(Provider::Qwen, "qwen-max", |_| {}).await;
    let body = &request.body;
    assert_eq!(body["model"], "qwen-max");
    assert!(body.get("reasoning_effort").is_none(), "{body}");
    // DashScope wants the word in the prompt.
    assert!(request.prompt().to_lowercase().contains("json"));
    assert_eq!(body["response_format"]["type"], "json_object");
}

#[tokio::test]
async fn effort_and_temperature_are_sent_when_asked_for() {
    let request = first_request(Provider::OpenAi, "gpt-5-mini", |profile| {
        profile.reasoning_effort = Some("low".to_owned());
        profile.temperature = Some(0.2);
        profile.max_output_tokens = Some(3000);
        let team = ("x-team".to_owned(), "data".to_owned());
        profile.headers.extend([team]);
    });
    let request = request.await;
    assert_eq!(request.body["reasoning_effort"], "low");
    assert_eq!(request.body["temperature"], 0.2);
    assert_eq!(request.body["max_completion_tokens"], 3000);
    assert_eq!(request.headers["x-team"], "data");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
}

#[tokio::test]
async fn section_1_azure_has_the_deployment_in_its_path_and_the_key_in_its_header() {
    let request = first_request(Provider::Azure, "my-deployment", |profile| {
        profile.api_version = Some("2024-10-21".to_owned());
    });
    let request = request.await;
    assert_eq!(
        request.path,
        "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
    );
    assert_eq!(request.headers["api-key"], KEY);
    assert!(!request.headers.contains_key("authorization"));
}

#[tokio::test]
async fn section_1_anthropic_is_asked_for_a_schema_or_a_tool_by_model() {
    let new = first_request(Provider::Anthropic, "claude-sonnet-4-5", |_| {}).await;
    let format = &new.body["output_config"]["format"]["type"];
    assert_eq!(format, "json_schema", "{}", new.body);
    let old = first_request(Provider::Anthropic, "claude-3-opus-20240229", |profile| {
        profile.structured_output = Some(Level::Tool);
    });
    let old = old.await;
    let tool = &old.body["tool_choice"]["name"];
    assert_eq!(tool, "submit_step", "{}", old.body);
}
