//! The scripted server, seen by a plain client.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use testkit::llm::{Chunking, Dialect, Fault, Server, Trouble, Turn};

/// Posts a chat request and returns the raw response.
fn post(server: &Server, body: &Value) -> Vec<u8> {
    post_to(server, "/v1/chat/completions", body)
}

fn post_to(server: &Server, path: &str, body: &Value) -> Vec<u8> {
    let address = server.url().replace("http://", "").replace("/v1", "");
    let mut stream = TcpStream::connect(&address).expect("connects");
    let body = body.to_string();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer k\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("writes");
    let mut out = Vec::new();
    // Some tests cut the connection on purpose.
    let _ = stream.read_to_end(&mut out);
    out
}

fn text(response: &[u8]) -> String {
    String::from_utf8_lossy(response).into_owned()
}

/// Undoes the chunked transfer encoding.
fn body(bytes: &[u8]) -> Vec<u8> {
    let find = |from: usize, what: &[u8]| {
        bytes[from..]
            .windows(what.len())
            .position(|w| w == what)
            .map(|i| from + i)
    };
    let mut at = find(0, b"\r\n\r\n").expect("a head") + 4;
    let mut out = Vec::new();
    while let Some(end) = find(at, b"\r\n") {
        let Ok(size) = usize::from_str_radix(&text(&bytes[at..end]), 16) else {
            break;
        };
        at = end + 2;
        if size == 0 {
            break;
        }
        out.extend_from_slice(&bytes[at..(at + size).min(bytes.len())]);
        at += size + 2;
    }
    out
}

fn said(response: &[u8]) -> String {
    let text = String::from_utf8(body(response)).expect("UTF-8");
    text.lines()
        .filter_map(|l| l.trim_end().strip_prefix("data: "))
        .filter_map(|d| serde_json::from_str::<Value>(d).ok())
        .filter_map(|v| {
            v["choices"][0]["delta"]["content"]
                .as_str()
                .map(str::to_owned)
        })
        .collect()
}

fn ask(stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "why is it slow?"}]})
}

#[test]
fn streams_text_in_every_chunking() {
    let text = "数据倾斜: 90 % of the rows have one key";
    for chunking in [
        Chunking::Events,
        Chunking::Whole,
        Chunking::Bytes(1),
        Chunking::Bytes(7),
    ] {
        let server = Server::start([
            Turn::text(text).chunking(chunking.clone()),
            Turn::text(text).crlf(),
        ]);
        for _ in 0..2 {
            let response = post(&server, &ask(true));
            assert_eq!(said(&response), text, "{chunking:?}");
            assert!(
                body(&response).ends_with(b"[DONE]\n\n")
                    || body(&response).ends_with(b"[DONE]\r\n\r\n")
            );
        }
    }
}

#[test]
fn whole_answers_and_tool_calls() {
    let server = Server::start([
        Turn::text("yes").usage(7, 3),
        Turn::tool("read_files", &json!({"files": ["profile"]})),
    ]);
    let first = text(&post(&server, &ask(false)));
    let value: Value =
        serde_json::from_str(first.split("\r\n\r\n").nth(1).expect("body")).expect("JSON");
    assert_eq!(value["choices"][0]["message"]["content"], "yes");
    assert_eq!(value["usage"]["total_tokens"], 10);
    let second = text(&post(&server, &ask(true)));
    assert!(second.contains("read_files") && second.contains("tool_calls"));
}

#[test]
fn errors_carry_status_and_headers() {
    let server = Server::start([Turn::error(429, "slow down").header("retry-after", "2")]);
    let response = text(&post(&server, &ask(true)));
    assert!(response.starts_with("HTTP/1.1 429"), "{response}");
    assert!(response.contains("retry-after: 2") && response.contains("slow down"));
    assert!(
        text(&post(&server, &ask(true))).starts_with("HTTP/1.1 500"),
        "the script is used up"
    );
}

#[test]
fn a_cut_stream_ends_without_its_end() {
    let server = Server::start([
        Turn::text("a long answer").fault(Fault::CutAfter(200)),
        Turn::text("x").fault(Fault::NoEnd),
    ]);
    let response = post(&server, &ask(true));
    assert!(!text(&response).contains("[DONE]") && body(&response).len() == 200);
    assert!(!text(&post(&server, &ask(true))).contains("[DONE]"));
}

#[test]
fn a_stall_holds_the_rest_back() {
    let pause = Duration::from_millis(120);
    let server = Server::start([Turn::text("slow").fault(Fault::StallAfter(150, pause))]);
    let start = Instant::now();
    assert_eq!(said(&post(&server, &ask(true))), "slow");
    assert!(start.elapsed() >= pause);
}

