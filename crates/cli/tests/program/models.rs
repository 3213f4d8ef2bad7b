//! Embedders from configuration to hits: a local server, a model that does not fit, wrong settings.

use serde_json::{Value, json};
use testkit::llm::{Recorded, Server, Turn};

use crate::support::{Answer, User, words};

const COMPONENTS: usize = 24;

/// A model that counts letters, which is enough to tell these documents apart.
fn embeddings(request: &Recorded) -> Option<Turn> {
    let texts = request.body["input"].as_array()?;
    let vector = |text: &Value| -> Vec<f32> {
        let mut counts = vec![0.0; COMPONENTS];
        for byte in text.as_str().unwrap_or_default().bytes() {
            counts[usize::from(byte) % COMPONENTS] += 1.0;
        }
        counts
    };
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
        .collect();
    Some(Turn::raw(200, json!({"data": data}).to_string()))
}

fn texts(request: &Recorded) -> Vec<&str> {
    let texts = request.body["input"].as_array().map(Vec::as_slice);
    texts
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

/// A user with three chunks of knowledge and this configuration.
fn user(embedder: &str) -> User {
    let user = User::new();
    user.write(
        "knowledge/experience/skew.md",
        "# Skew\n\n## Cause\n\nThe join has a hot key.\n\n## Fix\n\nSalt it and aggregate twice.\n",
    );
    user.write(
        "knowledge/experience/gc-zh.md",
        "# 垃圾回收\n\n## 原因\n\n对象太多。\n",
    );
    user.write("scopeagent.toml", &format!("[embedder]\n{embedder}"));
    user
}

fn run(user: &User, line: &str) -> Answer {
    let mut command = user.program();
    command.env("TEST_EMBEDDINGS_KEY", "sesame");
    Answer::of(command.args(words(line)))
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
    assert!(
        asked
            .iter()
            .all(|r| r.path == "/v1/embeddings" && r.body["model"] == "tiny-e5-small")
    );
    assert!(asked.iter().all(|r| {
        r.headers
            .get("authorization")
            .is_some_and(|key| key == "Bearer sesame")
    }));
    assert!(
        asked
            .iter()
            .flat_map(texts)
            .any(|text| text.starts_with("passage: Skew > Cause"))
    );

    let found = run(&user, "search 'a hot key' --format json").list();
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|hit| hit["vector_score"].is_number()));
    let asked = server.requests();
    assert_eq!(texts(asked.last().expect("asked")), ["query: a hot key"]);

    // What did not change is not asked for again: the one request is for the dimension.
    let before = server.requests().len();
    run(&user, "index --rechunk").text();
    assert_eq!(server.requests().len(), before + 1);
    assert!(
        run(&user, "index info")
            .text()
            .contains("openai:tiny-e5-small:24")
    );
    let shown = run(&user, "config show").text();
    let line = shown
        .lines()
        .find(|l| l.contains("embedder.base_url"))
        .expect("shown");
    assert!(
        line.contains("scopeagent.toml") && !shown.contains("sesame"),
        "{shown}"
    );
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
        assert!(
            errors.contains("openai:m:24") && errors.contains("scopeagent index --reembed"),
            "{errors}"
        );
    }
    // `info` still works: it needs no model.
    assert!(
        run(&user, "--embedder embedded index info")
            .text()
            .contains("openai:m:24")
    );
    run(&user, "--embedder embedded index --reembed").text();
    let found = run(&user, "--embedder embedded search 'hot key' --format json").text();
    assert!(found.contains("skew.md"));
    // The configured one no longer fits.
    run(&user, "search skew").refused(3);
}

#[test]
fn a_flag_wins_and_is_shown_as_its_origin() {
    let user = user("model = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    let shown = run(&user, "--embedder embedded config show").text();
    let line = shown
        .lines()
        .find(|l| l.contains("embedder.provider"))
        .expect("shown");
    assert!(line.contains("embedded") && line.contains("flag"), "{line}");
    run(&user, "--embedder embedded index").text();
}

#[test]
fn what_is_set_up_wrongly_is_named() {
    let server = Server::start([]).rule(|_| Some(Turn::error(401, "no")));
    let refusing = format!("model = \"m\"\nbase_url = \"{}\"\n", server.url());
    for (embedder, code, part) in [
        ("base_url = \"http://127.0.0.1:9/v1\"\n", 2, "needs `model`"),
        (
            "provider = \"openai_compatible\"\nmodel = \"m\"\n",
            2,
            "needs `base_url`",
        ),
        ("provider = \"word2vec\"\n", 2, "embedded"),
        ("modle = \"m\"\n", 2, "modle"),
        ("weights = { latin = 1.5, cjk = 0.5 }\n", 2, "between 0"),
        (
            "model = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key_env = \"NOT_SET_ANYWHERE\"\n",
            2,
            "NOT_SET_ANYWHERE",
        ),
        (refusing.as_str(), 3, "check the key"),
    ] {
        let errors = run(&user(embedder), "index").refused(code);
        assert!(errors.contains(part), "{embedder}: {errors}");
    }
}

#[test]
#[cfg(not(feature = "fastembed"))]
fn a_build_without_onnx_says_how_to_get_one() {
    let user = user("");
    let errors = run(&user, "--embedder all-MiniLM-L6-v2 index").refused(3);
    assert!(
        errors.contains("--features fastembed") && errors.contains("docs/models.md"),
        "{errors}"
    );
}

#[test]
#[cfg(feature = "fastembed")]
fn a_model_that_is_not_there_is_named_with_a_remedy() {
    let user = user("");
    let errors = run(&user, "--embedder no-such-model index").refused(3);
    assert!(
        errors.contains("no-such-model") && errors.contains("docs/models.md"),
        "{errors}"
    );
}
