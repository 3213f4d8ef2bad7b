//! A process that is killed in the middle of an analysis leaves the store whole.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::llm::{Server, Turn};

use crate::support::{User, case};

fn runs(user: &User) -> Vec<Value> {
    let output = user
        .program()
        .args(["runs", "list", "--format", "json"])
        .output()
        .expect("runs");
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_killed_run_is_interrupted_and_the_others_are_whole() {
    // An LLM that answers in ten minutes: the run stays in its first step.
    let slow = Turn::text("later").delay(Duration::from_secs(600));
    let server = Server::start([]).rule(move |_| Some(slow.clone()));
    let user = User::new();
    user.report(&case("healthy"), &[]);
    let config = format!(
        "[llm]\ndefault = \"slow\"\n[llm.profiles.slow]\nprovider = \"openai_compatible\"\nmodel = \"scripted\"\nbase_url = \"{}\"\n",
        server.url()
    );
    fs::write(user.home.path().join("scopeagent.toml"), config).expect("write");

    let program = user.expert();
    let mut running = Command::new(program.get_program())
        .args(program.get_args())
        .arg("analyze")
        .arg(case("join-hot-key-skew"))
        .env_clear()
        .envs(program.get_envs().filter_map(|(k, v)| Some((k, v?))))
        .current_dir(user.home.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let started = Instant::now();
    while server.requests().is_empty() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "the LLM was never asked"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let seen = runs(&user);
    assert_eq!(
        (seen.len(), &seen[0]["status"]),
        (2, &Value::from("running"))
    );
    // On Unix this is signal 9: nothing of the process runs any more.
    running.kill().expect("killed");
    running.wait().expect("ended");

    let seen = runs(&user);
    assert_eq!(seen[0]["status"], "interrupted");
    assert_eq!(seen[1]["status"], "finished");
    let path = user
        .home
        .path()
        .join("data/scopeagent")
        .join(runs::store::FILE_NAME);
    let store = rusqlite::Connection::open(path).expect("the store opens");
    let whole: String = store
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checked");
    assert_eq!(whole, "ok");
    // The next run is kept as if nothing had happened.
    fs::remove_file(user.home.path().join("scopeagent.toml")).expect("removed");
    user.report(&case("healthy"), &[]);
    assert_eq!(runs(&user).len(), 3);
}
