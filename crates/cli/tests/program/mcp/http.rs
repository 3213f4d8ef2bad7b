//! HTTP on loopback: the same tools, and who is turned away.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::client::{HttpServer, Listener, Session};
use super::tools::cases;
use crate::support::{User, items};

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_served_concurrently_with_progress() {
    let user = User::new();
    let server = HttpServer::start(&user, &["--root", &cases()]);
    let first = Session::connect(&server, Listener::default()).await;
    let second = Session::connect(&server, Listener::default()).await;
    let (skewed, healthy) = tokio::join!(
        first.answer("analyze_job", json!({ "job": "join-hot-key-skew/job" })),
        second.answer("analyze_job", json!({ "job": "healthy/job" })),
    );
    assert_eq!(skewed["findings"][0]["cause"], "skew.join_hot_key");
    assert_eq!(healthy["verdict"], "healthy");
    let progress = first.progress().into_iter().map(|p| p.progress);
    assert_eq!(progress.fold(0.0, f64::max), 5.0);
    let runs = second.answer("list_runs", json!({})).await;
    assert_eq!(items(&runs["runs"]).len(), 2);
    assert!(second.report(&skewed).await.is_some());
}

/// Status of a request to initialise with these headers.
fn status(server: &HttpServer, path: &str, headers: &[(&str, &str)]) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "raw", "version": "1" } } })
    .to_string();
    let mut head = format!(
        "POST {path} HTTP/1.1\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(server.address()).expect("connected");
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("set");
    write!(stream, "{head}\r\n{body}").expect("sent");
    let mut answer = [0; 64];
    let n = stream.read(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer[..n]).into_owned();
    answer.split(' ').nth(1).expect("a status").to_owned()
}

#[test]
fn foreign_hosts_and_origins_are_turned_away() {
    let user = User::new();
    let server = HttpServer::start(&user, &["--root", &cases()]);
    let own = server.address();
    let port = own.rsplit(':').next().expect("a port");
    for (host, expected) in [
        (own, "200"),
        (&format!("localhost:{port}"), "200"),
        (&format!("evil.example:{port}"), "403"),
        ("127.0.0.1:1", "403"),
    ] {
        assert_eq!(
            status(&server, "/mcp", &[("host", host)]),
            expected,
            "{host}"
        );
    }
    for (origin, expected) in [
        (format!("http://{own}").as_str(), "200"),
        ("http://evil.example", "403"),
        ("http://localhost:3000", "403"),
        ("null", "403"),
    ] {
        let headers = [("host", own), ("origin", origin)];
        assert_eq!(status(&server, "/mcp", &headers), expected, "{origin}");
    }
    assert_eq!(status(&server, "/mcp", &[]), "400");
    assert_eq!(status(&server, "/", &[("host", own)]), "404");
}

#[test]
fn only_loopback_addresses_are_listened_on() {
    let user = User::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80", "example.com:80"] {
        user.run_plain(&format!("mcp --http {address}")).refused(2);
    }
}
