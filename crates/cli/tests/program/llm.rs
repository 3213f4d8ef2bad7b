//! The LLM from configuration to report, against a local server that streams.

use serde_json::Value;
use testkit::contains;
use testkit::llm::{Server, Turn};

use crate::support::{User, case};

/// A user with this server in the configuration.
pub(crate) fn configured(server: &Server) -> User {
    let user = User::new();
    let config = format!(
        "[llm]\ndefault = \"test\"\n[llm.profiles.test]\nprovider = \"openai_compatible\"\nmodel = \"scripted\"\nbase_url = \"{}\"\nretries = 0\n",
        server.url()
    );
    user.configure(&config);
    user
}

#[test]
fn auto_uses_the_configured_llm_and_keeps_the_findings_of_the_rules() {
    let server = Server::start([]).rule(|_| Some(Turn::text("not a conclusion at all")));
    let user = configured(&server);
    let report = user.report(&case("join-hot-key-skew"), "");
    assert!(!server.requests().is_empty(), "the server was asked");
    assert!(
        server.requests().first().is_some_and(|r| r.streams()),
        "answers are streamed; a bad one is requested again in one piece"
    );
    assert_eq!(report["findings"][0]["cause"], "skew.join_hot_key");
    assert!(
        report["engine"]["fallback"].is_string(),
        "a model that talks nonsense is replaced, and the report says so"
    );
}

#[test]
fn without_a_fallback_a_failing_llm_is_status_4() {
    let server = Server::start([]).rule(|_| Some(Turn::error(401, "bad key")));
    let user = configured(&server);
    let answer = user.analyze(&case("healthy"), "--no-fallback");
    contains(answer.refused(4), ["hint:"]);
}

#[test]
fn a_dry_run_sends_nothing_and_shows_the_prompts() {
    let server = Server::start([]);
    let user = configured(&server);
    let job = case("join-hot-key-skew");
    let previews: Vec<Value> = user.analyze(&job, "--dry-run --format json").list();
    assert!(server.requests().is_empty());
    assert!(previews.iter().all(|p| p["tokens"].as_u64() > Some(100)));
    assert!(previews.len() >= 4, "one prompt per step");
    let line = "--lang zh --question slow? --dry-run --format json";
    for preview in user.analyze(&job, line).list() {
        let prompt = preview["user"].as_str().expect("a prompt");
        contains(prompt, ["作业", "阶段"]);
    }
}
