//! As much of HTTP/1.1 as a scripted server needs: one request and one response a connection.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

/// Largest request that is read; a prompt beyond it is a bug of the test.
const MAX_BODY: usize = 64 << 20;

/// A request as it was received.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// `POST`.
    pub method: String,
    /// `/v1/chat/completions`.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Body as JSON; null if it is not JSON.
    pub body: Value,
}

impl Recorded {
    /// Whether the client asked for a stream.
    pub fn streams(&self) -> bool {
        self.body["stream"].as_bool().unwrap_or(false)
    }

    /// All message texts, in order: what the model sees.
    pub fn prompt(&self) -> String {
        let messages = self.body["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        messages
            .iter()
            .map(|m| text_of(&m["content"]))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Names of the tools offered.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        tools
            .iter()
            .filter_map(|t| t["function"]["name"].as_str())
            .map(str::to_owned)
            .collect()
    }
}

/// Content is a text or a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|p| p["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// Reads one request; `None` if the client closed the connection without one.
pub(crate) fn read(stream: impl Read) -> io::Result<Option<Recorded>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.trim().to_lowercase(), value.trim().to_owned());
        }
    }
    let body = match headers
        .get("content-length")
        .and_then(|n| n.parse::<usize>().ok())
    {
        Some(n) => {
            let mut bytes = vec![0; n.min(MAX_BODY)];
            reader.read_exact(&mut bytes)?;
            bytes
        }
        None if headers
            .get("transfer-encoding")
            .is_some_and(|t| t.contains("chunked")) =>
        {
            read_chunks(&mut reader)?
        }
        None => Vec::new(),
    };
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Recorded {
        method,
        path,
        headers,
        body,
    }))
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim().split(';').next().unwrap_or_default(), 16)
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        if size == 0 || out.len() + size > MAX_BODY {
            return Ok(out);
        }
        let start = out.len();
        out.resize(start + size, 0);
        reader.read_exact(&mut out[start..])?;
        let mut end = String::new();
        reader.read_line(&mut end)?;
    }
}
