//! What a profile says is in the request, in the place where its provider looks for it.

use llm::{Level, LlmOptions, Profile, Provider};
use report::Report;
use secrecy::SecretString;
use testkit::llm::{Recorded, Server, Turn};

use crate::support::{self, Setting, about, agreeable_answer, asking_with};

async fn analysed(profile: &Profile) -> (Report, Vec<Recorded>) {
    let server = Server::start([]).rule(|r| Some(Turn::json(&agreeable_answer(r))));
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
        stream: true,
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
async fn the_name_of_a_model_says_nothing_about_its_effort() {
    let (_, requests) = analysed(&Profile::new(Provider::Qwen, "qwen-max")).await;
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
    let (_, requests) = analysed(&profile).await;
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
    let (_, requests) = analysed(&profile).await;
    assert_eq!(
        requests[0].path,
        "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
    );
    assert_eq!(requests[0].headers["api-key"], "key-for-tests-0123456789");
    assert!(!requests[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn anthropic_is_asked_for_a_schema_or_a_tool_by_model() {
    let (_, requests) = analysed(&Profile::new(Provider::Anthropic, "claude-sonnet-4-5")).await;
    assert_eq!(
        requests[0].body["output_config"]["format"]["type"], "json_schema",
        "{}",
        requests[0].body
    );
    let mut profile = Profile::new(Provider::Anthropic, "claude-3-opus-20240229");
    profile.structured_output = Some(Level::Tool);
    let (_, requests) = analysed(&profile).await;
    assert_eq!(
        requests[0].body["tool_choice"]["name"], "submit_step",
        "{}",
        requests[0].body
    );
}
