//! Embedders from configuration to hits: a server on loopback, a model that does not fit, what is set up wrongly.

use std::fs;

use serde_json::{Value, json};
use testkit::llm::{Recorded, Server, Turn};

use crate::support::User;

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
    let write = |path: &str, text: &str| {
        let path = user.home.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    };
    write(
        "knowledge/experience/skew.md",
        "# Skew\n\n## Cause\n\nThe join has a hot key.\n\n## Fix\n\nSalt it and aggregate twice.\n",
    );
    write(
        "knowledge/experience/gc-zh.md",
        "# 垃圾回收\n\n## 原因\n\n对象太多。\n",
    );
    write("scopeagent.toml", &format!("[embedder]\n{embedder}"));
    user
}

fn run(user: &User, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = user.program();
    let output = command
        .env("TEST_EMBEDDINGS_KEY", "sesame")
        .args(arguments)
        .output()
        .expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn succeeds(user: &User, arguments: &[&str]) -> String {
    let (code, out, errors) = run(user, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {errors}");
    out
}

#[test]
fn a_server_makes_the_vectors_of_index_and_search() {
    let server = Server::start([]).rule(embeddings);
    let user = user(&format!(
        "model = \"tiny-e5-small\"\nbase_url = \"{}\"\napi_key_env = \"TEST_EMBEDDINGS_KEY\"\nweights = {{ latin = 0.9, cjk = 0.9 }}\n",
        server.url()
    ));
    let built: Value =
        serde_json::from_str(&succeeds(&user, &["index", "--format", "json"])).expect("JSON");
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

    let found = succeeds(&user, &["search", "a hot key", "--format", "json"]);
    let found: Vec<Value> = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|hit| hit["vector_score"].is_number()));
    let asked = server.requests();
    assert_eq!(texts(asked.last().expect("asked")), ["query: a hot key"]);

    // What did not change is not asked for again: the one request is for the dimension.
    let before = server.requests().len();
    succeeds(&user, &["index", "--rechunk"]);
    assert_eq!(server.requests().len(), before + 1);
    assert!(succeeds(&user, &["index", "info"]).contains("openai:tiny-e5-small:24"));
    let shown = succeeds(&user, &["config", "show"]);
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
    succeeds(&user, &["index"]);
    for arguments in [
        &["--embedder", "embedded", "search", "hot key"][..],
        &["--embedder", "embedded", "index"],
        &["--embedder", "embedded", "index", "verify"],
    ] {
        let (code, _, errors) = run(&user, arguments);
        assert_eq!(code, Some(3), "{errors}");
        assert!(
            errors.contains("openai:m:24") && errors.contains("scopeagent index --reembed"),
            "{errors}"
        );
    }
    // What the index was made with can be asked all the same.
    assert!(succeeds(&user, &["--embedder", "embedded", "index", "info"]).contains("openai:m:24"));
    succeeds(&user, &["--embedder", "embedded", "index", "--reembed"]);
    let found = succeeds(
        &user,
        &[
            "--embedder",
            "embedded",
            "search",
            "hot key",
            "--format",
            "json",
        ],
    );
    assert!(found.contains("skew.md"));
    let (code, _, errors) = run(&user, &["search", "hot key"]);
    assert_eq!(code, Some(3), "the configured one no longer fits: {errors}");
}

#[test]
fn a_flag_wins_and_is_shown_as_its_origin() {
    let user = user("model = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    let shown = succeeds(&user, &["--embedder", "embedded", "config", "show"]);
    let line = shown
        .lines()
        .find(|l| l.contains("embedder.provider"))
        .expect("shown");
    assert!(line.contains("embedded") && line.contains("flag"), "{line}");
    succeeds(&user, &["--embedder", "embedded", "index"]);
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
        let (got, _, errors) = run(&user(embedder), &["index"]);
        assert_eq!(got, Some(code), "{embedder}: {errors}");
        assert!(errors.contains(part), "{embedder}: {errors}");
    }
}

#[test]
#[cfg(not(feature = "fastembed"))]
fn a_build_without_onnx_says_how_to_get_one() {
    let user = user("");
    let (code, _, errors) = run(&user, &["--embedder", "all-MiniLM-L6-v2", "index"]);
    assert_eq!(code, Some(3));
    assert!(
        errors.contains("--features fastembed") && errors.contains("docs/models.md"),
        "{errors}"
    );
}

#[test]
#[cfg(feature = "fastembed")]
fn a_model_that_is_not_there_is_named_with_a_remedy() {
    let user = user("");
    let (code, _, errors) = run(&user, &["--embedder", "no-such-model", "index"]);
    assert_eq!(code, Some(3));
    assert!(
        errors.contains("no-such-model") && errors.contains("docs/models.md"),
        "{errors}"
    );
}
