//! Addresses of History Servers: requests go only to servers that a user named, without redirects to
//! others.

use serde_json::json;
use testkit::{Answer as Scripted, HistoryServer, contains, description, zip};

use crate::history::log;
use crate::mcp::client::{Listener, Session};
use crate::support::{Answer, User};

#[tokio::test(flavor = "multi_thread")]
async fn a_model_reaches_no_server_that_was_not_allowed() {
    let user = User::new();
    let server = HistoryServer::with("app-1", vec![log()]);
    let other = HistoryServer::with("app-1", vec![log()]);
    let local = format!("{}/", user.home.path().display());
    for roots in [vec!["--root", &local], vec!["--root", &other.url]] {
        let session = Session::open(&user, &roots, Listener::default()).await;
        let login = server.page("app-1").replace("://", "://127.0.0.1@");
        for job in [
            server.page("app-1"),
            login,
            "http://169.254.169.254/history/app-1".to_owned(),
        ] {
            let file = json!({ "job": job, "file": "app-1" });
            for (tool, arguments) in [
                ("analyze_job", json!({ "job": job })),
                ("inspect_job", json!({ "job": job })),
                ("read_job_file", file),
            ] {
                let refusal = session.refusal(tool, arguments).await;
                contains(refusal, ["outside the folders", "--root URL"]);
            }
        }
    }
    assert!(server.asked().is_empty());
}

#[test]
fn a_server_sends_the_program_nowhere_else() {
    let user = User::new();
    let secret = HistoryServer::with("app-1", vec![log()]);
    let to = format!("{}/api/v1/applications/app-1", secret.url);
    let server = HistoryServer::start(move |_| Some(Scripted::Redirect(to.clone())));
    let answer = Answer::of(user.program().args(["inspect", &server.page("app-1")]));
    contains(answer.refused(3), [secret.url.as_str(), "was not asked"]);
    assert!(secret.asked().is_empty());
}

#[test]
fn a_log_writes_nothing_outside_of_its_folder() {
    let user = User::new();
    let temporary = user.path("temporary");
    std::fs::create_dir(&temporary).expect("made");
    let hostile = zip(&[("../../up", b"{\"Event\":\"SparkListenerLogStart\"}")]);
    let server = HistoryServer::start(move |path| {
        Some(match path.ends_with("/logs") {
            true => Scripted::zip(hostile.clone()),
            false => Scripted::json(description("app-1", 1)),
        })
    });
    let mut program = user.program();
    program.env("TMPDIR", &temporary);
    let answer = Answer::of(program.args(["inspect", &server.page("app-1")]));
    contains(answer.refused(3), ["`../../up`"]);
    let left = std::fs::read_dir(&temporary).expect("listed").count();
    assert_eq!(left, 0, "something remains");
    assert!(!user.path("up").exists());
}
