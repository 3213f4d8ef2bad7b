//! Limits of the MCP server for demanding clients.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rmcp::model::CallToolRequest;
use rmcp::service::{PeerRequestOptions, RequestHandle};
use serde_json::{Value, json};
use testkit::contains;
use testkit::llm::{Server, Turn};

use crate::llm::configured;
use crate::mcp::client::{HttpServer, Listener, Session, request, server};
use crate::mcp::tools::cases;
use crate::support::User;

/// Longer than the test waits: an earlier end proves a cancellation.
const SLOW: Duration = Duration::from_secs(120);

/// How long something may take that does not wait for the LLM.
const SOON: Duration = Duration::from_secs(60);

/// Analyses that work or wait at the same time on any machine: four and sixty-four at most.
const MOST: usize = 4 + 64;

/// Starts an analysis with an LLM that never answers.
async fn begin(session: &Session) -> RequestHandle<rmcp::RoleClient> {
    let call = CallToolRequest::new(request("analyze_job", json!({ "job": "healthy/job" })));
    let (call, options) = (call.into(), PeerRequestOptions::no_options());
    let handle = session.client.send_cancellable_request(call, options).await;
    handle.expect("sent")
}

#[tokio::test(flavor = "multi_thread")]
async fn analyses_beyond_the_places_are_refused_and_cancelled_ones_free_theirs() {
    let llm = Server::start([]).rule(|_| Some(Turn::text("too late").delay(SLOW)));
    let user = configured(&llm);
    let session = Session::on_cases(&user).await;
    let mut begun = Vec::new();
    for _ in 0..=MOST {
        begun.push(begin(&session).await);
    }
    let since = Instant::now();
    let refused = loop {
        let ended = begun.iter_mut().find_map(|call| call.rx.try_recv().ok());
        if let Some(answer) = ended {
            break answer.expect("an answer");
        }
        assert!(since.elapsed() < SOON, "nobody is refused");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    contains(format!("{refused:?}"), ["the server is busy"]);
    // Other tools have their own places.
    let read = json!({ "job": "healthy/job", "file": "scope.script" });
    session.answer("read_job_file", read).await;
    while llm.requests().is_empty() {
        assert!(since.elapsed() < SOON, "nobody works");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for handle in begun {
        handle.cancel(None).await.expect("sent");
    }
    let offline = json!({ "job": "healthy/job", "reasoner": "offline" });
    let since = Instant::now();
    loop {
        let answer = session.call("analyze_job", offline.clone()).await;
        if answer.is_error != Some(true) {
            break;
        }
        assert!(since.elapsed() < SOON, "the places stay taken");
    }
    let worked = llm.requests().len();
    assert!(worked <= 4, "{worked} analyses worked at once");
}

/// The first answers of the server to lines on its standard input.
fn spoken(user: &User, lines: &[String], answers: usize) -> Vec<Value> {
    let mut child = server(user, &["--root", &cases()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    for line in lines {
        writeln!(stdin, "{line}").expect("written");
    }
    let stdout = BufReader::new(child.stdout.take().expect("piped"));
    let lines = stdout.lines().map_while(Result::ok).take(answers);
    let answers = lines
        .map(|line| serde_json::from_str(&line).expect("a message"))
        .collect();
    drop(stdin);
    child.wait().expect("it ends with its client");
    answers
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "raw", "version": "1" } } })
}

#[test]
fn errors_of_the_protocol_have_the_codes_of_the_standard() {
    let user = User::new();
    let call = |id: i64, method: &str, parameters: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }).to_string()
    };
    let long = json!({ "name": "search_experience", "arguments": { "query": "x".repeat(70_000) } });
    let lines = [
        initialize().to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        call(2, "no/such", json!({})),
        call(
            3,
            "tools/call",
            json!({ "name": "no_such_tool", "arguments": {} }),
        ),
        call(4, "tools/call", long),
        call(
            5,
            "resources/read",
            json!({ "uri": "scopeagent://runs/01J/report" }),
        ),
        call(6, "ping", json!({})),
    ];
    let answers = spoken(&user, &lines, 6);
    let code = |id: i64| {
        let answer = answers.iter().find(|a| a["id"] == id);
        answer.expect("an answer")["error"]["code"].as_i64()
    };
    assert_eq!(code(2), Some(-32601), "unknown method");
    assert_eq!(code(3), Some(-32602), "unknown tool");
    assert_eq!(code(4), Some(-32602), "arguments too long");
    assert_eq!(code(5), Some(-32002), "unknown resource");
    assert_eq!(code(6), None, "the server goes on");
}

/// Status of a request with this body.
fn status(server: &HttpServer, body: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).expect("connected");
    stream.set_read_timeout(Some(SOON)).expect("set");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        server.address(),
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("sent");
    // The server may answer before it has read all.
    stream.write_all(body.as_bytes()).ok();
    let mut answer = [0; 64];
    let n = stream.read(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer[..n]).into_owned();
    answer.split(' ').nth(1).expect("a status").to_owned()
}

#[test]
fn sessions_and_bodies_are_bounded_over_http() {
    let user = User::new();
    let server = HttpServer::start(&user, &["--root", &cases()]);
    assert_eq!(status(&server, &" ".repeat(2 << 20)), "413");
    let body = initialize().to_string();
    let statuses: Vec<String> = (0..65).map(|_| status(&server, &body)).collect();
    assert!(statuses[..64].iter().all(|s| s == "200"), "{statuses:?}");
    assert_eq!(statuses[64], "503", "one session too many");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_over_http_keeps_its_session_when_others_are_refused() {
    let user = User::new();
    let server = HttpServer::start(&user, &["--root", &cases()]);
    let session = Session::connect(&server, Listener::default()).await;
    let body = initialize().to_string();
    let statuses = (0..64).map(|_| status(&server, &body));
    assert!(statuses.into_iter().any(|s| s == "503"));
    let read = json!({ "job": "healthy/job", "file": "scope.script" });
    session.answer("read_job_file", read).await;
}
