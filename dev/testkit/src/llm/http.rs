//! As much of HTTP/1.1 as a scripted server needs: one request and one response per connection.

use super::recorded::Recorded;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

/// Largest request in bytes; a longer prompt is a bug in the test.
const MAX_BODY: usize = 64 << 20;

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
