//! The keys in use never appear in the program's output.

use std::fs;
use std::path::Path;

use serde_json::json;
use testkit::contains;
use testkit::llm::{Recorded, Server, Turn};

use crate::mcp::client::{Listener, Session};
use crate::support::{Answer, User, case, copy, words};

/// No pattern matches it, and JSON, HTML and URLs write it differently.
const KEY: &str = "Qz7\"wr&nine<pq*vermilion";
const HEADER: &str = "tok-vermilion-31415926";
const PASSWORD: &str = "vermilion/pass";

/// A part of every secret that no form of writing changes.
const TRACE: &str = "vermilion";

/// A server that repeats every secret, in what it refuses and in what it answers.
fn repeating(status: u16) -> Server {
    Server::start([]).rule(move |request: &Recorded| {
        let said = format!("{:?} {KEY} {HEADER} {PASSWORD}", request.headers);
        Some(match status {
            200 => Turn::text(json!({ "evidence": said, "class": said }).to_string()),
            status => Turn::error(status, &said),
        })
    })
}

fn user(server: &Server, source: &str) -> User {
    let user = User::new();
    let url = server
        .url()
        .replace("http://", "http://user:vermilion%2Fpass@");
    user.configure(&format!(
        "[llm]\ndefault = \"test\"\n[llm.profiles.test]\nprovider = \"openai_compatible\"\nmodel = \"m\"\nretries = 0\nbase_url = \"{url}\"\n{source}\nheaders = {{ \"X-Api-Token\" = \"Bearer {HEADER}\" }}\n"
    ));
    copy(&case("join-hot-key-skew"), &user.path("job"));
    // A job may contain the key too.
    let script = user.path("job/scope.script");
    let text = fs::read_to_string(&script).expect("read");
    let said = format!("// {KEY} {HEADER} {PASSWORD}\n{text}");
    fs::write(&script, said).expect("written");
    user
}

fn run(user: &User, line: &str) -> Answer {
    let mut command = user.expert();
    command.env("TEST_KEY", KEY).args(words(line));
    Answer::of(&mut command)
}

#[track_caller]
fn is_clean(what: &str, text: &str) {
    let line = text.lines().find(|line| line.contains(TRACE));
    assert_eq!(line, None, "{what}");
}

#[test]
fn no_output_shows_a_secret() {
    for status in [200, 401, 500] {
        let server = repeating(status);
        let user = user(&server, "api_key_env = \"TEST_KEY\"");
        for line in [
            "analyze job --format text --verbose --explain-rules --transcript calls.jsonl",
            "analyze job --format json",
            "analyze job --format markdown",
            "analyze job --format html",
            "analyze job --no-fallback --log-level trace",
            "analyze job --no-fallback --log-format json --log-level trace",
            "analyze job --dry-run",
            "batch run job --out store",
            "inspect job --format json",
            "doctor --log-level trace",
            "doctor --format json",
            "runs export",
            "runs list --format json",
            "config show",
            "config show --format json",
        ] {
            let answer = run(&user, line);
            is_clean(line, &answer.out);
            is_clean(line, &answer.err);
        }
        is_clean("calls.jsonl", &user.read("calls.jsonl"));
        for (name, text) in crate::batch::objects(&user.path("store")) {
            is_clean(&name, &text);
        }
        let asked = server.requests();
        let key = format!("Bearer {KEY}");
        assert!(asked.iter().all(|r| r.headers["authorization"] == key));
        assert!(asked.len() > 5, "the servers were asked");
        is_stored_clean(&user.path("data"));
    }
}

#[tokio::test]
async fn no_answer_of_the_mcp_server_shows_a_secret() {
    let server = repeating(401);
    let user = user(&server, "api_key_command = \"cat key\"");
    user.write("key", KEY);
    let session = Session::open(&user, &[], Listener::default()).await;
    for (tool, mut arguments) in [
        ("analyze_job", json!({})),
        ("inspect_job", json!({})),
        ("read_job_file", json!({ "file": "scope.script" })),
    ] {
        arguments["job"] = "job".into();
        let answer = session.answer(tool, arguments).await;
        is_clean(tool, &answer.to_string());
    }
    assert!(!server.requests().is_empty(), "the server was asked");
}

/// No file of the data folder contains a secret.
fn is_stored_clean(folder: &Path) {
    for entry in fs::read_dir(folder).expect("listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            is_stored_clean(&path);
        } else {
            let bytes = fs::read(&path).expect("read");
            is_clean(
                &path.display().to_string(),
                &String::from_utf8_lossy(&bytes),
            );
        }
    }
}

#[test]
fn a_mistake_in_the_configuration_is_named_without_its_line() {
    let user = User::new();
    for (text, named) in [
        (
            "[llm.profiles.x]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = 'vermilion' x\n",
            "line 4",
        ),
        (
            "[llm.profiles.x]\nprovider = \"openai\"\napi_key = \"vermilion\"\nmodel = 7\n",
            "line 4",
        ),
        (
            "[llm.profiles.x]\nmodel = \"m\"\nprovider = \"openai\"\napi_key = \"vermilion-key\"\ntemperature = \"vermilion-key\"\n",
            "line 5",
        ),
        (
            "[llm.profiles.x]\nmodel = \"m\"\nprovider = \"http://me:vermilion-key@host/\"\n",
            "line 3",
        ),
    ] {
        user.configure(text);
        let errors = user.run_plain("config show").refused(2);
        is_clean(text, &errors);
        contains(errors, ["config.toml", named]);
    }
}
