//! A scripted Spark History Server: answers by path, and remembers what it was asked.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a piece of an endless body.
const PIECE: usize = 64 << 10;

/// An answer of the server.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Status and type with a body.
    Body(u16, &'static str, Vec<u8>),
    /// To another address.
    Redirect(String),
    /// Zeros until the client hangs up, without a length.
    Endless,
    /// A length without content.
    Announced(u64),
}

impl Answer {
    pub fn json(text: impl Into<String>) -> Answer {
        Answer::Body(200, "application/json", text.into().into_bytes())
    }

    pub fn zip(bytes: Vec<u8>) -> Answer {
        Answer::Body(200, "application/octet-stream", bytes)
    }

    pub fn status(status: u16) -> Answer {
        Answer::Body(status, "text/html", b"<html></html>".to_vec())
    }
}

/// A server until the test ends.
pub struct HistoryServer {
    /// Without a slash at its end.
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl HistoryServer {
    /// Answers each path, with its query, by `answer`; with 404 if `answer` returns `None`.
    ///
    /// # Panics
    /// If the system has no free port.
    pub fn start(answer: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static) -> HistoryServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
                // a client that hangs up is part of the test
                std::thread::spawn(move || serve(&stream, &heard, &*answer));
            }
        });
        HistoryServer {
            url: format!("http://{address}"),
            asked,
        }
    }

    /// A server with one application. Its attempts, oldest first, have these logs. A single attempt has no number.
    pub fn with(id: &'static str, logs: Vec<Vec<u8>>) -> HistoryServer {
        HistoryServer::start(move |path| {
            let rest = path.strip_prefix("/api/v1/applications")?;
            if rest == "?limit=1" {
                return Some(Answer::json("[]"));
            }
            let rest = rest.strip_prefix('/')?.strip_prefix(id)?;
            if rest.is_empty() {
                return Some(Answer::json(description(id, logs.len())));
            }
            let attempt = match rest.strip_suffix("/logs")? {
                "" if logs.len() == 1 => 1,
                attempt => attempt.strip_prefix('/')?.parse().ok()?,
            };
            let log: &Vec<u8> = logs.get(usize::checked_sub(attempt, 1)?)?;
            Some(Answer::zip(log.clone()))
        })
    }

    /// The address of the page about an application.
    pub fn page(&self, rest: &str) -> String {
        format!("{}/history/{rest}", self.url)
    }

    /// The paths that were asked for so far.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

/// The REST interface's description of an application, the newest attempt first.
pub fn description(id: &str, attempts: usize) -> String {
    let attempt = |n: usize| {
        let number = match attempts {
            1 => String::new(),
            _ => format!(r#""attemptId": "{n}", "#),
        };
        format!(
            r#"{{ {number}"startTime": "2026-01-0{n}T00:00:00.000GMT", "endTime": "2026-01-0{n}T01:00:00.000GMT",
                "lastUpdated": "2026-01-0{n}T01:00:01.000GMT", "completed": true, "sparkUser": "etl" }}"#
        )
    };
    let attempts: Vec<String> = (1..=attempts).rev().map(attempt).collect();
    format!(
        r#"{{ "id": "{id}", "name": "nightly", "attempts": [ {} ] }}"#,
        attempts.join(", ")
    )
}

fn serve(
    stream: &TcpStream,
    heard: &Mutex<Vec<String>>,
    answer: &dyn Fn(&str) -> Option<Answer>,
) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let mut out = stream;
    heard
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(path.clone());
    match answer(&path).unwrap_or_else(|| Answer::status(404)) {
        Answer::Body(status, kind, body) => {
            let length = body.len();
            write!(
                out,
                "HTTP/1.1 {status} Scripted\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
            )?;
            out.write_all(&body)
        }
        Answer::Redirect(to) => write!(
            out,
            "HTTP/1.1 302 Found\r\nconnection: close\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"
        ),
        Answer::Announced(length) => write!(
            out,
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        ),
        Answer::Endless => {
            write!(out, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            loop {
                out.write_all(&[0; PIECE])?;
            }
        }
    }
}
