//! Logs of a Spark History Server, by the addresses that people copy from a browser.

use std::fs;

use serde_json::{Value, json};
use testkit::{HistoryServer, contains, lacks, zip};

use crate::batch::results;
use crate::mcp::client::{Listener, Session};
use crate::support::{Answer, User, items, root};

/// The log of a real run, as a History Server packs it.
pub(crate) fn log() -> Vec<u8> {
    let name = "app-20261122012010-0000";
    let log = root().join("tests/cases/spark-star-join").join(name);
    zip(&[(name, &fs::read(log).expect("a case"))])
}

fn answer(user: &User, arguments: &[&str]) -> Answer {
    Answer::of(user.expert().args(arguments))
}

#[test]
fn a_log_is_read_by_its_address_and_reported_under_it() {
    let user = User::new();
    let server = HistoryServer::with("app-1", vec![log(), log()]);
    let (page, newest) = (server.page("app-1/jobs/?x#y"), server.page("app-1/2"));
    let inspection = answer(&user, &["inspect", &page, "--format", "json"]).json();
    assert_eq!(inspection["path"], *newest);
    assert!(!items(&inspection["stages"]).is_empty());
    let report = answer(&user, &["analyze", &page, "--format", "json"]).json();
    assert_eq!(report["job"]["path"], *newest);
    assert_eq!(report["job"]["engine"], "spark");
    assert_eq!(user.runs()[0]["job"], *newest);
    let first = server.page("app-1/1");
    let compared = answer(&user, &["compare", &first, &page, "--format", "json"]);
    contains(compared.text(), [first.as_str(), newest.as_str()]);
}

#[test]
fn errors_say_what_to_do_in_both_languages() {
    let user = User::new();
    let server = HistoryServer::with("app-1", vec![log()]);
    let foreign = HistoryServer::start(|_| None);
    for (address, english, chinese) in [
        (
            server.page("app-2"),
            ["has no application `app-2`", "check the identifier"],
            ["中没有应用 `app-2`", "请检查应用编号"],
        ),
        (
            foreign.page("app-1"),
            [
                "does not answer like a Spark History Server",
                "http://HOST:18080/history/APP",
            ],
            [
                "的应答不像 Spark History Server",
                "http://HOST:18080/history/APP",
            ],
        ),
        (
            "http://127.0.0.1:1/history/app-1".to_owned(),
            [
                "cannot be reached",
                "the default port of a History Server is 18080",
            ],
            ["无法访问 History Server", "默认端口是 18080"],
        ),
        (
            "http://127.0.0.1:4040/jobs/".to_owned(),
            [
                "no place that this program can reach",
                "http://HOST:18080/history/APP",
            ],
            ["本程序无法访问", "http://HOST:18080/history/APP"],
        ),
    ] {
        for (language, words) in [("en", english), ("zh", chinese)] {
            let answer = answer(&user, &["inspect", &address, "--lang", language]);
            assert_ne!(answer.code, Some(0), "{address}");
            contains(answer.err, words);
        }
    }
}

