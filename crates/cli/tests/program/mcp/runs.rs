//! Analyses under way: progress, cancellation, a client that leaves.

use std::time::{Duration, Instant};

use rmcp::model::CallToolRequest;
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use testkit::llm::{Server, Turn};

use super::client::{HttpServer, Listener, Session, request};
use super::tools::cases;
use crate::llm::configured;
use crate::support::{User, items};

/// Longer than any test waits: an earlier end proves a cancellation.
const SLOW: Duration = Duration::from_secs(120);
/// How long something that was stopped may take to be seen.
const SOON: Duration = Duration::from_secs(30);

fn slow_llm() -> Server {
    Server::start([]).rule(|_| Some(Turn::text("too late").delay(SLOW)))
}

#[tokio::test]
async fn progress_comes_step_by_step_and_grows() {
    let user = User::new();
    let session = Session::on_cases(&user).await;
    let asked = json!({ "job": "join-hot-key-skew/job", "hypotheses": true });
    session.answer("analyze_job", asked).await;
    let heard = session.progress();
    let values: Vec<f64> = heard.iter().map(|p| p.progress).collect();
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    assert_eq!(values.last(), Some(&6.0));
    assert!(heard.iter().all(|p| p.total == Some(6.0)));
    for step in "think1 think2 think3 think4 think5 hypotheses".split(' ') {
        let messages = heard.iter().filter_map(|p| p.message.as_deref());
        let of_step = messages.filter(|m| m.starts_with(step));
        assert!(of_step.count() >= 2, "{step} begins and ends");
    }
}

/// Starts an analysis that waits for the LLM, and returns its handle after the request to the LLM.
async fn held_up(
    session: &Session,
    llm: &Server,
) -> rmcp::service::RequestHandle<rmcp::RoleClient> {
    let call = CallToolRequest::new(request("analyze_job", json!({ "job": "healthy/job" })));
    let (call, options) = (call.into(), PeerRequestOptions::no_options());
    let handle = session.client.send_cancellable_request(call, options).await;
    let handle = handle.expect("sent");
    let begun = Instant::now();
    while llm.requests().is_empty() {
        assert!(begun.elapsed() < SOON, "the LLM is not asked");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    handle
}

/// The newest run once it no longer runs.
fn ended_run(user: &User) -> Value {
    let begun = Instant::now();
    loop {
        let rows = user.runs();
        if rows[0]["status"] != "running" {
            return rows[0].clone();
        }
        assert!(begun.elapsed() < SOON, "the run goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

async fn check_cancelled(session: &Session, user: &User, llm: &Server) {
    let handle = held_up(session, llm).await;
    let running = session.answer("list_runs", json!({})).await;
    assert_eq!(running["runs"][0]["status"], "running");
    let cancelled = handle.cancel(Some("enough".to_owned())).await;
    cancelled.expect("sent");
    let row = ended_run(user);
    assert_eq!(row["status"], "interrupted");
    let report = session.report(&row).await.expect("a partial report");
    assert_eq!(report["partial"], true);
    assert!(!items(&report["files_read"]).is_empty());
    assert_eq!(llm.requests().len(), 1, "nothing more was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_analysis_stops_and_keeps_its_partial_report() {
    let llm = slow_llm();
    let user = configured(&llm);
    let session = Session::on_cases(&user).await;
    check_cancelled(&session, &user, &llm).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_is_cancelled_over_http_too() {
    let llm = slow_llm();
    let user = configured(&llm);
    let server = HttpServer::start(&user, &["--root", &cases()]);
    let session = Session::connect(&server, Listener::default()).await;
    check_cancelled(&session, &user, &llm).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_ends_when_its_client_leaves() {
    let llm = slow_llm();
    let user = configured(&llm);
    let session = Session::on_cases(&user).await;
    let _handle = held_up(&session, &llm).await;
    session.client.cancel().await.expect("closed");
    let row = ended_run(&user);
    assert_eq!(row["status"], "interrupted");
    assert_eq!(row["verdict"], "healthy", "its partial report was kept");
}