#[test]
fn rules_answer_by_request_and_requests_are_recorded() {
    let server = Server::start([Turn::text("scripted")])
        .rule(|r| r.prompt().contains("why").then(|| Turn::text("by rule")));
    assert_eq!(said(&post(&server, &ask(true))), "by rule");
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].prompt(), "why is it slow?");
    assert_eq!(server.left(), 1);
}

/// Values of the `data:` lines of a stream.
fn events(response: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(body(response)).expect("UTF-8");
    text.lines()
        .filter_map(|l| l.trim_end().strip_prefix("data: "))
        .filter_map(|d| serde_json::from_str(d).ok())
        .collect()
}

#[test]
fn each_path_speaks_its_own_protocol() {
    let turn = || Turn::text("数据倾斜").reasoning("hm").pieces(2);
    let ask = json!({"model": "m", "stream": true});
    let joined = |events: &[Value], pointer: &str| {
        let pieces = events.iter().filter_map(|e| e.pointer(pointer)?.as_str());
        pieces.collect::<String>()
    };
    for (path, text, thoughts, last) in [
        (
            "/v1/chat/completions",
            "/choices/0/delta/content",
            "/choices/0/delta/reasoning_content",
            "/usage/total_tokens",
        ),
        (
            "/v1/responses",
            "/delta",
            "/item/summary/0/text",
            "/response/usage/total_tokens",
        ),
        ("/v1/messages", "/delta/text", "/delta/thinking", "/type"),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            "/candidates/0/content/parts/0/text",
            "/none",
            "/candidates/0/finishReason",
        ),
    ] {
        let server = Server::start([turn()]);
        let seen = events(&post_to(&server, path, &ask));
        assert!(joined(&seen, text).contains("数据倾斜"), "{path}: {seen:?}");
        assert!(
            path.contains("Content") || joined(&seen, thoughts).contains("hm"),
            "{path}: {seen:?}"
        );
        let end = seen.last().expect("events");
        assert!(
            !end.pointer(last).unwrap_or(&Value::Null).is_null(),
            "{path}: {end}"
        );
    }
}

#[test]
fn errors_have_the_shape_of_the_provider() {
    for (dialect, path, pointer) in [
        (Dialect::OpenAi, "/v1/chat/completions", "/error/code"),
        (Dialect::Anthropic, "/v1/messages", "/error/type"),
        (
            Dialect::Gemini,
            "/v1beta/models/m:generateContent",
            "/error/details/0/retryDelay",
        ),
    ] {
        // Without the provider's own key the answer is that.
        let server = Server::start([Turn::trouble(Trouble::Throttled(1500))]).speaking(dialect);
        let response = text(&post_to(
            &server,
            path,
            &json!({"model": "m", "max_tokens": 5}),
        ));
        let value: Value =
            serde_json::from_str(response.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON");
        if dialect == Dialect::OpenAi {
            assert!(response.starts_with("HTTP/1.1 429"), "{response}");
            assert!(
                response.contains("retry-after-ms: 1500") && response.contains("retry-after: 2")
            );
            assert_eq!(value.pointer(pointer), Some(&json!("rate_limit_exceeded")));
        } else {
            assert!(value.to_string().contains("key"), "{response}");
        }
    }
}

#[test]
fn what_a_provider_refuses_is_refused() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function"}]});
    let answer = json!({"role": "tool", "tool_call_id": "call_1", "content": "x"});
    let server = Server::start([Turn::text("fine")]).speaking(Dialect::OpenAi);
    let refused = text(&post(&server, &json!({"messages": [call]})));
    assert!(
        refused.starts_with("HTTP/1.1 400") && refused.contains("call_1"),
        "{refused}"
    );
    let taken = text(&post(&server, &json!({"messages": [call, answer]})));
    assert!(taken.starts_with("HTTP/1.1 200"), "{taken}");
    let strict = json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {"properties": {"a": {}}}}}});
    assert!(text(&post(&server, &strict)).contains("additionalProperties"));
}

#[test]
fn a_reset_is_no_plain_close() {
    let server = Server::start([Turn::text("a long answer").fault(Fault::ResetAfter(200))]);
    let address = server.url().replace("http://", "").replace("/v1", "");
    let mut stream = TcpStream::connect(&address).expect("connects");
    let body = ask(true).to_string();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("writes");
    let mut out = Vec::new();
    let error = stream
        .read_to_end(&mut out)
        .expect_err("a reset is an error");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}
