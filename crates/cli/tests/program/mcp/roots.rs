//! Access: no name from a client reaches a file outside of the allowed folders.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::contains;

use super::client::{Listener, Session};
use super::tools::cases;
use crate::support::{User, case, copy, items, root};

fn uri(path: &Path) -> String {
    url::Url::from_file_path(path.canonicalize().expect("it exists"))
        .expect("absolute")
        .to_string()
}

async fn refused(session: &Session, job: &str) {
    let arguments = json!({ "job": job });
    let file = json!({ "job": job, "file": "scope.script" });
    for (tool, arguments) in [
        ("analyze_job", arguments.clone()),
        ("inspect_job", arguments),
        ("read_job_file", file),
    ] {
        let refusal = session.refusal(tool, arguments).await;
        contains(refusal, ["outside the folders"]);
    }
}

async fn inspect(session: &Session, job: &str) -> Value {
    session.answer("inspect_job", json!({ "job": job })).await
}

#[tokio::test]
async fn the_current_folder_is_the_root_unless_another_is_given() {
    let user = User::new();
    copy(&case("healthy"), &user.path("job"));
    let session = Session::open(&user, &[], Listener::default()).await;
    let report = session.answer("analyze_job", json!({ "job": "job" })).await;
    assert_eq!(report["verdict"], "healthy");
    let outside = case("healthy").display().to_string();
    for job in ["..", "job/../..", "/", "/etc", "/no/such/folder", &outside] {
        refused(&session, job).await;
    }
    let runs = session.answer("list_runs", json!({})).await;
    assert_eq!(items(&runs["runs"]).len(), 1, "nothing else was begun");
}

#[tokio::test]
async fn the_configuration_names_roots_and_flags_come_before_it() {
    let user = User::new();
    let allowed = Path::new(&cases()).join("healthy");
    let config = format!("[mcp]\nallowed_roots = ['{}']\n", allowed.display());
    user.configure(&config);
    let session = Session::open(&user, &[], Listener::default()).await;
    inspect(&session, "job").await;
    refused(&session, &case("join-hot-key-skew").display().to_string()).await;
    let session = Session::on_cases(&user).await;
    let job = case("join-hot-key-skew").display().to_string();
    inspect(&session, &job).await;
    user.run_plain("mcp --root no/such/folder").refused(2);
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_leave_the_roots_are_refused() {
    use std::os::unix::fs::symlink;
    let user = User::new();
    let home = user.home.path();
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret.script"), "the secret").expect("written");
    copy(&case("healthy"), &home.join("job"));
    symlink(case("healthy"), home.join("leaves")).expect("a link");
    symlink(home.join("job"), home.join("stays")).expect("a link");
    let secret = outside.path().join("secret.script");
    symlink(secret, home.join("job/secret.script")).expect("a link");
    let session = Session::open(&user, &[], Listener::default()).await;
    refused(&session, "leaves").await;
    refused(&session, "leaves/../job-elsewhere").await;
    inspect(&session, "stays").await;

    let seen = inspect(&session, "job").await;
    let diagnostics = seen["diagnostics"].to_string();
    contains(diagnostics, ["a link is not followed"]);
    for file in ["secret.script", "../job/scope.script", "/etc/passwd"] {
        let part = json!({ "job": "job", "file": file });
        let refusal = session.refusal("read_job_file", part).await;
        assert!(!refusal.contains("the secret"), "{refusal}");
        let why = ["leads out", "has no file"];
        assert!(why.iter().any(|w| refusal.contains(w)), "{file}: {refusal}");
    }
}

#[tokio::test]
async fn runs_of_jobs_outside_are_not_there() {
    let user = User::new();
    let report = user.report(&case("join-hot-key-skew"), "");
    let run = report["run_id"].as_str().expect("run");
    let healthy = format!("{}/healthy", cases());
    let session = Session::open(&user, &["--root", &healthy], Listener::default()).await;
    let runs = session.answer("list_runs", json!({})).await;
    assert_eq!(runs["runs"], Value::Array(Vec::new()));
    assert!(session.resources().await.is_empty());
    for name in ["report", "report.md"] {
        let uri = format!("scopeagent://runs/{run}/{name}");
        assert_eq!(session.resource(&uri).await, None, "{uri}");
    }
    let accept = json!({ "run_id": run, "suggestion": "S1", "action": "accept" });
    let refusal = session.refusal("give_feedback", accept).await;
    contains(refusal, ["there is no run"]);
}

/// The roots of the client narrow the server's roots, in either lifecycle of the protocol.
async fn check_narrowed(open: impl AsyncFn(&User, &[&str], Listener) -> Session) {
    let user = User::new();
    let all = cases();
    let arguments = ["--root", all.as_str()];
    let healthy = uri(&Path::new(&all).join("healthy"));
    let session = open(&user, &arguments, Listener::with_roots(&[healthy])).await;
    inspect(&session, "job").await;
    refused(&session, &case("join-hot-key-skew").display().to_string()).await;

    let wider = Listener::with_roots(&[uri(Path::new(env!("CARGO_TARGET_TMPDIR")))]);
    let session = open(&user, &arguments, wider).await;
    inspect(&session, "healthy/job").await;
    refused(&session, &root().join("crates").display().to_string()).await;

    for elsewhere in [uri(user.home.path()), "https://example.com/jobs".to_owned()] {
        let session = open(&user, &arguments, Listener::with_roots(&[elsewhere])).await;
        refused(&session, "healthy/job").await;
    }
    let session = open(&user, &arguments, Listener::with_roots(&[])).await;
    inspect(&session, "healthy/job").await;
}

#[tokio::test]
async fn roots_of_the_client_narrow_and_never_widen() {
    check_narrowed(Session::open).await;
}

#[tokio::test]
async fn roots_of_a_client_without_sessions_narrow_as_well() {
    check_narrowed(Session::discover).await;
}
