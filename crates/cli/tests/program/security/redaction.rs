//! With `--redact`, no command sends a word of a job: neither to a model nor to an embedding server.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;
use testkit::llm::think::curious;
use testkit::llm::{Recorded, Server};
use testkit::private::{only_in, words};

use crate::llm::configured;
use crate::mcp::client::{Listener, Session};
use crate::models::embeddings;
use crate::support::{Answer, User, case, copy, root};

/// Words that occur only in this job: in a name, a comment, a literal and a row.
const PLANTED: &str = "// for Kvarnholm Falkenberg, see \"\\\\depot7\\zq\"\n// 张三的客户名单\n";

fn user(server: &Server) -> User {
    let user = User::new();
    user.configure(&format!(
        "[embedder]\nmodel = \"tiny\"\nbase_url = \"{url}\"\n[llm.profiles.test]\nprovider = \"openai_compatible\"\nmodel = \"scripted\"\nbase_url = \"{url}\"\nretries = 0\n",
        url = server.url()
    ));
    let experience = root().join("knowledge/experience/skew-join-hot-key.md");
    let text = std::fs::read_to_string(experience).expect("a playbook");
    user.write("knowledge/experience/skew-join-hot-key.md", &text);
    copy(&case("user-code-failure"), &user.path("jobs/wolfsburg9"));
    let script = "jobs/wolfsburg9/scope.script";
    user.write(script, &(PLANTED.to_owned() + &user.read(script)));
    user
}

/// The words that only this job has.
fn private(user: &User) -> BTreeSet<String> {
    let job = user.path("jobs/wolfsburg9");
    let others = ["healthy", "excessive-shuffle", "late-filter"].map(case);
    let public = [
        "prompts",
        "knowledge",
        "crates/job/src",
        "crates/diagnosis/src",
    ];
    let public = public.map(|path| root().join(path));
    let known: Vec<&Path> = others.iter().chain(&public).map(|p| p.as_path()).collect();
    let mut words = only_in(&job, &known);
    for planted in ["Kvarnholm", "Falkenberg", "depot7", "zq", "张三的客户名单"] {
        assert!(words.contains(planted), "{planted}");
    }
    words.insert("wolfsburg9".to_owned());
    words
}

#[tokio::test]
async fn no_command_sends_a_word_of_a_job() {
    let server = Server::start([]);
    let server =
        server.rule(|request: &Recorded| embeddings(request).or_else(|| Some(curious(request))));
    let user = user(&server);
    let private = private(&user);
    for line in [
        "index",
        "doctor",
        "analyze jobs/wolfsburg9 --redact --hypotheses --question 'why is Falkenberg slow?'",
        "analyze jobs/wolfsburg9 --redact --depth quick --lang zh",
        "analyze jobs/wolfsburg9 --redact --depth deep --no-store",
        "analyze jobs/wolfsburg9 --redact --reasoner offline",
        "batch run jobs --out store --redact --reasoner llm",
    ] {
        let before = server.requests().len();
        Answer::of(user.program().args(crate::support::words(line)));
        assert!(server.requests().len() > before, "{line} asked nobody");
    }
    // The MCP server, with the index of the built-in embedder.
    let asking = configured(&server);
    let jobs = user.path("jobs").display().to_string();
    let flags = ["--redact", "--root", jobs.as_str()];
    let session = Session::open(&asking, &flags, Listener::default()).await;
    let asked = json!({ "job": "wolfsburg9", "hypotheses": true });
    session.answer("analyze_job", asked).await;
    for request in server.requests() {
        let sent = words(&format!("{} {}", request.path, request.body));
        let leaked: Vec<&String> = sent.intersection(&private).collect();
        assert!(leaked.is_empty(), "{leaked:?} in {}", request.body);
    }
}
