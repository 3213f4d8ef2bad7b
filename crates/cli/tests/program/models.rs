//! Embedders from configuration to hits: a local server, a model that does not fit, wrong settings.

use serde_json::{Value, json};
use testkit::llm::{Recorded, Server, Turn};
use testkit::{any_contains, contains};

use crate::support::{Answer, User, words};

const COMPONENTS: usize = 24;

/// A model that counts letters, which is enough to tell these documents apart.
pub(crate) fn embeddings(request: &Recorded) -> Option<Turn> {
    let texts = request.body["input"].as_array()?;
    let vector = |text: &Value| -> Vec<f32> {
        let mut counts = vec![0.0; COMPONENTS];
        for byte in text.as_str().unwrap_or_default().bytes() {
            counts[usize::from(byte) % COMPONENTS] += 1.0;
        }
        counts
    };
    let row = |(index, text)| json!({"index": index, "embedding": vector(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(row).collect();
    Some(Turn::raw(200, json!({"data": data}).to_string()))
}

fn texts(request: &Recorded) -> Vec<&str> {
    let texts = request.body["input"].as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).collect()
}

/// A user with three chunks of knowledge and this configuration.
fn user(embedder: &str) -> User {
    let user = User::new();
    user.write(
        "knowledge/experience/skew.md",
        "# Skew\n\n## Cause\n\nThe join has a hot key.\n\n## Fix\n\nSalt it and aggregate twice.\n",
    );
    let chinese = "# 垃圾回收\n\n## 原因\n\n对象太多。\n";
    user.write("knowledge/experience/gc-zh.md", chinese);
    user.configure(&format!("[embedder]\n{embedder}"));
    user
}

fn run(user: &User, line: &str) -> Answer {
    let mut command = user.program();
    command.env("TEST_EMBEDDINGS_KEY", "sesame");
    Answer::of(command.args(words(line)))
}

/// The line of `config show` about a setting; no line shows the key.
fn setting(user: &User, flags: &str, name: &str) -> String {
    let shown = run(user, &format!("{flags} config show")).text();
    assert!(!shown.contains("sesame"), "{shown}");
    let line = shown.lines().find(|l| l.contains(name));
    line.expect("the setting is shown").to_owned()
}

#[test]
fn a_server_makes_the_vectors_of_index_and_search() {
    let server = Server::start([]).rule(embeddings);
    let user = user(&format!(
        "model = \"tiny-e5-small\"\nbase_url = \"{}\"\napi_key_env = \"TEST_EMBEDDINGS_KEY\"\nweights = {{ latin = 0.9, cjk = 0.9 }}\n",
        server.url()
    ));
    let built = run(&user, "index --format json").json();
    assert_eq!(built["embedded"], 3);
    let asked = server.requests();
    for request in &asked {
        assert_eq!(request.path, "/v1/embeddings");
        assert_eq!(request.body["model"], "tiny-e5-small");
        assert_eq!(request.headers["authorization"], "Bearer sesame");
    }
    let passages: Vec<&str> = asked.iter().flat_map(texts).collect();
    any_contains(&passages, "passage: Skew > Cause");

    let found = run(&user, "search 'a hot key' --format json").list();
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|hit| hit["vector_score"].is_number()));
    let asked = server.requests();
    assert_eq!(texts(asked.last().expect("asked")), ["query: a hot key"]);

    // Unchanged texts are not requested again: the one request is for the dimension.
    let before = server.requests().len();
    run(&user, "index --rechunk").text();
    assert_eq!(server.requests().len(), before + 1);
    let info = run(&user, "index info").text();
    contains(info, ["openai:tiny-e5-small:24"]);
    contains(setting(&user, "", "embedder.base_url"), ["config.toml"]);
}

#[test]
fn an_index_of_another_model_is_refused_with_the_command_to_run() {
    let server = Server::start([]).rule(embeddings);
    let user = user(&format!("model = \"m\"\nbase_url = \"{}\"\n", server.url()));
    run(&user, "index").text();
    for arguments in [
        "--embedder embedded search skew",
        "--embedder embedded index",
        "--embedder embedded index verify",
    ] {
        let errors = run(&user, arguments).refused(3);
        contains(errors, ["openai:m:24", "scopeagent index --reembed"]);
    }
    // `info` still works: it needs no model.
    let embedded = |line: &str| run(&user, &format!("--embedder embedded {line}")).text();
    contains(embedded("index info"), ["openai:m:24"]);
    embedded("index --reembed");
    contains(embedded("search 'hot key' --format json"), ["skew.md"]);
    // The configured one no longer fits.
    run(&user, "search skew").refused(3);
}

#[test]
fn a_flag_wins_and_is_shown_as_its_origin() {
    let user = user("model = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    let line = setting(&user, "--embedder embedded", "embedder.provider");
    contains(line, ["embedded", "flag"]);
    run(&user, "--embedder embedded index").text();
}

#[test]
fn what_is_set_up_wrongly_is_named() {
    let server = Server::start([]).rule(|_| Some(Turn::error(401, "no")));
    let refusing = format!("model = \"m\"\nbase_url = \"{}\"\n", server.url());
    let no_address = "provider = \"openai_compatible\"\nmodel = \"m\"\n";
    let no_key =
        "model = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key_env = \"NOT_SET_ANYWHERE\"\n";
    for (embedder, code, part) in [
        ("base_url = \"http://127.0.0.1:9/v1\"\n", 2, "needs `model`"),
        (no_address, 2, "needs `base_url`"),
        ("provider = \"word2vec\"\n", 2, "embedded"),
        ("modle = \"m\"\n", 2, "modle"),
        ("weights = { latin = 1.5, cjk = 0.5 }\n", 2, "between 0"),
        (no_key, 2, "NOT_SET_ANYWHERE"),
        (refusing.as_str(), 3, "check the key"),
    ] {
        contains(run(&user(embedder), "index").refused(code), [part]);
    }
}

#[test]
fn a_model_that_is_not_there_is_named_with_a_remedy() {
    let user = user("");
    let errors = run(&user, "--embedder no-such-model index").refused(3);
    contains(errors, ["no-such-model", "docs/models.md"]);
}