#[test]
fn a_batch_reads_the_servers_of_its_sources_and_those_that_are_allowed() {
    let user = User::new();
    let server = HistoryServer::with("app-1", vec![log()]);
    let page = server.page("app-1/jobs/");
    answer(&user, &["batch", "plan", &page, "--out", "store"]).text();
    // an address of the manifest alone is no permission
    let asked = server.asked().len();
    let refused = answer(&user, &["batch", "run", "store"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    contains(refused.err, ["was not allowed"]);
    assert_eq!(server.asked().len(), asked);
    assert!(results(&user.path("store")).is_empty());
    let allowed = ["batch", "run", "store", "--history-server", &server.url];
    answer(&user, &allowed).text();
    let results = results(&user.path("store"));
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["uri"], server.page("app-1"));
    assert_eq!(results[0]["report"]["job"]["path"], results[0]["uri"]);
    let again = ["batch", "run", &page, "--out", "other", "--format", "json"];
    assert_eq!(answer(&user, &again).json()["done"], 1);
}

#[test]
fn the_applications_of_servers_are_listed_filtered_and_planned_once() {
    let user = User::new();
    let list = |days: &'static [&'static str]| {
        HistoryServer::start(move |path| {
            let query = path.strip_prefix("/api/v1/applications")?;
            let all = days.iter().enumerate().map(|(n, day)| {
                let minutes = 60_000 * (n + 1);
                json!({ "id": format!("app-{n}"), "name": "nightly", "attempts": [
                    { "attemptId": "2", "startTime": format!("{day}T01:00:00.000GMT"), "endTime": format!("{day}T02:00:00.000GMT"),
                      "duration": minutes, "completed": true, "sparkUser": if n == 1 { "li" } else { "etl" } },
                    { "attemptId": "1", "startTime": format!("{day}T00:00:00.000GMT"), "endTime": "1969-12-31T23:59:59.999GMT",
                      "duration": minutes, "completed": false, "sparkUser": "etl" }] })
            });
            let all: Vec<Value> = all.collect();
            Some(testkit::Answer::json(json!(all).to_string())).filter(|_| !query.contains("limit"))
        })
    };
    let one = list(&["2026-11-20", "2026-11-21", "2026-11-22"]);
    let other = list(&["2026-11-22"]);
    let plan = |flags: &[&str]| {
        let servers = [one.url.as_str(), other.url.as_str()];
        let start = ["batch", "plan", "--out", "store", "--format", "json"];
        let call = [&start[..], &servers[..], flags].concat();
        answer(&user, &call).json()
    };
    // an attempt that has not ended is none yet
    assert_eq!(plan(&["--since", "2026-11-22"])["new"], 2);
    contains(one.asked().concat(), ["minEndDate=2026-11-22"]);
    assert_eq!(plan(&["--min-duration", "2m"])["new"], 1);
    assert_eq!(plan(&["--user", "etl", "--since", "7000d"])["new"], 1);
    let again = plan(&[]);
    assert_eq!(
        (again["jobs"].as_u64(), again["new"].as_u64()),
        (Some(4), Some(0))
    );
    let wrong = [
        "batch", "plan", &one.url, "--out", "store", "--since", "soon",
    ];
    contains(answer(&user, &wrong).refused(2), ["12h or 7d"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_client_reads_the_servers_that_are_roots() {
    let user = User::new();
    let server = HistoryServer::with("app-1", vec![log()]);
    let page = server.page("app-1");
    let session = Session::open(&user, &["--root", &server.url], Listener::default()).await;
    let report = session.answer("analyze_job", json!({ "job": page })).await;
    assert_eq!(report["job"]["path"], *page);
    let inspection = session.answer("inspect_job", json!({ "job": page })).await;
    assert_eq!(inspection["path"], *page);
    let read = json!({ "job": page, "file": "app-20261122012010-0000", "max_bytes": 100 });
    let part: Value = session.answer("read_job_file", read).await;
    contains(
        part["text"].as_str().expect("text"),
        ["SparkListenerLogStart"],
    );
    let runs = session.answer("list_runs", json!({})).await;
    assert_eq!(runs["runs"][0]["job"], *page);
    assert!(session.report(&report).await.is_some());
    // a client with folders as roots doesn't see the run
    let other = Session::open(&user, &[], Listener::default()).await;
    let runs = other.answer("list_runs", json!({})).await;
    assert!(items(&runs["runs"]).is_empty());
}

#[test]
fn a_password_in_an_address_is_sent_and_never_shown() {
    let user = User::new();
    let server = HistoryServer::with("app-1", vec![log()]);
    let page = server.page("app-1").replace("://", "://etl:swordfish@");
    let report = answer(&user, &["analyze", &page, "--format", "json", "-v"]);
    lacks(&report.err, ["swordfish"]);
    let text = report.text();
    lacks(&text, ["swordfish"]);
    contains(text, [server.page("app-1").as_str()]);
    let error = answer(&user, &["inspect", &page.replace("app-1", "app-2")]);
    lacks(error.refused(3), ["swordfish"]);
}
