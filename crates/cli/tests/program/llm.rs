//! The LLM path from configuration to report, against a server on loopback that streams.

use std::fs;

use testkit::llm::{Server, Turn};

use crate::support::{User, case};

pub(crate) fn configured(server: &Server) -> User {
    let user = User::new();
    let config = format!(
        "[llm]\ndefault = \"test\"\n[llm.profiles.test]\nprovider = \"openai_compatible\"\nmodel = \"scripted\"\nbase_url = \"{}\"\nretries = 0\n",
        server.url()
    );
    fs::write(user.home.path().join("scopeagent.toml"), config).expect("write");
    user
}

#[test]
fn auto_uses_the_configured_llm_and_keeps_the_findings_of_the_rules() {
    let server = Server::start([]).rule(|_| Some(Turn::text("not a conclusion at all")));
    let user = configured(&server);
    let report = user.report(&case("join-hot-key-skew"), &[]);
    assert!(!server.requests().is_empty(), "the server was asked");
    assert!(
        server.requests().first().is_some_and(|r| r.streams()),
        "answers are streamed; what came out wrong is asked for again in one piece"
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
    let output = user
        .expert()
        .arg("analyze")
        .arg(case("healthy"))
        .arg("--no-fallback")
        .output()
        .expect("runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{errors}");
    assert!(errors.contains("hint:"), "{errors}");
}

#[test]
fn a_dry_run_sends_nothing_and_shows_the_prompts() {
    let server = Server::start([]);
    let user = configured(&server);
    let output = user
        .expert()
        .arg("analyze")
        .arg(case("join-hot-key-skew"))
        .args(["--dry-run", "--format", "json"])
        .output()
        .expect("runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(server.requests().is_empty());
    let previews: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(previews.iter().all(|p| p["tokens"].as_u64() > Some(100)));
    assert!(previews.len() >= 4, "one prompt a step");
}
