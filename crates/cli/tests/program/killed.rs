//! A process that is killed in the middle of an analysis leaves the store whole.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::contains;
use testkit::llm::{Server, Turn};

use crate::llm::configured;
use crate::support::{User, case, expert_flags};

/// An analysis that waits for the LLM.
fn asking(user: &User, server: &Server) -> Child {
    let running = user
        .process()
        .args(expert_flags())
        .arg("analyze")
        .arg(case("join-hot-key-skew"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let started = Instant::now();
    while server.requests().is_empty() {
        let patient = started.elapsed() < Duration::from_secs(60);
        assert!(patient, "the LLM was never asked");
        std::thread::sleep(Duration::from_millis(20));
    }
    running
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_with_a_partial_report_and_its_status() {
    let slow = Turn::text("later").delay(Duration::from_secs(600));
    let server = Server::start([]).rule(move |_| Some(slow.clone()));
    let user = configured(&server);
    let running = asking(&user, &server);
    let interrupted = Command::new("kill")
        .args(["-INT", &running.id().to_string()])
        .status();
    assert!(interrupted.expect("kill runs").success());
    let sent = Instant::now();
    let output = running.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130));
    // A second, and one more for a busy machine.
    let took = sent.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    contains(String::from_utf8_lossy(&output.stdout), ["hot key"]);
    assert_eq!(user.runs()[0]["status"], "interrupted");
}

#[test]
fn a_killed_run_is_interrupted_and_the_others_are_whole() {
    // An LLM that answers in ten minutes: the run stays in its first step.
    let slow = Turn::text("later").delay(Duration::from_secs(600));
    let server = Server::start([]).rule(move |_| Some(slow.clone()));
    let user = configured(&server);
    let offline = "--reasoner offline";
    user.report(&case("healthy"), offline);

    let mut running = asking(&user, &server);
    let seen = user.runs();
    assert_eq!((seen.len(), &seen[0]["status"]), (2, &json!("running")));
    // On Unix this is signal 9: it stops every thread of the process.
    running.kill().expect("killed");
    running.wait().expect("ended");

    let seen = user.runs();
    assert_eq!(seen[0]["status"], "interrupted");
    assert_eq!(seen[1]["status"], "finished");
    let path = user.path("data/scopeagent").join(runs::store::FILE_NAME);
    let store = rusqlite::Connection::open(path).expect("the store opens");
    let whole: String = store
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checked");
    assert_eq!(whole, "ok");
    // The next run is saved as usual.
    user.report(&case("healthy"), offline);
    assert_eq!(user.runs().len(), 3);
}
